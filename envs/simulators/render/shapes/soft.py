"""Bodies that are not quite regular: crumpled, bumpy or draped."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.render.material import Material
from inhabit.envs.simulators.render.mesh import Mesh
from inhabit.envs.simulators.render.solids import sheet


def bumpy(mesh: Mesh, depth: float, waves: float, choose: Random) -> Mesh:
    """Pushed in and out along its normals by a few random waves.

    Args:
        mesh: any closed body; vertices at the same place move together.
        depth: of the bumps, as a share of the body's least side.
        waves: about how many bumps go around it.
        choose: source of the waves.
    """
    mesh = smoothed(mesh)
    low, high = mesh.bounds
    extent = (high - low).astype(np.float64)
    place = (mesh.vertices - low) / extent * 2 - 1
    push = np.zeros(len(place))
    for _ in range(5):
        direction = np.array([choose.gauss(0, 1) for _ in range(3)])
        direction *= waves / np.linalg.norm(direction)
        push += np.sin(place @ direction * 2 + choose.uniform(0, 6.28)) / 2.5
    moved = mesh.vertices + (mesh.normals * push[:, None] * depth * extent.min() / 2)
    return smoothed(replace(mesh, vertices=moved.astype(np.float32)))


def squared(mesh: Mesh, power: float) -> Mesh:
    """A body of revolution pressed towards a square as seen from above; 2 leaves it round.

    The circle x^2 + z^2 = r^2 becomes the superellipse |x|^p + |z|^p = r^p.
    """
    x, z = np.abs(mesh.vertices[:, 0].astype(np.float64)), np.abs(mesh.vertices[:, 2])
    radius, norm = np.hypot(x, z), (x**power + z**power) ** (1 / power)
    factor = np.divide(radius, norm, out=np.ones_like(radius), where=norm > 1e-12)
    moved = mesh.vertices * np.stack([factor, np.ones_like(factor), factor], axis=1)
    return smoothed(replace(mesh, vertices=moved.astype(np.float32)), weld=False)


def waving(mesh: Mesh, depth: float, waves: float) -> Mesh:
    """A thin upright slab bent into folds: pushed along z by a sine of x over its width."""
    low, high = mesh.bounds
    phase = (mesh.vertices[:, 0] - low[0]) / (high[0] - low[0]) * 2 * np.pi * waves
    moved = mesh.vertices.astype(np.float64)
    moved[:, 2] += depth / 2 * np.sin(phase)
    return smoothed(replace(mesh, vertices=moved.astype(np.float32)), weld=False)


def tapered(mesh: Mesh, top: float) -> Mesh:
    """Narrowed towards its upper end, where it is `top` times as wide and deep."""
    low, high = mesh.bounds
    share = (mesh.vertices[:, 1:2] - low[1]) / (high[1] - low[1])
    moved = mesh.vertices * np.concatenate(
        [1 + (top - 1) * share, np.ones_like(share), 1 + (top - 1) * share], axis=1
    )
    return smoothed(replace(mesh, vertices=moved.astype(np.float32)), weld=False)


def drape(width: float, height: float, depth: float, folds: float, material: Material) -> Mesh:
    """Cloth that hangs in folds across z, of that width, height and depth."""
    flat = sheet(np.ones((2, round(8 * folds) + 1)), (width, 0.02 * width, height), material)
    return waving(flat.turned("x", -90), depth, folds).fitted((width, height, depth))


def smoothed(mesh: Mesh, *, weld: bool = True) -> Mesh:
    """With normals that follow the surface.

    Args:
        mesh: any body.
        weld: smooth over hard edges too, where vertices lie at the same place.
    """
    if weld:
        place = np.round(mesh.vertices * 1e6).astype(np.int64)
        index = np.unique(place, axis=0, return_inverse=True)[1].reshape(-1)
    else:
        index = np.arange(len(mesh.vertices))
    a, b, c = (mesh.vertices[mesh.faces[:, i]].astype(np.float64) for i in range(3))
    across = np.cross(c - a, b - a)
    total: NDArray[np.float64] = np.zeros((index.max() + 1, 3))
    for corner in range(3):
        np.add.at(total, index[mesh.faces[:, corner]], across)
    length = np.linalg.norm(total, axis=1)
    spread = length > 1e-15
    normals = mesh.normals.astype(np.float64)
    normals[spread[index]] = (total / np.where(spread, length, 1.0)[:, None])[index][spread[index]]
    return replace(mesh, normals=normals.astype(np.float32))
