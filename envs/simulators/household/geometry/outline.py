"""Infers a room's walls from the objects along and on them; metadata has no walls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from inhabit.envs.simulators.household.geometry.boxes import Box

STEP = 0.25
"""Grid size, metres."""
Cell = tuple[int, int]
"""Column along x and row along z: the position divided by STEP."""


class Solid(NamedTuple):
    """A potential obstacle."""

    kind: str
    box: Box


@dataclass(frozen=True, slots=True)
class Outline:
    """A room's walls as a rectangle, with floor and ceiling."""

    low: tuple[float, float]
    """x and z, metres."""
    high: tuple[float, float]
    floor: float
    """Height, metres."""
    ceiling: float
    """Height, metres."""

    def holds(self, x: float, z: float, margin: float = 0.0) -> bool:
        """Whether a point lies in the room, at least `margin` metres from its walls."""
        inside_x = self.low[0] + margin <= x <= self.high[0] - margin
        return inside_x and self.low[1] + margin <= z <= self.high[1] - margin


THROUGH_WALLS = frozenset({"Window", "Blinds", "Curtains"})
"""Types that reach through a wall: their center lies in the wall."""
_HEIGHT = 2.5
"""Height of the ceiling in metres, unless an object is higher."""


def outline(solids: Iterable[Solid]) -> Outline:
    """The rectangle around everything in the room, clipped to the floor.

    Raises:
        ValueError: there is no floor among them.
    """
    solids = tuple(solids)
    floor = next((solid.box for solid in solids if solid.kind == "Floor"), None)
    if floor is None:
        raise ValueError("The room has no Floor, so the agent's height is unknown.")
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for solid in solids:
        if solid.kind == "Floor":
            continue
        reach = _reach_within(solid.box) if solid.kind in THROUGH_WALLS else solid.box.reach
        low = np.minimum(low, solid.box.center - reach)
        high = np.maximum(high, solid.box.center + reach)
    top = float(floor.high[1])
    ceiling = max(top + _HEIGHT, float(high[1]) + 0.1 if len(solids) > 1 else top)
    low, high = np.maximum(low, floor.low), np.minimum(high, floor.high)
    if not (low < high).all(where=[True, False, True]):
        low, high = floor.low, floor.high
    return Outline((float(low[0]), float(low[2])), (float(high[0]), float(high[2])), top, ceiling)


def _reach_within(box: Box) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    reach = box.reach.copy()
    reach[2 if reach[0] > reach[2] else 0] = 0.0
    return reach
