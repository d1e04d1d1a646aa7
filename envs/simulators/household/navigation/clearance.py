"""Whether THOR's agent fits somewhere between the objects, wherever that is: off the grid too.

The agent is a capsule: a body that is round at both ends, so that low things are in its way less
than tall ones. Objects are footprints with rounded corners. How round each type is, and how much
smaller than its box, was fitted to the poses in which real AI2-THOR's agent stood: ALFRED's grids
of 120 rooms and the start poses of VAGEN's navigation tasks in 60. `docs/thor.md` says how well a
fit on four fifths of the rooms does on the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import sqrt

import numpy as np

from inhabit.envs.simulators.household.geometry.boxes import Array, Box
from inhabit.envs.simulators.household.navigation.grid import BODY, HEAD, Outline, Solid

_WALL = 0.15
"""Metres between the agent's middle and the room's outline. The outline is drawn around what
stands along the walls, and walls lie a little behind it."""
_OPEN = frozenset({"Floor", "Window", "Blinds", "Curtains"})
"""Types that do not block the agent."""
_SHAPES: Mapping[str, tuple[float, float]] = {
    "ArmChair": (0.0, 0.05),
    "BasketBall": (0.0, 0.15),
    "Bathtub": (1.0, 0.15),
    "BathtubBasin": (1.0, 0.3),
    "Boots": (1.0, 0.0),
    "Cabinet": (1.0, 0.1),
    "Chair": (0.5, 0.05),
    "CounterTop": (0.5, 0.3),
    "DiningTable": (0.5, 0.15),
    "DogBed": (0.5, 0.1),
    "Drawer": (0.5, 0.1),
    "Footstool": (0.5, 0.05),
    "GarbageBag": (0.0, 0.3),
    "GarbageCan": (1.0, 0.0),
    "LaundryHamper": (0.0, 0.15),
    "ShowerCurtain": (0.0, 0.1),
    "ShowerDoor": (0.0, 0.1),
    "ShowerGlass": (0.0, 0.2),
    "SideTable": (1.0, 0.05),
    "Sink": (1.0, 0.05),
    "SinkBasin": (1.0, 0.05),
    "Sofa": (0.0, 0.05),
    "Stool": (0.5, 0.1),
    "TeddyBear": (1.0, 0.15),
    "Toilet": (1.0, 0.1),
}
"""Type -> how round its corners are (0 to 1 of its smaller half side), and by how many metres its
footprint is smaller than its box on each side."""


def fits(x: float, z: float, solids: Iterable[Solid], outline: Outline) -> bool:
    """Whether the agent can stand at a point: inside the walls, and clear of every object.

    Args:
        x: metres.
        z: metres.
        solids: the obstacles in the room.
        outline: the room's walls and floor.
    """
    if not outline.holds(x, z, _WALL):
        return False
    here = np.array([x, z])
    return all(
        _gap(solid, here) >= radius - 1e-3
        for solid in solids
        if solid.kind not in _OPEN and (radius := _radius(solid.box, outline.floor)) > 0
    )


def _radius(box: Box, floor: float) -> float:
    """The capsule's largest radius in metres at the heights of a box; 0 if it misses the box."""
    low, high = box.low[1] - floor, box.high[1] - floor
    if high <= 0.02 or low >= HEAD:
        return 0.0
    if high < BODY:
        return sqrt(BODY**2 - (BODY - high) ** 2)
    if low > HEAD - BODY:
        return sqrt(BODY**2 - (low - (HEAD - BODY)) ** 2)
    return BODY


def _gap(solid: Solid, here: Array) -> float:
    """Metres from a point (2,) in the plane to an object's footprint; negative inside."""
    roundness, inset = _SHAPES.get(solid.kind, (0.0, 0.0))
    axes, half = solid.box.footprint
    half = np.maximum(half - inset, 0.01)
    corner = roundness * float(half.min())
    beyond = np.maximum(np.abs((here - solid.box.center[[0, 2]]) @ axes) - (half - corner), 0.0)
    return float(np.hypot(*beyond)) - corner
