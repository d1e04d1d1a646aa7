"""Measures shapes against the evidence of a room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import ClassVar

import numpy as np
from evidence import Evidence

from inhabit.envs.simulators.household.geometry import grid
from inhabit.envs.simulators.household.geometry.boxes import STEP
from inhabit.envs.simulators.household.geometry.grid import Shapes
from inhabit.envs.simulators.household.rooms import ithor


@dataclass(frozen=True, slots=True)
class Counts:
    """How much of the evidence was measured, and how much of it held."""

    NAMES: ClassVar[Sequence[str]] = ("poses", "cells", "walks", "free")

    poses: int = 0
    poses_fit: int = 0
    """Start poses of VAGEN's in which the agent fits."""
    cells: int = 0
    cells_fit: int = 0
    """Cells of ALFRED's grid in which it fits."""
    walks: int = 0
    walks_free: int = 0
    """Walks of ALFRED's experts of which no cell is blocked, given the room's grid."""
    known: int = 0
    free: int = 0
    """Cells of the grid; and of the region around it that is computed to be free."""

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def shares(self) -> Sequence[float]:
        """In the order of NAMES. The last one is a ratio, above 1."""
        counts = astuple(self)
        return [counts[i + 1] / max(1, counts[i]) for i in range(0, len(counts), 2)]


def measure(name: str, found: Evidence, shapes: Shapes) -> Counts:
    """Measure some shapes in a room."""
    room = ithor.load(name)
    solids = list(room.furniture())
    poses = np.array(sorted(found.poses)).reshape(-1, 2)
    cells = np.array(sorted(found.layout)) * STEP
    free = grid.region(found.layout, solids, room.outline, shapes, beside=grid.BESIDE)
    return Counts(
        len(poses),
        int(grid.clear(poses, room.solids(room.placed), room.outline, shapes).sum()),
        len(cells),
        int(grid.clear(cells, solids, room.outline, shapes).sum()),
        len(found.walks),
        sum(free.issuperset(walk) for walk in found.walks),
        len(found.layout),
        len(free),
    )
