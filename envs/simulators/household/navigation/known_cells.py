"""The free cells of a room of which some are known.

The grids that come with ALFRED leave out cells at the edge, where the agent cannot look every way,
and whatever lies behind them. The rest of the region is computed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from inhabit.envs.simulators.household.geometry.outline import STEP, Cell, Outline, Solid
from inhabit.envs.simulators.household.navigation import clearance
from inhabit.envs.simulators.household.navigation.clearance import Shapes
from inhabit.envs.simulators.household.navigation.grid import neighbours

_FROM_WALL = 0.3
"""Least distance in metres from a known cell to a wall."""


def region(
    known: frozenset[Cell],
    solids: Iterable[Solid],
    outline: Outline,
    shapes: Shapes | None = None,
) -> frozenset[Cell]:
    """The known cells, and every cell that the agent fits in and can walk to from them.

    Args:
        known: cells in which THOR's agent stood; not empty.
        solids: the obstacles in the room.
        outline: the room's. It is extended to hold the known cells.
        shapes: of the obstacles' types; by default those fitted to all rooms.
    """
    found = np.array(sorted(known)) * STEP
    walls = replace(
        outline,
        low=_pair(np.minimum(outline.low, found.min(axis=0) - _FROM_WALL)),
        high=_pair(np.maximum(outline.high, found.max(axis=0) + _FROM_WALL)),
    )
    lowest, highest = np.floor(np.array(walls.low) / STEP), np.ceil(np.array(walls.high) / STEP)
    columns, rows = (np.arange(a, b + 1) for a, b in zip(lowest, highest, strict=True))
    cells = np.stack(np.meshgrid(columns, rows, indexing="ij"), axis=-1).reshape(-1, 2)
    free = clearance.clear(cells * STEP, solids, walls, shapes)
    return _connected(known, {(int(c), int(r)) for c, r in cells[free]})


def _connected(known: frozenset[Cell], free: set[Cell]) -> frozenset[Cell]:
    reached, edge = set(known), set(known)
    while edge:
        edge = {cell for own in edge for cell in neighbours(own)} & free - reached
        reached |= edge
    return frozenset(reached)


def _pair(of: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> tuple[float, float]:
    return float(of[0]), float(of[1])
