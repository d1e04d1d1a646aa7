"""The reachable cells of THOR's 0.25 m grid.

THOR casts a capsule from cell to cell through its meshes. Here boxes stand for the objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.household.geometry.boxes import Array, Box
from inhabit.envs.simulators.household.geometry.outline import STEP, Cell, Outline, Solid

BODY = 0.2
"""The agent's radius, metres."""
OPEN = frozenset({"Floor", "Window", "Blinds", "Curtains"})
_SOFT = {"ArmChair": 0.1, "Chair": 0.1, "DogBed": 0.15, "Sofa": 0.1, "Stool": 0.1}
"""Metres by which a box exceeds the real obstacle: backs lean, corners are round."""
KNEE, HEAD = 0.1, 1.8
"""Obstacles below are stepped over, those above are walked under; metres above the floor."""
_WALL_MARGIN = 0.3
"""Minimum distance of the agent's center from the room's outline, metres."""


def reachable(solids: Iterable[Solid], outline: Outline) -> frozenset[Cell]:
    """The largest connected region of free cells.

    Breadth-first search over the cells whose centres lie in the room, at least a body's radius
    from everything between knee and head.
    """
    free = _free(_obstacles(solids, outline), outline)
    regions = list(_regions(free))
    return max(regions, key=lambda region: (len(region), min(region)), default=frozenset())


def _obstacles(solids: Iterable[Solid], outline: Outline) -> list[Box]:
    floor = outline.floor
    boxes: list[Box] = []
    for kind, box in solids:
        if kind in OPEN or box.high[1] < floor + KNEE or box.low[1] > floor + HEAD:
            continue
        boxes.append(_shrunk(kind, box))
    return boxes


def _shrunk(kind: str, box: Box) -> Box:
    half = box.half - np.where(np.arange(3) == box.up, 0.0, _SOFT.get(kind, 0.0))
    return Box(box.center, np.maximum(half, 0.01), box.axes)


def _free(obstacles: Sequence[Box], outline: Outline) -> set[Cell]:
    columns, rows = (
        np.arange(np.ceil((low + _WALL_MARGIN) / STEP), np.floor((high - _WALL_MARGIN) / STEP) + 1)
        for low, high in zip(outline.low, outline.high, strict=True)
    )
    cells = np.stack(np.meshgrid(columns, rows, indexing="ij"), axis=-1).reshape(-1, 2)
    clear = np.ones(len(cells), np.bool_)
    for box in obstacles:
        clear &= distance(box, cells * STEP) >= BODY - 1e-6
    return {(int(column), int(row)) for column, row in cells[clear]}


def distance(box: Box, points: Array) -> NDArray[np.float64]:
    """Distances from points (N, 2) to a box seen from above; 0 inside.

    A box that stands upright is taken as it is turned, a tilted one by the box around it.
    """
    axes, half = box.footprint
    beyond = np.maximum(np.abs((points - box.center[[0, 2]]) @ axes) - half, 0.0)
    return np.asarray(np.hypot(beyond[:, 0], beyond[:, 1]))


def _regions(free: set[Cell]) -> Iterable[frozenset[Cell]]:
    left = set(free)
    for start in sorted(free):
        if start not in left:
            continue
        left.discard(start)
        region, queue = [start], [start]
        while queue:
            here = queue.pop(0)
            for cell in neighbours(here):
                if cell in left:
                    left.discard(cell)
                    region.append(cell)
                    queue.append(cell)
        yield frozenset(region)


def neighbours(cell: Cell) -> tuple[Cell, Cell, Cell, Cell]:
    """The four neighbouring cells: along +z, +x, -z, -x."""
    column, row = cell
    return (column, row + 1), (column + 1, row), (column, row - 1), (column - 1, row)
