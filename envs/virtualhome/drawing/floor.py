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
    cells = np.stack(np.meshgrid(x, z, indexing="ij"), axis=-1).reshape(-1, 2)
    blocks = [b for b in (p.box for p in things if p.top > _STEP_OVER and p.bottom < _STOOP)
              if b.overlaps(box)]  # fmt: skip
    if blocks:
        middle = np.array([(b.x, b.z) for b in blocks])
        half = np.array([(b.hx, b.hz) for b in blocks]) + _BODY
        hit = (np.abs(cells[:, None] - middle) < half).all(axis=2).any(axis=1)
        cells = cells[~hit]
    return cells if len(cells) else np.array([[box.x, box.z]])
