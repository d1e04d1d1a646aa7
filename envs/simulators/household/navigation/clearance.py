"""Whether THOR's agent fits somewhere between the objects, wherever that is: off the grid too.

The agent is a capsule: a body that is round at both ends, so that low things are in its way less
than tall ones. Objects are footprints with rounded corners. How round each type is, and how much
smaller than its box, is fitted to the positions in which real AI2-THOR's agent stood: ALFRED's
grids of 120 rooms, the paths of its experts, and the start poses of VAGEN's navigation tasks.
`docs/figures.md` says how well a fit on four fifths of the rooms does on the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.household.geometry.boxes import Array, Box
from inhabit.envs.simulators.household.geometry.outline import Outline, Solid
from inhabit.envs.simulators.household.navigation.grid import BODY, HEAD, OPEN

Shape = tuple[float, float]
"""How round the corners are (0 to 1 of the smaller half side), and by how many metres the
footprint is smaller than its box on each side."""
Shapes = Mapping[str, Shape]
"""Object type -> its shape."""

_WALL = 0.15
"""Metres between the agent's middle and the room's outline. The outline is drawn around what
stands along the walls, and walls lie a little behind it."""
OTHER = "*"
"""Key of the shape of every other type; without it, they are plain boxes."""
SHAPES: Shapes = {
    "ArmChair": (0.0, 0.1),
    "Bathtub": (1.0, 0.3),
    "BathtubBasin": (1.0, 0.3),
    "Bed": (0.0, 0.05),
    "Chair": (0.5, 0.15),
    "CoffeeTable": (1.0, 0.05),
    "CounterTop": (0.5, 0.3),
    "Desk": (0.5, 0.05),
    "DiningTable": (0.5, 0.15),
    "FloorLamp": (1.0, 0.0),
    "Fridge": (0.5, 0.0),
    "GarbageBag": (0.0, 0.3),
    "HousePlant": (1.0, 0.0),
    "LaundryHamper": (0.0, 0.3),
    "LightSwitch": (0.0, 0.0),
    "Mirror": (0.0, 0.0),
    "Ottoman": (0.0, 0.0),
    "Painting": (0.5, 0.0),
    "RoomDecor": (0.0, 0.0),
    "Safe": (0.0, 0.05),
    "ShelvingUnit": (0.0, 0.05),
    "ShowerDoor": (1.0, 0.05),
    "ShowerGlass": (0.0, 0.3),
    "ShowerHead": (0.0, 0.0),
    "Sofa": (0.5, 0.05),
    "Stool": (0.0, 0.3),
    "StoveBurner": (0.0, 0.0),
    "TVStand": (0.0, 0.05),
    "Television": (0.0, 0.05),
    "Toilet": (0.0, 0.3),
    "ToiletPaperHanger": (1.0, 0.05),
    "TowelHolder": (0.0, 0.0),
    OTHER: (1.0, 0.1),
}
"""Fitted to all rooms by `scripts/fit_bodies`."""


def fits(x: float, z: float, solids: Iterable[Solid], outline: Outline) -> bool:
    """Whether the agent can stand at a point: inside the walls, and clear of every object.

    Args:
        x: metres.
        z: metres.
        solids: the obstacles in the room.
        outline: the room's walls and floor.
    """
    return bool(clear(np.array([[x, z]]), solids, outline)[0])


def clear(
    points: Array, solids: Iterable[Solid], outline: Outline, shapes: Shapes | None = None
) -> NDArray[np.bool_]:
    """The same for many points.

    Args:
        points: (N, 2), x and z in metres.
        solids: the obstacles in the room.
        outline: the room's walls and floor.
        shapes: of the obstacles' types; by default those fitted to all rooms.

    Returns:
        (N,), whether the agent can stand at each.
    """
    shapes = SHAPES if shapes is None else shapes
    other = shapes.get(OTHER, (0.0, 0.0))
    free = np.array([outline.holds(x, z, _WALL - 1e-6) for x, z in points], np.bool_)
    for solid in solids:
        radius = body_radius(solid.box, outline.floor)
        if solid.kind not in OPEN and radius > 0:
            free &= gaps(solid.box, points, shapes.get(solid.kind, other)) >= radius - 1e-3
    return free


def body_radius(box: Box, floor: float) -> float:
    """The capsule's largest radius in metres at the heights of a box; 0 if it misses the box."""
    low, high = box.low[1] - floor, box.high[1] - floor
    if high <= 0.02 or low >= HEAD:
        return 0.0
    if high < BODY:
        return sqrt(BODY**2 - (BODY - high) ** 2)
    if low > HEAD - BODY:
        return sqrt(BODY**2 - (low - (HEAD - BODY)) ** 2)
    return BODY


def gaps(box: Box, points: Array, shape: Shape) -> Array:
    """Metres (N,) from points (N, 2) in the plane to a footprint; negative inside rounded ends."""
    roundness, inset = shape
    axes, half = box.footprint
    half = np.maximum(half - inset, 0.01)
    corner = roundness * float(half.min())
    across = np.abs((points - box.center[[0, 2]]) @ axes)
    beyond = np.maximum(across - (half - corner), 0.0)
    return np.asarray(np.hypot(beyond[:, 0], beyond[:, 1])) - corner
