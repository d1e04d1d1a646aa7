"""Finds the first free place on or in a support."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.virtualhome.drawing.place import Place
from inhabit.envs.virtualhome.flats.boxes import UprightBox
from inhabit.envs.virtualhome.flats.rests import Rest

_STEP = 0.05
"""Distance in metres between tried positions."""
_GAP = 0.01

Floats = NDArray[np.float64]


def resting(
    size: tuple[float, float, float],
    support: Place,
    rests: Sequence[Rest],
    taken: Sequence[UprightBox],
) -> Place:
    """The place of an object on a support, without overlap.

    Args:
        size: of the thing: width, height, depth.
        support: what it is put on or into.
        rests: the support's surfaces, the best first.
        taken: boxes of what lies there already; the support's own is not among them.

    Returns:
        A free place, middle and front first; on top of what is there if none is free.
    """
    blocks = _arrays(taken)
    for rest in rests:
        for turn in (0.0, 90.0):
            if (found := _free(size, support, rest, blocks, turn)) is not None:
                return found
    return _on_top(size, support, rests[0], taken)


def _free(
    size: tuple[float, float, float], support: Place, rest: Rest, blocks: Floats, turn: float
) -> Place | None:
    width, height, depth = support.size
    bottom = support.bottom + height * rest.low
    if bottom + size[1] > support.bottom + height * rest.high:
        return None
    wide, deep = (size[0], size[2]) if turn == 0 else (size[2], size[0])
    left, right = rest.left * width + wide / 2, rest.right * width - wide / 2
    back, front = rest.back * depth + deep / 2, rest.front * depth - deep / 2
    if left > right + 1e-6 or back > front + 1e-6:
        return None
    u, v = (side.ravel() for side in np.meshgrid(_steps(left, right), _steps(back, front)))
    # Near the middle of the front edge first, then by position, to resolve ties reproducibly.
    first = np.lexsort((u, v, np.round(np.abs(u) + 0.7 * (front - v), 6)))
    u, v = u[first], v[first]
    ahead_x, ahead_z = support.front
    x, z = support.x + u * ahead_z + v * ahead_x, support.z - u * ahead_x + v * ahead_z
    here = Place(0.0, 0.0, 0.0, size, support.yaw + turn).box
    half = np.array((here.hx, here.hy, here.hz)) + _GAP
    points = np.stack([x, np.full_like(x, bottom + here.hy + _GAP), z], axis=1)
    apart = np.abs(points[:, None] - blocks[None, :, 0]) >= half + blocks[None, :, 1]
    free = np.all(np.any(apart, axis=2), axis=1)
    if not free.any():
        return None
    i = int(np.argmax(free))
    return Place(float(x[i]), bottom + here.hy, float(z[i]), size, support.yaw + turn)


def _on_top(
    size: tuple[float, float, float], support: Place, rest: Rest, taken: Sequence[UprightBox]
) -> Place:
    """In the middle, on top of the highest object."""
    u = (rest.left + rest.right) / 2 * support.size[0]
    v = (rest.back + rest.front) / 2 * support.size[2]
    x, _, z = support.out(u, 0.0, v)
    bottom = support.bottom + support.size[1] * rest.low
    below = Place(x, 0.0, z, size, support.yaw).box
    ceiling = bottom + max(support.size[1], 0.6)
    for box in sorted(taken, key=lambda b: b.top):
        beside = abs(box.x - x) >= box.hx + below.hx or abs(box.z - z) >= box.hz + below.hz
        if not beside and bottom < box.top <= ceiling:
            bottom = box.top
    return Place(x, bottom + size[1] / 2, z, size, support.yaw)


def _steps(low: float, high: float) -> Floats:
    count = max(1, int((high - low) / _STEP) + 1)
    return np.linspace(low, high, count) if count > 1 else np.array([(low + high) / 2])


def _arrays(taken: Sequence[UprightBox]) -> Floats:
    """(N, 2, 3): centers and half extents."""
    rows = [((b.x, b.y, b.z), (b.hx, b.hy, b.hz)) for b in taken]
    return np.array(rows, np.float64).reshape(-1, 2, 3)
