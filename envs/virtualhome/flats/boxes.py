"""Boxes of things, and what rests on what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

YAWS = (0, 90, 180, 270)
"""Degrees about the vertical; at 0 the front looks along +z, at 90 along +x."""


@dataclass(frozen=True, slots=True)
class UprightBox:
    """An upright box: center and half extents along x, y, z, in metres."""

    x: float
    y: float
    z: float
    hx: float
    hy: float
    hz: float

    def overlaps(self, other: UprightBox, gap: float = 0.0) -> bool:
        """Whether their distance is less than `gap` along every axis."""
        return (
            abs(self.x - other.x) < self.hx + other.hx + gap - 1e-6
            and abs(self.y - other.y) < self.hy + other.hy - 1e-6
            and abs(self.z - other.z) < self.hz + other.hz + gap - 1e-6
        )

    @property
    def top(self) -> float:
        """Height of its upper face."""
        return self.y + self.hy

    @property
    def bottom(self) -> float:
        """Height of its lower face."""
        return self.y - self.hy


@dataclass(frozen=True, slots=True)
class PlacedArticle:
    """An article with its place in a flat."""

    id: int
    class_name: str
    room: int
    box: UprightBox
    yaw: int
    """One of `YAWS`."""
    on: int | None = None
    """Id of the object it stands on; None for the floor or a wall."""
    inside: int | None = None
    """Id of the object it lies in, or None."""
    floor_clearance: UprightBox | None = None
    """The space in front of it that must stay free."""


def turned_half(size: tuple[float, float, float], yaw: int) -> tuple[float, float, float]:
    """Half extents along x, y, z of a rotated article (width, height, depth)."""
    width, height, depth = size
    return (
        (width / 2, height / 2, depth / 2) if yaw % 180 == 0 else (depth / 2, height / 2, width / 2)
    )


def front(yaw: int) -> tuple[int, int]:
    """The direction (x, z) of an article's front."""
    return {0: (0, 1), 90: (1, 0), 180: (0, -1), 270: (-1, 0)}[yaw]


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
