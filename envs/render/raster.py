"""Which triangle each pixel sees, and how far away it is: a scanline z-buffer."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from envs.render.camera import View
from envs.render.kernel import kernel


class Triangles(NamedTuple):
    """All bodies' triangles in the world, one after the other."""

    vertices: NDArray[np.float32]
    """(V, 3), metres."""
    faces: NDArray[np.int32]
    """(F, 3), indices of `vertices`."""
    spans: NDArray[np.int32]
    """(N, 4): first vertex, end of vertices, first face, end of faces of each body."""


class Surface(NamedTuple):
    """What the pixels of a view see."""

    nearness: NDArray[np.float32]
    """(H, W), 1 / depth in 1 / metres. 1 / far where there is nothing."""
    face: NDArray[np.int32]
    """(H, W), index of the triangle, -1 where there is nothing."""


def rasterize(triangles: Triangles, order: NDArray[np.int32], view: View) -> Surface:
    """Draw bodies into an empty z-buffer. Both sides of a triangle can be seen.

    Args:
        triangles: the world.
        order: (N,), the bodies to draw; the nearest first is quickest. Of surfaces at exactly
            the same depth the first drawn stays.
        view: where from.
    """
    surface = Surface(
        np.full((view.height, view.width), 1.0 / view.far, np.float32),
        np.full((view.height, view.width), -1, np.int32),
    )
    draw_bodies(*triangles, order, view.origin, view.axes, view.focal, view.near, *surface)
    return surface


@kernel
def draw_bodies(vertices, faces, spans, order, origin, axes, focal, near, nearness, owner):  # type: ignore[no-untyped-def]
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
            on_screen(x, y, z, focal, near, width, height, screen[i - start])
        for face in range(spans[body, 2], spans[body, 3]):
            a, b, c = faces[face, 0] - start, faces[face, 1] - start, faces[face, 2] - start
            ahead = (screen[a, 2] > 0.0) + (screen[b, 2] > 0.0) + (screen[c, 2] > 0.0)
            if ahead == 3:
                fill(screen[a], screen[b], screen[c], face, nearness, owner)
            elif ahead > 0:
                count = clip(
                    vertices, faces[face], origin, axes, focal, near, width, height, corner
                )
                for k in range(1, count - 1):
                    fill(corner[0], corner[k], corner[k + 1], face, nearness, owner)


@kernel
def seen_from(vertices, i, origin, axes):  # type: ignore[no-untyped-def]
    """A vertex along the axes of a view."""
    x, y, z = vertices[i, 0] - origin[0], vertices[i, 1] - origin[1], vertices[i, 2] - origin[2]
    return (
        x * axes[0, 0] + y * axes[0, 1] + z * axes[0, 2],
        x * axes[1, 0] + y * axes[1, 1] + z * axes[1, 2],
        x * axes[2, 0] + y * axes[2, 1] + z * axes[2, 2],
    )


@kernel
def on_screen(x, y, z, focal, near, width, height, out):  # type: ignore[no-untyped-def]
    """Column, row and nearness of a point; a nearness of 0 marks one before the near plane."""
    if z < near:
        out[2] = 0.0
        return
    out[2] = 1.0 / z
    out[0] = x * out[2] * focal + 0.5 * (width - 1)
    out[1] = 0.5 * (height - 1) - y * out[2] * focal


@kernel
def clip(vertices, face, origin, axes, focal, near, width, height, out):  # type: ignore[no-untyped-def]
    """Cut a triangle off at the near plane; returns how many corners (at most 4) are left."""
    count = 0
    for k in range(3):
        x0, y0, z0 = seen_from(vertices, face[k], origin, axes)
        x1, y1, z1 = seen_from(vertices, face[(k + 1) % 3], origin, axes)
        if z0 >= near:
            on_screen(x0, y0, z0, focal, near, width, height, out[count])
            count += 1
        if (z0 >= near) != (z1 >= near):
            t = (near - z0) / (z1 - z0)
            x, y = x0 + (x1 - x0) * t, y0 + (y1 - y0) * t
            on_screen(x, y, near, focal, near, width, height, out[count])
            count += 1
    return count


@kernel
def fill(a, b, c, face, nearness, owner):  # type: ignore[no-untyped-def]
    """Fill one triangle, row by row, where it is nearer than what is there.

    A pixel belongs to a triangle if its centre lies in it; on a left or upper edge it does, on a
    right or lower edge it does not. An edge is always walked from its upper end, so two triangles
    that share it leave neither a gap nor a pixel drawn twice. Nearness is linear in the picture.
    """
    if b[1] < a[1]:
        a, b = b, a
    if c[1] < b[1]:
        b, c = c, b
        if b[1] < a[1]:
            a, b = b, a
    height, width = nearness.shape
    top, bottom = max(0, ceil(a[1])), min(height, ceil(c[1]))
    if top >= bottom:
        return
    area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
    if abs(area) < 1e-12:
        return
    across = ((b[2] - a[2]) * (c[1] - a[1]) - (c[2] - a[2]) * (b[1] - a[1])) / area
    down = ((c[2] - a[2]) * (b[0] - a[0]) - (b[2] - a[2]) * (c[0] - a[0])) / area
    long_slope = (c[0] - a[0]) / (c[1] - a[1])
    upper_slope = (b[0] - a[0]) / (b[1] - a[1]) if b[1] > a[1] else 0.0
    lower_slope = (c[0] - b[0]) / (c[1] - b[1]) if c[1] > b[1] else 0.0
    for row in range(top, bottom):
        one = a[0] + (row - a[1]) * long_slope
        if row < b[1]:
            other = a[0] + (row - a[1]) * upper_slope
        else:
            other = b[0] + (row - b[1]) * lower_slope
        first, end = max(0, ceil(min(one, other))), min(width, ceil(max(one, other)))
        start = a[2] + (row - a[1]) * down - a[0] * across
        for column in range(first, end):
            near = np.float32(start + column * across)
            if near > nearness[row, column]:
                nearness[row, column] = near
                owner[row, column] = face
