"""Fits the shapes of object types to where AI2-THOR's agent stood."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
from evidence import Evidence
from numpy.typing import NDArray

from inhabit.envs.simulators.household.geometry import grid
from inhabit.envs.simulators.household.geometry.boxes import STEP, Array, Solid
from inhabit.envs.simulators.household.geometry.grid import OTHER, Shape, Shapes
from inhabit.envs.simulators.household.rooms import ithor

CHOICES: tuple[Shape, ...] = tuple(product((0.0, 0.5, 1.0), (0.0, 0.05, 0.1, 0.15, 0.2, 0.3)))
"""Roundness and inset in metres."""
LEAK = 0.1
"""Cost of a cell that becomes free although nobody is known to have stood there. A position that
is known and refused costs 1."""
PRIOR = 0.3, 0.5
"""Cost of a shape other than the pooled one, and of each metre of its difference in inset."""


@dataclass(frozen=True, eq=False)
class RoomCosts:
    """What each shape of each type costs in one room."""

    costs: Mapping[str, NDArray[np.float64]]
    """Type -> (choices,)."""


def room_costs(name: str, found: Evidence) -> RoomCosts:
    """Costs of the shapes in a room; each object is considered alone."""
    room = ithor.load(name)
    solids = [
        solid
        for solid in room.furniture()
        if solid.kind not in grid.OPEN and grid.body_radius(solid.box, room.outline.floor) > 0
    ]
    stood, unknown = known_points(found), _unknown(room, found)
    inside = np.array([_hit(solid, unknown, (0.0, 0.0), room.outline.floor) for solid in solids])
    costs: dict[str, NDArray[np.float64]] = defaultdict(lambda: np.zeros(len(CHOICES)))
    for solid, hit in zip(solids, inside, strict=True):
        alone = unknown[hit & (inside.sum(axis=0) == 1)]
        near = stood[_hit(solid, stood, (0.0, 0.0), room.outline.floor)]
        for i, shape in enumerate(CHOICES):
            refused = _hit(solid, near, shape, room.outline.floor).sum()
            freed = len(alone) - _hit(solid, alone, shape, room.outline.floor).sum()
            costs[solid.kind][i] += refused + LEAK * freed
    return RoomCosts(dict(costs))


def shapes(rooms: Iterable[RoomCosts]) -> Shapes:
    """The shapes that cost least over some rooms.

    One shape is fitted to all types together. A type has its own where the evidence outweighs
    the prior.
    """
    total: dict[str, NDArray[np.float64]] = defaultdict(lambda: np.zeros(len(CHOICES)))
    for room in rooms:
        for kind, costs in room.costs.items():
            total[kind] = total[kind] + costs
    pooled = CHOICES[int(np.argmin(sum(np.minimum(c - c.min(), _MOST) for c in total.values())))]
    extra = np.array(
        [0.0 if c == pooled else PRIOR[0] + PRIOR[1] * abs(c[1] - pooled[1]) for c in CHOICES]
    )
    best = {kind: CHOICES[int(np.argmin(c + extra))] for kind, c in total.items()}
    own = {kind: shape for kind, shape in sorted(best.items()) if shape != pooled}
    return {**own, OTHER: pooled}


_MOST = 5.0
"""Largest influence of one type on the pooled shape."""


def known_points(found: Evidence) -> Array:
    """(N, 2), x and z in metres where the agent stood."""
    cells = found.layout.union(*found.walks)
    points = {(column * STEP, row * STEP) for column, row in cells} | found.poses
    return np.array(sorted(points))


def _unknown(room: ithor.Room, found: Evidence) -> Array:
    """(N, 2), the centres of the other cells in the room."""
    low, high = np.array(room.outline.low) + 0.2, np.array(room.outline.high) - 0.2
    columns, rows = (
        np.arange(np.ceil(a / STEP), np.floor(b / STEP) + 1) for a, b in zip(low, high, strict=True)
    )
    every = {(int(c), int(r)) for c in columns for r in rows} - found.layout.union(*found.walks)
    return np.array(sorted(every), np.float64).reshape(-1, 2) * STEP


def _hit(solid: Solid, points: Array, shape: Shape, floor: float) -> NDArray[np.bool_]:
    radius = grid.body_radius(solid.box, floor)
    return grid.gaps(solid.box, points.reshape(-1, 2), shape) < radius - 1e-3
