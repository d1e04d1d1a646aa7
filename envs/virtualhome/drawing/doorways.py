"""Holes in meshes: doorways in walls, basins in worktops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from envs.render.mesh import Mesh

_Corners = NDArray[np.float64]
"""(N, 6): corners of a plane convex polygon, each a point and its normal."""


def pierced(mesh: Mesh, low: Sequence[float], high: Sequence[float]) -> Mesh:
    """Without what lies inside a box along the axes. The cut edges are left open.

    Args:
        mesh: in any frame.
        low: the box's lowest corner, in that frame.
        high: the box's highest.
    """
    bounds = np.array(low, np.float64), np.array(high, np.float64)
    corners = mesh.vertices[mesh.faces]
    touched = ((corners.max(1) > bounds[0]) & (corners.min(1) < bounds[1])).all(axis=1)
    if not touched.any():
        return mesh
    vertices, normals = [mesh.vertices], [mesh.normals]
    faces, materials = [mesh.faces[~touched]], [mesh.materials[~touched]]
    count = len(mesh.vertices)
    for face in np.flatnonzero(touched):
        index = mesh.faces[face]
        whole = np.concatenate([mesh.vertices[index], mesh.normals[index]], axis=1)
        for piece in _outside(whole.astype(np.float64), *bounds):
            fan = [(count, count + i, count + i + 1) for i in range(1, len(piece) - 1)]
            vertices.append(piece[:, :3].astype(np.float32))
            normals.append(piece[:, 3:].astype(np.float32))
            faces.append(np.array(fan, np.int32))
            materials.append(np.full(len(fan), mesh.materials[face], np.int16))
            count += len(piece)
    return replace(
        mesh,
        vertices=np.concatenate(vertices),
        normals=np.concatenate(normals),
        faces=np.concatenate(faces),
        materials=np.concatenate(materials),
    )


def _outside(
    polygon: _Corners, low: NDArray[np.float64], high: NDArray[np.float64]
) -> list[_Corners]:
    """The parts of a polygon that lie outside a box: cut off plane by plane."""
    pieces = []
    for axis in range(3):
        for sign, limit in ((1.0, low[axis]), (-1.0, -high[axis])):
            away = limit - sign * polygon[:, axis]
            pieces.append(_half(polygon, away))
            polygon = _half(polygon, -away)
            if len(polygon) < 3:
                return [piece for piece in pieces if len(piece) >= 3]
    return [piece for piece in pieces if len(piece) >= 3]


def _half(polygon: _Corners, away: NDArray[np.float64]) -> _Corners:
    """The part of a polygon where `away` (a number for each corner) is positive.

    Cut after Sutherland and Hodgman (1974).
    """
    kept = []
    for here, there, a, b in zip(
        polygon, np.roll(polygon, -1, axis=0), away, np.roll(away, -1), strict=True
    ):
        if a > 0:
            kept.append(here)
        if (a > 0) != (b > 0):
            kept.append(here + (there - here) * (a / (a - b)))
    return np.array(kept).reshape(-1, 6)
