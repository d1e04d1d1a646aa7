"""Bodies that are not quite regular: crumpled, bumpy or draped."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
from numpy.typing import NDArray

from envs.render.mesh import Mesh


def bumpy(mesh: Mesh, depth: float, waves: float, choose: Random) -> Mesh:
    """Pushed in and out along its normals by a few random waves.

    Args:
        mesh: any closed body; vertices at the same place move together.
        depth: of the bumps, as a share of the body's least side.
        waves: about how many bumps go around it.
        choose: source of the waves.
    """
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


def smoothed(mesh: Mesh) -> Mesh:
    """With normals that follow the surface, shared by all vertices at the same place."""
    place = np.round(mesh.vertices * 1e6).astype(np.int64)
    _, index = np.unique(place, axis=0, return_inverse=True)
    index = index.reshape(-1)
    a, b, c = (mesh.vertices[mesh.faces[:, i]].astype(np.float64) for i in range(3))
    across = np.cross(c - a, b - a)
    total: NDArray[np.float64] = np.zeros((index.max() + 1, 3))
    for corner in range(3):
        np.add.at(total, index[mesh.faces[:, corner]], across)
    length = np.linalg.norm(total, axis=1, keepdims=True)
    total = np.where(length > 1e-15, total / np.maximum(length, 1e-15), (0.0, 1.0, 0.0))
    return replace(mesh, normals=total[index].astype(np.float32))
