"""Transforms meshes between the frame of a box and the world's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from inhabit.envs.simulators.household.geometry.boxes import Array, Box
from inhabit.envs.simulators.render.mesh import Mesh


def into(frame: Box, mesh: Mesh) -> Mesh:
    """A mesh from the world's frame in the frame of a box."""
    return replace(
        mesh,
        vertices=((mesh.vertices - frame.center) @ frame.axes).astype(np.float32),
        normals=(mesh.normals @ frame.axes).astype(np.float32),
    )


def out_of(frame: Box, mesh: Mesh) -> Mesh:
    """A mesh from the frame of a box in the world's frame."""
    return replace(
        mesh,
        vertices=(mesh.vertices @ frame.axes.T + frame.center).astype(np.float32),
        normals=(mesh.normals @ frame.axes.T).astype(np.float32),
    )


def height_at(mesh: Mesh, frame: Box, point: Array, below: float) -> float:
    """Height of a mesh at a horizontal position, in world metres.

    Args:
        mesh: in the frame of a box.
        frame: that box.
        point: (2,), x and z.
        below: parts that are higher than this don't count.

    Returns:
        The height of its highest face there; -inf if there is none.
    """
    corners = (mesh.vertices @ frame.axes.T + frame.center)[mesh.faces]
    a, b, c = (corners[:, i] for i in range(3))
    ab, ac, ap = (v[:, [0, 2]] for v in (b - a, c - a, np.array((point[0], 0.0, point[1])) - a))
    area = ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0]
    level = np.abs(area) > 1e-9
    ab, ac, ap, area = ab[level], ac[level], ap[level], area[level]
    u = (ap[:, 0] * ac[:, 1] - ap[:, 1] * ac[:, 0]) / area
    v = (ab[:, 0] * ap[:, 1] - ab[:, 1] * ap[:, 0]) / area
    inside = (u >= 0) & (v >= 0) & (u + v <= 1)
    y = corners[level][:, :, 1][inside]
    u, v = u[inside], v[inside]
    heights = y[:, 0] * (1 - u - v) + y[:, 1] * u + y[:, 2] * v
    return float(heights[heights <= below].max(initial=-np.inf))
