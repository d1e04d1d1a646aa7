"""Upright boxes at multiples of 90 degrees, and their overlaps."""

from __future__ import annotations

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
