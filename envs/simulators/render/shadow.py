"""What one lamp does not reach: a shadow map with soft edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.render.camera import Projection
from inhabit.envs.simulators.render.fragments import Fragments
from inhabit.envs.simulators.render.kernel import Array, kernel
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
SPREAD = 0.6
"""The softest edge's radius in parts of the lamp's: that of things in the upper third of a room."""
TURN = np.pi * (3.0 - np.sqrt(5.0))
DISC = np.array(
    [
        (np.sqrt((k + 0.5) / 16) * np.cos(k * TURN), np.sqrt((k + 0.5) / 16) * np.sin(k * TURN))
        for k in range(16)
    ]
)
"""(16, 2), evenly spread over the unit disc (Vogel's spiral)."""


class ShadowMap(NamedTuple):
    """What the lamp sees."""

    nearness: NDArray[np.float32]
    """(S, S), 1 / depth along the lamp's axis."""
    most: NDArray[np.float32]
    """(S / CELL, S / CELL), the highest nearness in each cell of the map and in its neighbours."""
    least: NDArray[np.float32]
    """The same for the lowest."""
    view: Projection


def shadow_map(
    pack: Pack, position: tuple[float, float, float], size: float, side: int = SIDE
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
    view = replace(view, focal=min(view.focal, (CELL - 1) * away / (SPREAD * size + 1e-6)))
    surface = rasterize(pack.triangles, casters[view.nearest_first(low, high)], view)
    most, least = np.empty((2, side // CELL, side // CELL), np.float32)
    survey(surface.nearness, most, least)
    return ShadowMap(surface.nearness, neighbours(most, np.max), neighbours(least, np.min), view)


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


def lit(fragments: Fragments, pack: Pack, shadow: ShadowMap, size: float) -> NDArray[np.float32]:
    """How much of a lamp of radius `size` metres each fragment sees: 0 is none, 1 all."""
    result = np.empty(len(fragments.face), np.float32)
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
    side = nearness.shape[0]
    middle = 0.5 * (side - 1)
    for k in range(len(face)):
        result[k] = 1.0
        px, py, pz = point[k, 0] - origin[0], point[k, 1] - origin[1], point[k, 2] - origin[2]
        x = px * axes[0, 0] + py * axes[0, 1] + pz * axes[0, 2]
        y = px * axes[1, 0] + py * axes[1, 1] + pz * axes[1, 2]
        z = px * axes[2, 0] + py * axes[2, 1] + pz * axes[2, 2]
        if z < 0.05 or normal[k, 0] * px + normal[k, 1] * py + normal[k, 2] * pz >= 0.0:
            continue
        near = 1.0 / z
        u, v = middle + x * near * focal, middle - y * near * focal
        if u < 1.0 or v < 1.0 or u > side - 2.0 or v > side - 2.0:
            continue
        nx, ny, nz = planes[face[k], 0], planes[face[k], 1], planes[face[k], 2]
        away = nx * px + ny * py + nz * pz
        gu = gv = 0.0
        if abs(away) > 0.02 * z:
            gu = (nx * axes[0, 0] + ny * axes[0, 1] + nz * axes[0, 2]) / (away * focal)
            gv = -(nx * axes[1, 0] + ny * axes[1, 1] + nz * axes[1, 2]) / (away * focal)
        base = near * 1.002 + 0.006 * near * near
        widest = min(max(SPREAD * size * focal * near, 3.0), CELL - 1.0)
        slope = (abs(gu) + abs(gv)) * CELL
        cell = int(v) // CELL, int(u) // CELL
        if most[cell] <= base - slope:
            continue
        if least[cell] > base + slope:
            result[k] = 0.0
            continue
        between, count = blockers(nearness, u, v, base, gu, gv, widest)
        if count == 16:
            result[k] = 0.0
        elif count > 0:
            radius = min(max(size * (between / near - 1.0) * focal * near, 2.2), widest)
            result[k] = open_share(nearness, u, v, base, gu, gv, radius)


@kernel
def blockers(
    nearness: Array, u: float, v: float, base: float, gu: float, gv: float, radius: float
) -> tuple[float, int]:
    """Mean nearness of what stands before the plane around (u, v), and how many of 16 taps hit."""
    last = nearness.shape[0] - 1
    total, count = 0.0, 0
    for k in range(16):
        du, dv = DISC[k, 0] * radius, DISC[k, 1] * radius
        column = min(max(int(u + du + 0.5), 0), last)
        row = min(max(int(v + dv + 0.5), 0), last)
        seen = nearness[row, column]
        if seen > base + gu * (column - u) + gv * (row - v):
            total += seen
            count += 1
    return total / max(count, 1), count


@kernel
def open_share(
    nearness: Array, u: float, v: float, base: float, gu: float, gv: float, radius: float
) -> float:
    """Which share of the disc around (u, v) is open to the lamp, smooth between texels."""
    last = nearness.shape[0] - 2
    total = 0.0
    for k in range(16):
        du, dv = DISC[k, 0] * radius, DISC[k, 1] * radius
        column = min(max(int(u + du), 0), last)
        row = min(max(int(v + dv), 0), last)
        s, t = u + du - column, v + dv - row
        limit = base + gu * (column - u) + gv * (row - v)
        a = 1.0 - s if nearness[row, column] <= limit else 0.0
        b = s if nearness[row, column + 1] <= limit + gu else 0.0
        c = 1.0 - s if nearness[row + 1, column] <= limit + gv else 0.0
        d = s if nearness[row + 1, column + 1] <= limit + gu + gv else 0.0
        total += (a + b) * (1.0 - t) + (c + d) * t
    return total / 16.0
