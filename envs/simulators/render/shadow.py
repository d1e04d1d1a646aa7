"""What one lamp does not reach: a shadow map with soft edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.render.camera import Projection
from inhabit.envs.simulators.render.fragments import Fragments
from inhabit.envs.simulators.render.kernel import (
    LANES,
    Array,
    Real,
    Scratch,
    inlined,
    kernel,
    single,
)
from inhabit.envs.simulators.render.pack import Pack
from inhabit.envs.simulators.render.raster import rasterize

SIDE = 1024
"""Texels per side of the map."""
WIDEST = 6.0
"""Tangent of the widest half angle of the lamp's view."""
FARTHEST = 1e6
"""Metres from the lamp to what is no shadow's cause."""
CELL = 8
"""Texels per side of a cell: no shadow's edge is wider to either side."""
BLOCK = 256
"""Fragments that are worked on together: a constant, so that LLVM uses vector instructions."""
TAPS = 16
U, V, BASE, GU, GV, RADIUS, NEAR, SLOPE, OPEN = range(9)
"""Rows of a block: place in the map, the limit of nearness there and its slopes, the radius within
which taps look, the fragment's own nearness, how much the limit can differ within it, and whether
the map tells anything (1) or not (0)."""
TOTAL, COUNT, COLUMN, ROW, ROWS = range(9, 14)
SPREAD = np.float32(0.6)
"""The softest edge's radius in parts of the lamp's: that of things in the upper third of a room."""
TURN = np.pi * (3.0 - np.sqrt(5.0))
DISC = np.array(
    [
        (np.sqrt((k + 0.5) / TAPS) * np.cos(k * TURN), np.sqrt((k + 0.5) / TAPS) * np.sin(k * TURN))
        for k in range(TAPS)
    ],
    np.float32,
)
"""Points, (16, 2), evenly spread over the unit disc (Vogel's spiral)."""


class ShadowMap(NamedTuple):
    """What the lamp sees."""

    nearness: NDArray[np.float32]
    """1 / depth along the lamp's axis, (S, S), in 1 / metres."""
    most: NDArray[np.float32]
    """The highest nearness in each cell of the map and its neighbours, (S / CELL, S / CELL)."""
    least: NDArray[np.float32]
    """The lowest nearness in each cell of the map and its neighbours, (S / CELL, S / CELL)."""
    view: Projection


