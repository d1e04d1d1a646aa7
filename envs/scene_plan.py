"""A scene seen from above, for maps on pages and in videos. Agents never receive it."""

from __future__ import annotations

from dataclasses import dataclass

Corner = tuple[float, float]
"""x and z in metres, in the simulator's ground plane."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a room or a piece of furniture covers on the floor."""

    name: str
    """Name as actions have it, such as "countertop_1"; empty for a room without a name."""
    corners: tuple[Corner, ...]
    """Corners of a polygon, in order."""


@dataclass(frozen=True, slots=True)
class PlanPose:
    """Where the agent stands and looks."""

    x: float
    """Position along x, in metres."""
    z: float
    """Position along z, in metres."""
    heading: float
    """Degrees clockwise from +z, seen from above, in [0, 360)."""


@dataclass(frozen=True, slots=True)
class ScenePlan:
    """A scene as it was at the start."""

    rooms: tuple[Footprint, ...]
    """Rooms, whose outlines are the walls."""
    furniture: tuple[Footprint, ...]
    """What stays in place, the largest first."""
    doors: tuple[Footprint, ...] = ()
    poses: tuple[PlanPose, ...] = ()
    """The agent's before each action, and after the last one; empty where a record has them."""


def rectangle(x: float, z: float, half_x: float, half_z: float) -> tuple[Corner, ...]:
    """The corners of a rectangle along the axes, from its middle and half its sides, in metres."""
    return (
        (x - half_x, z - half_z),
        (x + half_x, z - half_z),
        (x + half_x, z + half_z),
        (x - half_x, z + half_z),
    )


def area(footprint: Footprint) -> float:
    """Square metres that a footprint covers."""
    corners = footprint.corners
    following = zip(corners, corners[1:] + corners[:1], strict=True)
    return abs(sum(x * w - y * z for (x, z), (y, w) in following)) / 2
