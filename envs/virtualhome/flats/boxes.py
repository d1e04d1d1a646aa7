"""Boxes of things, and what rests on what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from inhabit.envs.plain_data import csv_rows

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
    """Rotation in degrees, one of `YAWS`."""
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
    """Extent along the furniture's depth, as fractions of it; the front is at 0.5."""
    front: float = 0.5


_OPEN_TOP = 9.0

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
    return _rests().get((support, relation)) or (_HOLLOW if relation == "INSIDE" else _TOP)


@cache
def _rests() -> Mapping[tuple[str, str], Sequence[Rest]]:
    """(class, relation) -> the surfaces of furniture that has others than a box."""
    found: dict[tuple[str, str], list[Rest]] = {}
    for row in csv_rows("inhabit.envs.virtualhome.flats", "rests.csv"):
        class_name, relation, *extents = row.values()
        found.setdefault((class_name, relation), []).append(Rest(*map(float, extents)))
    return found
