"""Where things stand: boxes on quarter turns, and whether they get into each other's way."""

from __future__ import annotations

from dataclasses import dataclass

YAWS = (0, 90, 180, 270)
"""Degrees about the vertical; at 0 the front looks along +z, at 90 along +x."""


@dataclass(frozen=True, slots=True)
class UprightBox:
    """An upright box: its centre and half sizes along x, y, z, in metres."""

    x: float
    y: float
    z: float
    hx: float
    hy: float
    hz: float

    def overlaps(self, other: UprightBox, gap: float = 0.0) -> bool:
        """Whether they come nearer to each other than `gap`, in every direction."""
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
    """An article somewhere in a flat."""

    id: int
    class_name: str
    room: int
    box: UprightBox
    yaw: int
    """Of `YAWS`."""
    on: int | None = None
    """Id of what it stands on, or None: the floor or a wall."""
    inside: int | None = None
    """Id of what it lies in, or None."""
    floor_clearance: UprightBox | None = None
    """What must stay free in front of it."""


def turned_half(size: tuple[float, float, float], yaw: int) -> tuple[float, float, float]:
    """Half sizes along x, y, z of an article (width, height, depth) that was turned."""
    width, height, depth = size
    return (
        (width / 2, height / 2, depth / 2) if yaw % 180 == 0 else (depth / 2, height / 2, width / 2)
    )


def front(yaw: int) -> tuple[int, int]:
    """The direction (x, z) in which an article looks."""
    return {0: (0, 1), 90: (1, 0), 180: (0, -1), 270: (-1, 0)}[yaw]
