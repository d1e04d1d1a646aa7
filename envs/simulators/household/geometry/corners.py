"""Splits the bounding box of a corner counter or desk into strips along the walls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from inhabit.envs.simulators.household.geometry.boxes import Array, Box
from inhabit.envs.simulators.household.geometry.outline import Outline

CORNERED = frozenset({"CounterTop", "Desk"})
"""Types that may go around a corner."""
DEPTH = 0.65
"""Depth of a counter from its wall, metres."""

_NARROW = 1.0
"""An object narrower than this, in metres, goes around no corner."""
_NEAR_WALL = 0.35
"""A side within this distance of the outline stands against that wall."""
_OVER = 0.2
"""Metres that objects may extend beyond DEPTH; the strip is made deeper."""


def strips(box: Box, outline: Outline, standing: Sequence[Array]) -> list[Box]:
    """The parts of a counter or desk that exist.

    Those are along the walls that it touches, and along whatever other side is needed to have under
    it everything that stands on it. What is narrow, or an island, stays whole.

    Args:
        box: around all of it.
        outline: the room's.
        standing: centres (3,) of the objects on it.
    """
    low, high = box.low, box.high
    if min(high[0] - low[0], high[2] - low[2]) <= _NARROW:
        return [box]
    sides = {side: _strip(box, side, DEPTH) for side in _SIDES}
    chosen = [side for side in _SIDES if _gap(box, outline, side) < _NEAR_WALL]
    if not chosen:
        return [box]
    points = [point for point in standing if _over(box, point)]
    while True:
        parts = [_reaching(box, side, points, sides[side]) for side in chosen]
        bare = [point for point in points if not any(_over(part, point) for part in parts)]
        gain = {
            side: sum(_over(sides[side], point) for point in bare)
            for side in _SIDES
            if side not in chosen
        }
        if not any(gain.values()):
            return parts
        chosen.append(max(gain, key=lambda side: (gain[side], side)))


def along_walls(box: Box, outline: Outline, depth: float) -> list[Box]:
    """Strips of a box along the walls it touches; the whole box if it touches none."""
    touching = [side for side in _SIDES if _gap(box, outline, side) < _NEAR_WALL]
    return [_strip(box, side, depth) for side in touching] or [box]


_SIDES = ((0, -1), (0, 1), (2, -1), (2, 1))
"""Axis, and the minimum (-1) or maximum (1) side."""


def _gap(box: Box, outline: Outline, side: tuple[int, int]) -> float:
    axis, sign = side
    wall = 0 if axis == 0 else 1
    if sign < 0:
        return float(box.low[axis] - outline.low[wall])
    return float(outline.high[wall] - box.high[axis])


def _strip(box: Box, side: tuple[int, int], depth: float) -> Box:
    axis, sign = side
    low, high = box.low.copy(), box.high.copy()
    if sign < 0:
        high[axis] = min(high[axis], low[axis] + depth)
    else:
        low[axis] = max(low[axis], high[axis] - depth)
    return Box((low + high) / 2, (high - low) / 2, np.eye(3))


def _reaching(box: Box, side: tuple[int, int], points: Sequence[Array], plain: Box) -> Box:
    """A strip, deepened to carry the objects that extend a little further."""
    deep = _strip(box, side, DEPTH + _OVER)
    axis, sign = side
    edge = box.low[axis] if sign < 0 else box.high[axis]
    beyond = [
        abs(float(point[axis] - edge)) + 0.05
        for point in points
        if _over(deep, point) and not _over(plain, point)
    ]
    return _strip(box, side, max([DEPTH, *beyond]))


def _over(part: Box, point: Array) -> bool:
    return bool((np.abs(point - part.center)[[0, 2]] <= part.reach[[0, 2]]).all())
