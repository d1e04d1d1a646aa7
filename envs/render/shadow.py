"""What one lamp does not reach: a shadow map with soft edges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from envs.render.camera import View
from envs.render.kernel import kernel
from envs.render.pack import Pack
from envs.render.raster import rasterize

SIDE = 768
WIDEST = 6.0


class ShadowMap(NamedTuple):
    """What the lamp sees."""

    nearness: NDArray[np.float32]
    """(S, S), 1 / depth along the lamp's axis."""
    origin: NDArray[np.float64]
    axes: NDArray[np.float64]
    focal: float
    """Texels."""


def shadow_map(pack: Pack, position: tuple[float, float, float], side: int = SIDE) -> ShadowMap:
    """See the bodies that cast shadows from a lamp's place.

    The view is fitted to everything on the stage. Of what lies beside a lamp within the room the
    map keeps a wide cone; outside of it there is light.
    """
    view = lamp_view(pack, np.asarray(position, np.float64), side)
    order = view.nearest_first(pack.low, pack.high)
    order = order[pack.casts_shadow[order]]
    surface = rasterize(pack.triangles, order, view)
    return ShadowMap(surface.nearness, view.origin, view.axes, view.focal)


def lamp_view(pack: Pack, origin: NDArray[np.float64], side: int) -> View:
    """A square view from `origin` that holds the boxes of all bodies, as far as it can."""
    low, high = pack.low.min(axis=0), pack.high.max(axis=0)
    ahead = (low + high) / 2.0 - origin
    ahead = np.array((0.0, -1.0, 0.0)) if np.linalg.norm(ahead) < 1e-3 else ahead
    ahead = ahead / np.linalg.norm(ahead)
    aside = np.array((0.0, 0.0, 1.0)) if abs(ahead[2]) < 0.9 else np.array((1.0, 0.0, 0.0))
    right = np.cross(aside, ahead)
    right /= np.linalg.norm(right)
    axes = np.stack((right, np.cross(ahead, right), ahead))
    corners = np.stack(np.meshgrid(*np.stack((low, high), axis=1)), axis=-1).reshape(-1, 3)
    x, y, z = ((corners - origin) @ axes.T).T
    slope = np.maximum(np.abs(x), np.abs(y)) / np.maximum(z, 1e-3)
    widest = min(float(slope.max()) * 1.02, WIDEST)
    return View(origin, axes, side, side, side / 2 / widest, 0.02, float(z.max()) + 1.0)


@kernel
def light_through(nearness, origin, axes, focal, px, py, pz, nx, ny, nz, size):  # type: ignore[no-untyped-def]
    """How much of a lamp of radius `size` metres a point sees: 0 is none, 1 all.

    Percentage-closer soft shadows (Fernando 2005): what stands between, seen over the size of the
    lamp, tells how wide the edge is here; then the edge is averaged over that width.
    """
    side = nearness.shape[0]
    x, y, z = px - origin[0], py - origin[1], pz - origin[2]
    depth = x * axes[2, 0] + y * axes[2, 1] + z * axes[2, 2]
    if depth < 0.02:
        return 1.0
    lift = 1.5 * depth / focal + 0.002
    x, y, z = x + nx * lift, y + ny * lift, z + nz * lift
    depth = x * axes[2, 0] + y * axes[2, 1] + z * axes[2, 2]
    if depth < 0.02:
        return 1.0
    u = (x * axes[0, 0] + y * axes[0, 1] + z * axes[0, 2]) / depth * focal + 0.5 * (side - 1)
    v = 0.5 * (side - 1) - (x * axes[1, 0] + y * axes[1, 1] + z * axes[1, 2]) / depth * focal
    if u < 2.0 or v < 2.0 or u > side - 3.0 or v > side - 3.0:
        return 1.0
    near = 1.002 / depth
    lit = 0.0
    radius = size * focal / depth
    for k in range(16):
        r = radius * np.sqrt((k + 0.5) / 16.0)
        a = 2.399963 * k
        lit += seen(nearness, u + r * np.cos(a), v + r * np.sin(a), near)
    return lit / 16.0


@kernel
def seen(nearness, u, v, near):  # type: ignore[no-untyped-def]
    """Whether nothing in the map is nearer there, weighted over the four texels around."""
    side = nearness.shape[0]
    u = min(max(u, 0.0), side - 1.001)
    v = min(max(v, 0.0), side - 1.001)
    i, j = int(v), int(u)
    s, t = v - i, u - j
    a = 1.0 - t if nearness[i, j] <= near else 0.0
    b = t if nearness[i, j + 1] <= near else 0.0
    c = 1.0 - t if nearness[i + 1, j] <= near else 0.0
    d = t if nearness[i + 1, j + 1] <= near else 0.0
    return (a + b) * (1.0 - s) + (c + d) * s
