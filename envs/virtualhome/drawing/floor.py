"""Where in a room one can stand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from envs.virtualhome.drawing.place import Place

CELL = 0.1
"""Metres between the places that are looked at."""
_BODY = 0.22
"""Metres that a standing person needs to each side."""
_STEP_OVER, _STOOP = 0.12, 1.5
"""What ends below the first or begins above the second, in metres, is in nobody's way."""


def free_cells(room: Place, things: Sequence[Place]) -> NDArray[np.float64]:
    """(N, 2): x and z of the places in a room where nothing is in the way, by x, then z.

    The middle of the room alone, if it is crammed.
    """
    box = room.box
    x = np.arange(box.x - box.hx + _BODY, box.x + box.hx - _BODY + 1e-6, CELL)
    z = np.arange(box.z - box.hz + _BODY, box.z + box.hz - _BODY + 1e-6, CELL)
    free = np.ones((len(x), len(z)), np.bool_)
    for block in (p.box for p in things if p.top > _STEP_OVER and p.bottom < _STOOP):
        if not block.overlaps(box):
            continue
        hit_x = np.abs(x - block.x) < block.hx + _BODY
        hit_z = np.abs(z - block.z) < block.hz + _BODY
        free[np.ix_(hit_x, hit_z)] = False
    i, k = np.nonzero(free)
    cells = np.stack([x[i], z[k]], axis=1)
    return cells if len(cells) else np.array([[box.x, box.z]])
