"""Simple closed bodies that everything else is joined from.

All are centred at the origin; `Mesh.along`, `turned` and `shifted` place them. All are watertight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.render.lathe import Surface
from inhabit.envs.simulators.render.material import Material
from inhabit.envs.simulators.render.mesh import Mesh, Vector


def box(size: Vector, material: Material, *, bevel: float = 0.0) -> Mesh:
    """A box of `size`; its edges are rounded over `bevel` metres, at most half the least side.

    A rounded box has 44 triangles, a plain one 12. The corners keep their side's normal, so the
    bevels are shaded as if they were round.
    """
    half = np.array(size, np.float64) / 2
    bevel = float(min(bevel, 0.98 * half.min()))
    signs, axes, faces = _box_topology(bevel > 0)
    corners = signs * (half - bevel)
    corners[np.arange(24), axes] += signs[np.arange(24), axes] * bevel
    normals = np.zeros((24, 3), np.float32)
    normals[np.arange(24), axes] = signs[np.arange(24), axes]
    return single(corners, normals, faces, material)


def terrace(rings: Sequence[tuple[float, float, float]], material: Surface) -> Mesh:
    """Rectangles one after the other, joined by flat sides and closed at both ends.

    Args:
        rings: (width, height, y) of rectangles across y: width along x, height along z. Going up y
            they are an outside; going down again, inside wider ones, they are a cavity's walls.
        material: one, or one for each of the len(rings) - 1 belts; the ends take their belt's.
    """
    count = len(rings)
    signs = np.array(((-1, -1), (1, -1), (1, 1), (-1, 1)), np.float64) / 2
    corners = np.empty((count, 4, 3))
    corners[..., 0::2] = np.array([ring[:2] for ring in rings])[:, None] * signs
    corners[..., 1] = np.array([ring[2] for ring in rings])[:, None]
    low, high = corners[:-1], corners[1:]
    sides = np.stack([low, np.roll(low, -1, 1), np.roll(high, -1, 1), high], 2).reshape(-1, 4, 3)
    quads = np.concatenate([sides, corners[:1, ::-1], corners[-1:]])
    normals = np.cross(quads[:, 2] - quads[:, 0], quads[:, 1] - quads[:, 3])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    first = 4 * np.arange(len(quads))[:, None]
    faces = first + np.array((0, 1, 2, 0, 2, 3))
    palette = (material,) if isinstance(material, Material) else tuple(material)
    belts = np.minimum(np.arange(count - 1), len(palette) - 1).repeat(8)
    which = np.concatenate([belts, belts[:1].repeat(2), belts[-1:].repeat(2)]).astype(np.int16)
    mesh = single(
        quads.reshape(-1, 3), np.repeat(normals, 4, axis=0), faces.reshape(-1, 3), palette[0]
    )
    return replace(mesh, materials=which, palette=palette)


@cache
def _box_topology(
    bevelled: bool,
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int32]]:
    """Signs (24, 3) and the axis (24,) of each side's corner, and the faces between them.

    Corner k = 0..7 has the sign of bit a along axis a; its copy on the side of axis a is 3 * k + a.
    """
    corner = np.repeat(np.arange(8), 3)
    signs = np.where(corner[:, None] >> np.arange(3) & 1, 1.0, -1.0)
    axes = np.tile(np.arange(3), 8)
    polygons: list[list[int]] = []
    for axis in range(3):
        u, v = 1 << (axis + 1) % 3, 1 << (axis + 2) % 3
        for side in (0, 1 << axis):
            polygons.append([3 * (side | k) + axis for k in (0, u, u | v, v)])
        if bevelled:
            for k in (0, u, v, u | v):  # the edge along `axis` at that corner
                low, high = 3 * k, 3 * (k | 1 << axis)
                b, c = (axis + 1) % 3, (axis + 2) % 3
                polygons.append([low + b, high + b, high + c, low + c])
    if bevelled:
        polygons += [[3 * k, 3 * k + 1, 3 * k + 2] for k in range(8)]
    middle = np.where(bevelled, 0.8, 1.0) * signs
    middle[np.arange(24), axes] = signs[np.arange(24), axes]
    triangles = [[p[0], p[i], p[i + 1]] for p in polygons for i in range(1, len(p) - 1)]
    return signs, axes, _outward(middle, np.array(triangles, np.int32))


def _outward(points: NDArray[np.float64], faces: NDArray[np.int32]) -> NDArray[np.int32]:
    """The faces of a convex body about the origin, each wound to look away from it."""
    a, b, c = (points[faces[:, i]] for i in range(3))
    inward = np.einsum("ij,ij->i", np.cross(c - a, b - a), a + b + c) < 0
    return np.where(inward[:, None], faces[:, ::-1], faces)


def sheet(heights: NDArray[np.float64], size: Vector, material: Material) -> Mesh:
    """A soft slab, such as a folded cloth: a grid of heights over a flat underside.

    Args:
        heights: (rows along z, columns along x), 0..1 of size[1]; at least 0.02 is kept.
        size: of the box that it fills.
        material: of all sides.
    """
    rows, columns = heights.shape
    x, z = np.meshgrid(np.linspace(-0.5, 0.5, columns), np.linspace(-0.5, 0.5, rows))
    top = np.stack([x, np.maximum(heights, 0.02) - 0.5, z], axis=-1) * size
    bottom = np.stack([x, np.full_like(x, -0.5), z], axis=-1) * size
    over, across = np.gradient(top, axis=0), np.gradient(top, axis=1)
    upward = np.cross(over, across)
    upward /= np.linalg.norm(upward, axis=-1, keepdims=True)
    n = rows * columns
    index = np.arange(n).reshape(rows, columns)
    a, b, c, d = (
        corner.ravel()
        for corner in (index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1])
    )
    upper = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    faces = [upper, upper[:, ::-1] + n]
    points = [top.reshape(-1, 3), bottom.reshape(-1, 3)]
    normals = [upward.reshape(-1, 3), np.tile((0.0, -1.0, 0.0), (n, 1))]
    borders = {
        (0, -1): index[0],
        (1, 0): index[:, -1],
        (0, 1): index[-1, ::-1],
        (-1, 0): index[::-1, 0],
    }
    start = 2 * n
    for (out_x, out_z), border in borders.items():
        m = len(border)
        points += [points[0][border], points[1][border]]
        normals.append(np.tile((float(out_x), 0.0, float(out_z)), (2 * m, 1)))
        k = start + np.arange(m - 1)
        faces += [np.stack([k, k + m, k + m + 1], 1), np.stack([k, k + m + 1, k + 1], 1)]
        start += 2 * m
    return single(np.concatenate(points), np.concatenate(normals), np.concatenate(faces), material)


def single(
    vertices: NDArray[np.floating],
    normals: NDArray[np.floating],
    faces: NDArray[np.integer],
    material: Material,
) -> Mesh:
    """A mesh of one material from arrays of any precision."""
    return Mesh(
        vertices.astype(np.float32),
        normals.astype(np.float32),
        faces.astype(np.int32),
        np.zeros(len(faces), np.int16),
        (material,),
    )
