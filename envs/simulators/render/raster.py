"""Which triangle each pixel sees, and how far away it is: a scanline z-buffer."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.render.camera import Projection
from inhabit.envs.simulators.render.kernel import Array, Point, kernel


class Triangles(NamedTuple):
    """All bodies' triangles in the world, one after the other."""

    vertices: NDArray[np.float32]
    """(V, 3), metres."""
    faces: NDArray[np.int32]
    """(F, 3), indices of `vertices`."""
    spans: NDArray[np.int32]
    """(N, 4): first vertex, end of vertices, first face, end of faces of each body."""


class VisibilityBuffer(NamedTuple):
    """What the pixels of a view see."""

    nearness: NDArray[np.float32]
    """(H, W), 1 / depth in 1 / metres. 1 / far where there is nothing."""
    face: NDArray[np.int32]
    """(H, W), index of the triangle, -1 where there is nothing."""


def rasterize(triangles: Triangles, order: NDArray[np.int32], view: Projection) -> VisibilityBuffer:
    """Draw bodies into an empty z-buffer. Both sides of a triangle can be seen.

    Args:
        triangles: the world.
        order: (N,), the bodies to draw; the nearest first is quickest. Of surfaces at exactly
            the same depth the first drawn stays.
        view: where from.
    """
    surface = VisibilityBuffer(
        np.full((view.height, view.width), 1.0 / view.far, np.float32),
        np.full((view.height, view.width), -1, np.int32),
    )
    draw_bodies(*triangles, order, view.origin, view.axes, view.focal, view.near, *surface)
    return surface


@kernel
def draw_bodies(
    vertices: Array,
    faces: Array,
    spans: Array,
    order: Array,
    origin: Array,
    axes: Array,
    focal: float,
    near: float,
    nearness: Array,
    owner: Array,
) -> None:
    """Project each body's vertices once, then fill its triangles."""
    height, width = nearness.shape
    largest = 0
    for body in order:
        largest = max(largest, spans[body, 1] - spans[body, 0])
    screen = np.empty((largest, 3))
    corner = np.empty((4, 3))
    for body in order:
        start = spans[body, 0]
        for i in range(start, spans[body, 1]):
            x, y, z = seen_from(vertices, i, origin, axes)
            on_screen(x, y, z, focal, near, width, height, screen, i - start)
        for face in range(spans[body, 2], spans[body, 3]):
            a, b, c = faces[face, 0] - start, faces[face, 1] - start, faces[face, 2] - start
            ahead = (screen[a, 2] > 0.0) + (screen[b, 2] > 0.0) + (screen[c, 2] > 0.0)
            if ahead == 3:
                fill(screen, a, b, c, face, nearness, owner)
            elif ahead > 0:
                count = clip(
                    vertices, faces, face, origin, axes, focal, near, width, height, corner
                )
                for k in range(1, count - 1):
                    fill(corner, 0, k, k + 1, face, nearness, owner)


@kernel
def seen_from(vertices: Array, i: int, origin: Array, axes: Array) -> Point:
    """A vertex along the axes of a view."""
    x, y, z = vertices[i, 0] - origin[0], vertices[i, 1] - origin[1], vertices[i, 2] - origin[2]
    return (
        x * axes[0, 0] + y * axes[0, 1] + z * axes[0, 2],
        x * axes[1, 0] + y * axes[1, 1] + z * axes[1, 2],
        x * axes[2, 0] + y * axes[2, 1] + z * axes[2, 2],
    )


@kernel
def on_screen(
    x: float,
    y: float,
    z: float,
    focal: float,
    near: float,
    width: int,
    height: int,
    out: Array,
    i: int,
) -> None:
    """Column, row and nearness of a point; a nearness of 0 marks one before the near plane."""
    if z < near:
        out[i, 2] = 0.0
        return
    out[i, 2] = 1.0 / z
    out[i, 0] = x * out[i, 2] * focal + 0.5 * (width - 1)
    out[i, 1] = 0.5 * (height - 1) - y * out[i, 2] * focal


@kernel
def clip(
    vertices: Array,
    faces: Array,
    face: int,
    origin: Array,
    axes: Array,
    focal: float,
    near: float,
    width: int,
    height: int,
    out: Array,
) -> int:
    """Cut a triangle off at the near plane; returns how many corners (at most 4) are left."""
    count = 0
    for k in range(3):
        x0, y0, z0 = seen_from(vertices, faces[face, k], origin, axes)
        x1, y1, z1 = seen_from(vertices, faces[face, (k + 1) % 3], origin, axes)
        if z0 >= near:
            on_screen(x0, y0, z0, focal, near, width, height, out, count)
            count += 1
        if (z0 >= near) != (z1 >= near):
            t = (near - z0) / (z1 - z0)
            x, y = x0 + (x1 - x0) * t, y0 + (y1 - y0) * t
            on_screen(x, y, near, focal, near, width, height, out, count)
            count += 1
    return count


@kernel
def fill(screen: Array, a: int, b: int, c: int, face: int, nearness: Array, owner: Array) -> None:
    """Fill one triangle, row by row, where it is nearer than what is there.

    A pixel belongs to a triangle if its centre lies in it; on a left or upper edge it does, on a
    right or lower edge it does not. An edge is always walked from its upper end, so two triangles
    that share it leave neither a gap nor a pixel drawn twice. Nearness is linear in the picture.
    """
    if screen[b, 1] < screen[a, 1]:
        a, b = b, a
    if screen[c, 1] < screen[b, 1]:
        b, c = c, b
        if screen[b, 1] < screen[a, 1]:
            a, b = b, a
    height, width = nearness.shape
    ax, bx, cx = screen[a, 0], screen[b, 0], screen[c, 0]
    ay, by, cy = screen[a, 1], screen[b, 1], screen[c, 1]
    top, bottom = max(0, ceil(ay)), min(height, ceil(cy))
    left, right = max(0, ceil(min(ax, bx, cx))), min(width, ceil(max(ax, bx, cx)))
    area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
    if top >= bottom or left >= right or abs(area) < 1e-12:
        return
    rise_b, rise_c = screen[b, 2] - screen[a, 2], screen[c, 2] - screen[a, 2]
    across = (rise_b * (cy - ay) - rise_c * (by - ay)) / area
    down = (rise_c * (bx - ax) - rise_b * (cx - ax)) / area
    start = screen[a, 2] - ax * across - ay * down
    long_slope = (cx - ax) / (cy - ay)
    upper_slope = (bx - ax) / (by - ay) if by > ay else 0.0
    lower_slope = (cx - bx) / (cy - by) if cy > by else 0.0
    for row in range(top, bottom):
        one = ax + (row - ay) * long_slope
        other = ax + (row - ay) * upper_slope if row < by else bx + (row - by) * lower_slope
        first, end = max(left, ceil(min(one, other))), min(right, ceil(max(one, other)))
        for column in range(first, end):
            near = np.float32(start + row * down + column * across)
            if near > nearness[row, column]:
                nearness[row, column] = near
                owner[row, column] = face