def shadow_map(
    pack: Pack,
    position: tuple[float, float, float],
    size: float,
    scratch: Scratch,
    side: int = SIDE,
) -> ShadowMap:
    """See the bodies that cast shadows from a lamp's place.

    The view is fitted to the bodies that cast shadows. Of what lies beside a lamp within the room
    the map keeps a wide cone; outside of it there is light. The texels are no finer than soft
    edges of a lamp of that size (its radius in metres) need. Place and width change in steps, so
    that the texels stay where they are when a cup is moved.
    """
    casters = np.flatnonzero(pack.casts_shadow).astype(np.int32)
    low, high = pack.low[casters], pack.high[casters]
    middle = np.round((low.min(axis=0) + high.max(axis=0)) / 2.0)
    view = lamp_view(low, high, np.asarray(position, np.float64), middle, side)
    away = float(np.linalg.norm(middle - view.origin))
    view = replace(view, focal=min(view.focal, (CELL - 1) * away / (float(SPREAD) * size + 1e-6)))
    order = casters[view.nearest_first(low, high)]
    nearness = rasterize(pack.triangles, order, view, scratch, "shadow").nearness.copy()
    most, least = np.empty((2, side // CELL, side // CELL), np.float32)
    survey(nearness, most, least)
    return ShadowMap(nearness, neighbours(most, np.max), neighbours(least, np.min), view)


def neighbours(
    cells: NDArray[np.float32], choose: Callable[..., NDArray[np.float32]]
) -> NDArray[np.float32]:
    """The highest (or lowest) of each cell and those around it; nothing lies beyond the map."""
    rows, columns = cells.shape
    padded = np.pad(cells, 1)
    around = [padded[i : i + rows, j : j + columns] for i in range(3) for j in range(3)]
    return choose(around, axis=0)


@kernel
def survey(nearness: Array, most: Array, least: Array) -> None:
    """The highest and the lowest nearness in each cell."""
    for i in range(most.shape[0]):
        for j in range(most.shape[1]):
            high = low = nearness[i * CELL, j * CELL]
            for row in range(i * CELL, (i + 1) * CELL):
                for column in range(j * CELL, (j + 1) * CELL):
                    high = max(high, nearness[row, column])
                    low = min(low, nearness[row, column])
            most[i, j], least[i, j] = high, low


def lamp_view(
    low: NDArray[np.float32],
    high: NDArray[np.float32],
    origin: NDArray[np.float64],
    target: NDArray[np.float64],
    side: int,
) -> Projection:
    """A square view from `origin` towards `target` that holds the boxes (N, 3) if it can."""
    ahead = target - origin
    ahead = np.array((0.0, -1.0, 0.0)) if np.linalg.norm(ahead) < 1e-3 else ahead
    ahead = ahead / np.linalg.norm(ahead)
    aside = np.array((0.0, 0.0, 1.0)) if abs(ahead[2]) < 0.9 else np.array((1.0, 0.0, 0.0))
    right = np.cross(aside, ahead)
    right /= np.linalg.norm(right)
    axes = np.stack((right, np.cross(ahead, right), ahead))
    picks = np.array([[(k >> axis) & 1 for axis in range(3)] for k in range(8)], np.bool_)
    corners = np.where(picks, high[:, None], low[:, None]).reshape(-1, 3)
    x, y, z = ((corners - origin) @ axes.T).T
    slope = np.maximum(np.abs(x), np.abs(y)) / np.maximum(z, 1e-3)
    widest = min(1.1 ** np.ceil(np.log(slope.max() * 1.02) / np.log(1.1)), WIDEST)
    return Projection(origin, axes, side, side, side / 2 / widest, 0.02, FARTHEST)


def lit(
    fragments: Fragments, pack: Pack, shadow: ShadowMap, size: float, scratch: Scratch
) -> NDArray[np.float32]:
    """How much of a lamp of radius `size` metres each fragment sees: 0 is none, 1 all.

    The result lies in `scratch`.
    """
    result = scratch.array("shadow.lit", len(fragments.face))
    view = shadow.view
    light_fragments(
        *(fragments.face, fragments.point, fragments.normal, pack.surfaces.planes),
        *(shadow.nearness, shadow.most, shadow.least),
        view.origin,
        view.axes,
        view.focal,
        size,
        result,
    )
    return result


@kernel
@single
def light_fragments(
    face: Array,
    point: Array,
    normal: Array,
    planes: Array,
    nearness: Array,
    most: Array,
    least: Array,
    origin: Array,
    axes: Array,
    focal: float,
    size: float,
    result: Array,
) -> None:
    """Percentage-closer soft shadows (Fernando 2005).

    What stands between, seen over the size of the lamp, tells how wide the edge is here; then the
    edge is averaged over that width. Along the fragment's own plane nearness is linear in the map,
    which keeps a surface from shadowing itself.
    """
    given = np.empty((9, BLOCK), np.float32)
    block, dense = np.zeros((2, ROWS, BLOCK), np.float32)
    texels = np.empty((4, BLOCK), np.float32)
    radius, pixels = np.float32(size), np.float32(focal)
    every = np.float32(TAPS)
    which, places = np.empty(BLOCK, np.int64), np.empty((1, BLOCK), np.uint32)
    for start in range(0, len(face), BLOCK):
        number = min(BLOCK, len(face) - start)
        for d in range(3):
            end = start + number
            points, normals = point[d, start:end], normal[d, start:end]
            for k in range(number):
                given[d, k] = points[k]
            for k in range(number):
                given[3 + d, k] = normals[k]
        faces = face[start : start + number]
        for k in range(number):
            f = np.uint32(faces[k])
            given[6, k], given[7, k], given[8, k] = planes[f, 0], planes[f, 1], planes[f, 2]
        project(given, block, number, len(nearness), origin, axes, pixels, radius)
        count = 0
        for k in range(number):
            result[start + k] = 1.0
            if block[OPEN, k] == 0.0:
                continue
            cell = int(block[V, k]) // CELL, int(block[U, k]) // CELL
            if most[cell] <= block[BASE, k] - block[SLOPE, k]:
                continue
            if least[cell] > block[BASE, k] + block[SLOPE, k]:
                result[start + k] = 0.0
                continue
            for row in range(SLOPE):
                dense[row, count] = block[row, k]
            which[count] = start + k
            count += 1
        find_blockers(nearness, dense, texels, places, (count + LANES - 1) & -LANES)
        edges = 0
        for q in range(count):
            hit = dense[COUNT, q]
            if hit == every:
                result[which[q]] = 0.0
            elif hit > 0.0:
                near, widest = dense[NEAR, q], dense[RADIUS, q]
                between = dense[TOTAL, q] / hit
                soft = max(radius * (between / near - 1.0) * pixels * near, 2.2)
                for row in range(SLOPE):
                    dense[row, edges] = dense[row, q]
                dense[RADIUS, edges] = min(soft, widest)
                which[edges] = which[q]
                edges += 1
        find_open(nearness, dense, texels, places, (edges + LANES - 1) & -LANES)
        for q in range(edges):
            result[which[q]] = dense[TOTAL, q] / every


@inlined
@single
def project(
    given: Array,
    block: Array,
    number: int,
    side: int,
    origin: Array,
    axes: Array,
    focal: Real,
    size: Real,
) -> None:
    """Where a block's fragments lie in the map, and which nearness is theirs."""
    middle, last = 0.5 * np.float32(side - 1), np.float32(side - 2)
    widest = np.float32(CELL - 1)
    ox, oy, oz = np.float32(origin[0]), np.float32(origin[1]), np.float32(origin[2])
    ax, ay, az = np.float32(axes[0, 0]), np.float32(axes[0, 1]), np.float32(axes[0, 2])
    bx, by, bz = np.float32(axes[1, 0]), np.float32(axes[1, 1]), np.float32(axes[1, 2])
    cx, cy, cz = np.float32(axes[2, 0]), np.float32(axes[2, 1]), np.float32(axes[2, 2])
    for k in range(number):
        px, py, pz = given[0, k] - ox, given[1, k] - oy, given[2, k] - oz
        x = px * ax + py * ay + pz * az
        y = px * bx + py * by + pz * bz
        z = px * cx + py * cy + pz * cz
        facing = given[3, k] * px + given[4, k] * py + given[5, k] * pz
        near = 1.0 / z
        u, v = middle + x * near * focal, middle - y * near * focal
        inside = (u >= 1.0) & (v >= 1.0) & (u <= last) & (v <= last)
        nx, ny, nz = given[6, k], given[7, k], given[8, k]
        away = nx * px + ny * py + nz * pz
        gu = (nx * ax + ny * ay + nz * az) / (away * focal)
        gv = -(nx * bx + ny * by + nz * bz) / (away * focal)
        steep = abs(away) > 0.02 * z
        gu = gu if steep else 0.0
        gv = gv if steep else 0.0
        block[U, k], block[V, k] = u, v
        block[GU, k], block[GV, k] = gu, gv
        block[SLOPE, k] = (abs(gu) + abs(gv)) * (widest + 1.0)
        block[BASE, k] = near * 1.002 + 0.006 * near * near
        block[RADIUS, k] = min(max(SPREAD * size * focal * near, 3.0), widest)
        block[NEAR, k] = near
        block[OPEN, k] = 1.0 if (z >= 0.05) & (facing < 0.0) & inside else 0.0


@inlined
@single
def find_blockers(nearness: Array, block: Array, texels: Array, places: Array, count: int) -> None:
    """Sum the nearness of what stands before the plane around each place, and count the taps."""
    last = np.int32(nearness.shape[0] - 1)
    width = np.int32(nearness.shape[0])
    flat = nearness.reshape(-1)
    for q in range(count):
        block[TOTAL, q] = 0.0
        block[COUNT, q] = 0.0
    for k in range(TAPS):
        right, down = DISC[k, 0], DISC[k, 1]
        for q in range(count):
            du, dv = right * block[RADIUS, q], down * block[RADIUS, q]
            column = min(max(np.int32(block[U, q] + du + 0.5), np.int32(0)), last)
            row = min(max(np.int32(block[V, q] + dv + 0.5), np.int32(0)), last)
            block[COLUMN, q], block[ROW, q] = column, row
            places[0, q] = np.uint32(row * width + column)
        for q in range(count):
            texels[0, q] = flat[places[0, q]]
        for q in range(count):
            slope = block[GU, q] * (block[COLUMN, q] - block[U, q])
            limit = block[BASE, q] + slope + block[GV, q] * (block[ROW, q] - block[V, q])
            hit = texels[0, q] > limit
            block[TOTAL, q] += texels[0, q] if hit else 0.0
            block[COUNT, q] += 1.0 if hit else 0.0


@inlined
@single
def find_open(nearness: Array, block: Array, texels: Array, places: Array, count: int) -> None:
    """Sum which share around each tap is open to the lamp, smooth between texels."""
    last = np.int32(nearness.shape[0] - 2)
    width = np.int32(nearness.shape[0])
    right, below = np.uint32(1), np.uint32(nearness.shape[0])
    flat = nearness.reshape(-1)
    for q in range(count):
        block[TOTAL, q] = 0.0
    for k in range(TAPS):
        aside, down = DISC[k, 0], DISC[k, 1]
        for q in range(count):
            du, dv = aside * block[RADIUS, q], down * block[RADIUS, q]
            column = min(max(np.int32(block[U, q] + du), np.int32(0)), last)
            row = min(max(np.int32(block[V, q] + dv), np.int32(0)), last)
            block[COLUMN, q], block[ROW, q] = column, row
            places[0, q] = np.uint32(row * width + column)
        for q in range(count):
            place = places[0, q]
            texels[0, q], texels[1, q] = flat[place], flat[place + right]
            place += below
            texels[2, q], texels[3, q] = flat[place], flat[place + right]
        for q in range(count):
            du, dv = aside * block[RADIUS, q], down * block[RADIUS, q]
            u, v, gu, gv = block[U, q], block[V, q], block[GU, q], block[GV, q]
            s, t = u + du - block[COLUMN, q], v + dv - block[ROW, q]
            limit = block[BASE, q] + gu * (block[COLUMN, q] - u) + gv * (block[ROW, q] - v)
            a = 1.0 - s if texels[0, q] <= limit else 0.0
            b = s if texels[1, q] <= limit + gu else 0.0
            c = 1.0 - s if texels[2, q] <= limit + gv else 0.0
            d = s if texels[3, q] <= limit + gu + gv else 0.0
            block[TOTAL, q] += (a + b) * (1.0 - t) + (c + d) * t
