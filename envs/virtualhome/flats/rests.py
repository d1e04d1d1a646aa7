"""The surfaces of furniture, matching the boards that `inhabit.envs.simulators.render.shapes`
draws.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rest:
    """A surface of a piece of furniture."""

    low: float
    """Height of the surface above the underside, as a fraction of the furniture's height."""
    high: float
    """Height of the next board above, likewise; objects may extend beyond an open top."""
    left: float = -0.5
    """Extent along the furniture's width, as fractions of it."""
    right: float = 0.5
    back: float = -0.5
    """The same along its depth; the front is at 0.5."""
    front: float = 0.5


_OPEN_TOP = 9.0

_ON: Mapping[str, Sequence[Rest]] = {
    "sofa": [Rest(0.485, _OPEN_TOP, -0.39, 0.39, -0.24, 0.47)],
    "armchair": [Rest(0.485, _OPEN_TOP, -0.33, 0.33, -0.24, 0.47)],
    "chair": [Rest(0.485, _OPEN_TOP, -0.48, 0.48, -0.36, 0.48)],
    "bed": [Rest(0.605, _OPEN_TOP, -0.46, 0.46, -0.46, 0.46)],
    "toilet": [Rest(1.0, _OPEN_TOP, -0.45, 0.45, -0.5, -0.25)],
    "stove": [Rest(1.0, _OPEN_TOP, -0.5, 0.5, -0.5, 0.4)],
}
_BOARDS = [
    *(Rest(0.0125 + 0.1975 * k, 0.198 + 0.1975 * k, -0.47, 0.47, -0.46) for k in range(4)),
    Rest(0.8025, 0.985, -0.47, 0.47, -0.46),
]
_INSIDE: Mapping[str, Sequence[Rest]] = {
    "fridge": [
        Rest(low, high, -0.43, 0.43, -0.42, 0.28)
        for low, high in ((0.055, 0.185), (0.197, 0.34), (0.522, 0.66), (0.842, 0.97))
    ],
    "kitchencabinet": [
        Rest(0.03, 0.5, -0.47, 0.47, -0.47, 0.36),
        Rest(0.54, 0.97, -0.47, 0.47, -0.47, 0.36),
    ],
    "dishwasher": [
        Rest(0.25, 0.54, -0.42, 0.42, -0.42, 0.36),
        Rest(0.56, 0.92, -0.42, 0.42, -0.42, 0.36),
    ],
    "closet": [
        Rest(0.047, 0.35, -0.47, 0.47, -0.45, 0.36),
        Rest(0.366, 0.66, -0.47, 0.47, -0.45, 0.36),
        Rest(0.676, 0.95, -0.47, 0.47, -0.45, 0.36),
    ],
    "dresser": [Rest(low, low + 0.24, -0.45, 0.45, -0.45, 0.4) for low in (0.1, 0.4, 0.7)],
    "microwave": [Rest(0.09, 0.92, -0.24, 0.45, -0.42, 0.3)],
    "stove": [Rest(0.46, 0.8, -0.44, 0.44, -0.45, 0.3)],
    "washingmachine": [Rest(0.3, 0.7, -0.28, 0.28, -0.4, 0.35)],
    "bathtub": [Rest(0.09, _OPEN_TOP, -0.36, 0.36, -0.4, 0.4)],
    "sink": [Rest(0.1, _OPEN_TOP, -0.4, 0.4, -0.4, 0.4)],
    "box": [Rest(0.06, _OPEN_TOP, -0.34, 0.34, -0.34, 0.34)],
    "garbagecan": [Rest(0.08, _OPEN_TOP, -0.32, 0.32, -0.32, 0.32)],
    "basketforclothes": [Rest(0.06, _OPEN_TOP, -0.46, 0.46, -0.46, 0.46)],
    "toilet": [Rest(0.22, _OPEN_TOP, -0.25, 0.25, 0.0, 0.35)],
    "bookshelf": _BOARDS,
}
_LIKE = {
    "bathroomcabinet": "kitchencabinet",
    "freezer": "fridge",
    "couch": "sofa",
    "loveseat": "armchair",
    "kitchenchair": "chair",
    "cupboard": "kitchencabinet",
    "cabinet": "kitchencabinet",
    "filingcabinet": "dresser",
    "oven": "stove",
    "trashcan": "garbagecan",
    "wardrobe": "closet",
}
_TOP = [Rest(1.0, _OPEN_TOP)]
_HOLLOW = [Rest(0.08, _OPEN_TOP, -0.46, 0.46, -0.46, 0.46)]
_HEAD_OF_BED = [Rest(0.605, _OPEN_TOP, -0.46, 0.46, -0.46, -0.24)]
_CORNERS_OF_SOFA = [Rest(0.485, _OPEN_TOP, -0.39, 0.39, -0.24, 0.1)]


def rests(support: str, relation: str, thing: str) -> Sequence[Rest]:
    """Surfaces of a furniture class, best first.

    Args:
        support: class name of the furniture.
        relation: "ON" or "INSIDE".
        thing: class name of what is to rest there.
    """
    support = _LIKE.get(support, support)
    if thing == "pillow" and support in ("bed", "sofa"):
        return _HEAD_OF_BED if support == "bed" else _CORNERS_OF_SOFA
    if relation == "INSIDE":
        return _INSIDE.get(support, _HOLLOW)
    return _BOARDS if support == "bookshelf" else _ON.get(support, _TOP)
