"""Which triangle each pixel sees, and how far away it is: a scanline z-buffer."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.render.camera import Projection
from inhabit.envs.simulators.render.kernel import Array, Point, Scratch, kernel, part


class Triangles(NamedTuple):
    """All bodies' triangles in the world, one after the other."""

    vertices: NDArray[np.float32]
    """Vertices, (V, 3), metres."""
    faces: NDArray[np.int32]
    """Corners of each triangle, (F, 3), indices of `vertices`."""
    spans: NDArray[np.int32]
    """Ranges of each body, (N, 4): first vertex, end of vertices, first face, end of faces."""


class VisibilityBuffer(NamedTuple):
    """What the pixels of a view see."""

    nearness: NDArray[np.float32]
    """1 / depth in 1 / metres, (H, W). 1 / far where there is nothing."""
    face: NDArray[np.int32]
    """Index of the triangle, (H, W), -1 where there is nothing."""


def rasterize(
    triangles: Triangles,
    order: NDArray[np.int32],
    view: Projection,
    scratch: Scratch,
    name: str = "raster",
) -> VisibilityBuffer:
    """Draw bodies into an empty z-buffer. Both sides of a triangle can be seen.

    Args:
        triangles: the world.
        order: (N,), the bodies to draw; the nearest first is quickest. Of surfaces at exactly
            the same depth the first drawn stays.
        view: where from.
        scratch: the result lies in it.
        name: of the result there.
    """
    surface = VisibilityBuffer(
        scratch.array(f"{name}.nearness", view.height, view.width),
        scratch.array(f"{name}.face", view.height, view.width, dtype=np.int32),
    )
    surface.nearness.fill(1.0 / view.far)
    surface.face.fill(-1)
    most = int((triangles.spans[order, 1] - triangles.spans[order, 0]).max(initial=0))
    screen = scratch.array("raster.screen", 3, most, dtype=np.float64)
    draw_bodies(*triangles, order, view.origin, view.axes, view.focal, view.near, screen, *surface)
    return surface


def depth_and_ids(
    surface: VisibilityBuffer, owners: NDArray[np.int32]
) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Depth in metres, inf where there is nothing, and the bodies' indices, -1 there; (H, W)."""
    depth, ids = np.empty_like(surface.nearness), np.empty_like(surface.face)
    describe(*surface, owners, depth, ids)
    return depth, ids


@kernel
def describe(nearness: Array, face: Array, owners: Array, depth: Array, ids: Array) -> None:
    """What each pixel sees; see `depth_and_ids`."""
    height, width = nearness.shape
    for row in range(height):
        for column in range(width):
            depth[row, column] = np.float32(1.0) / nearness[row, column]
        for column in range(width):
            f = face[row, column]
            ids[row, column] = owners[f] if f >= 0 else -1
            if f < 0:
                depth[row, column] = np.inf


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
    screen: Array,
    nearness: Array,
    owner: Array,
) -> None:
    """Project each body's vertices once, then fill its triangles.

    `screen` has room for the columns, rows and nearness of the largest body's vertices.
    """
    height, width = nearness.shape
    corner = np.empty((3, 4))
    for body in order:
        start = spans[body, 0]
        project(
            vertices[start : spans[body, 1]],
            *(origin, axes, focal, near, 0.5 * (width - 1), 0.5 * (height - 1)),
            *(screen[0], screen[1], screen[2]),
        )
        for face in range(spans[body, 2], spans[body, 3]):
            a, b, c = faces[face, 0] - start, faces[face, 1] - start, faces[face, 2] - start
            ahead = (screen[2, a] > 0.0) + (screen[2, b] > 0.0) + (screen[2, c] > 0.0)
            if ahead == 3:
                fill(screen, a, b, c, face, nearness, owner)
            elif ahead > 0:
                count = clip(
                    vertices, faces, face, origin, axes, focal, near, width, height, corner
                )
                for k in range(1, count - 1):
                    fill(corner, 0, k, k + 1, face, nearness, owner)


@part
def project(
    vertices: Array,
    origin: Array,
    axes: Array,
    focal: float,
    near: float,
    middle_x: float,
    middle_y: float,
    columns: Array,
    rows: Array,
    nearness: Array,
) -> None:
    """Columns, rows and nearness of points; a nearness of 0 marks one before the near plane."""
    ox, oy, oz = origin[0], origin[1], origin[2]
    ax, ay, az = axes[0, 0], axes[0, 1], axes[0, 2]
    bx, by, bz = axes[1, 0], axes[1, 1], axes[1, 2]
    cx, cy, cz = axes[2, 0], axes[2, 1], axes[2, 2]
    for i in range(len(vertices)):
        x, y, z = vertices[i, 0] - ox, vertices[i, 1] - oy, vertices[i, 2] - oz
        depth = x * cx + y * cy + z * cz
        inverse = 1.0 / depth
        columns[i] = (x * ax + y * ay + z * az) * inverse * focal + middle_x
        rows[i] = middle_y - (x * bx + y * by + z * bz) * inverse * focal
        nearness[i] = 0.0 if depth < near else inverse


@part
def seen_from(vertices: Array, i: int, origin: Array, axes: Array) -> Point:
    """A vertex along the axes of a view."""
    x, y, z = vertices[i, 0] - origin[0], vertices[i, 1] - origin[1], vertices[i, 2] - origin[2]
    return (
        x * axes[0, 0] + y * axes[0, 1] + z * axes[0, 2],
        x * axes[1, 0] + y * axes[1, 1] + z * axes[1, 2],
        x * axes[2, 0] + y * axes[2, 1] + z * axes[2, 2],
    )


@part
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
    out[2, i] = 1.0 / z
    out[0, i] = x * out[2, i] * focal + 0.5 * (width - 1)
    out[1, i] = 0.5 * (height - 1) - y * out[2, i] * focal


@part
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


@part
def fill(screen: Array, a: int, b: int, c: int, face: int, nearness: Array, owner: Array) -> None:
    """Fill one triangle, row by row, where it is nearer than what is there.

    A pixel belongs to a triangle if its centre lies in it; on a left or upper edge it does, on a
    right or lower edge it does not. An edge is always walked from its upper end, so two triangles
    that share it leave neither a gap nor a pixel drawn twice. Nearness is linear in the image.
    """
    height, width = nearness.shape
    ax, bx, cx = screen[0, a], screen[0, b], screen[0, c]
    left, right = max(0, ceil(min(ax, bx, cx))), min(width, ceil(max(ax, bx, cx)))
    ay, by, cy = screen[1, a], screen[1, b], screen[1, c]
    top, bottom = max(0, ceil(min(ay, by, cy))), min(height, ceil(max(ay, by, cy)))
    if top >= bottom or left >= right:
        return  # most of the small ones lie between the pixels' centres
    if by < ay:
        a, b, ax, bx, ay, by = b, a, bx, ax, by, ay
    if cy < by:
        b, c, bx, cx, by, cy = c, b, cx, bx, cy, by
        if by < ay:
            a, b, ax, bx, ay, by = b, a, bx, ax, by, ay
    area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
    if abs(area) < 1e-12:
        return
    rise_b, rise_c = screen[2, b] - screen[2, a], screen[2, c] - screen[2, a]
    across = (rise_b * (cy - ay) - rise_c * (by - ay)) / area
    down = (rise_c * (bx - ax) - rise_b * (cx - ax)) / area
    start = screen[2, a] - ax * across - ay * down
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
