"""How a thing lies when it has been put down."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from envs.household.boxes import Array, Box, yaw

_UPRIGHT = np.eye(3)
_ON_X = np.array(((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)))
"""Its own x points up."""
_ON_Z = np.array(((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0)))
"""Its own z points up."""

_LIES_ON_X = frozenset({"ButterKnife", "Egg", "Knife"})
_LIES_ON_Z = frozenset({"BaseballBat", "HandTowel", "TennisRacket", "Towel"})


def ways_to_lie(kind: str, half: Array, heading: float) -> Iterator[Array]:
    """Rotations (3, 3) to try, best first: as its kind rests, turned by a quarter, then flat.

    Args:
        kind: THOR's type.
        half: (3,), half its extent along its own axes.
        heading: degrees, of what it is put on.
    """
    if kind in _LIES_ON_X:
        rest = _ON_X
    elif kind in _LIES_ON_Z:
        rest = _ON_Z
    else:
        rest = _UPRIGHT
    thinnest = int(np.argmin(half))
    flat = (_ON_X, _UPRIGHT, _ON_Z)[thinnest]
    for base in (rest,) if flat is rest else (rest, flat):
        for quarter in (0.0, 90.0):
            yield yaw(heading + quarter) @ base


def heading(box: Box) -> float:
    """Degrees: which way a box's front looks."""
    ahead = box.axes[:, 2] if box.up != 2 else box.axes[:, 1]
    return float(np.degrees(np.arctan2(ahead[0], ahead[2])))
