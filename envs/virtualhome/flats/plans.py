"""Floor plans: rectangular rooms and the doors between them. Metres, x to the right, z up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

HEIGHT = 2.6
"""From floor to ceiling."""
DOOR_WIDTH = 0.95
WALL = 0.1
"""Thickness of the walls between rooms."""


@dataclass(frozen=True, slots=True)
class FlatRoom:
    """A room's class name and its inner corners on the floor."""

    class_name: str
    x0: float
    z0: float
    x1: float
    z1: float

    @property
    def center(self) -> tuple[float, float]:
        """(x, z)."""
        return (self.x0 + self.x1) / 2, (self.z0 + self.z1) / 2


@dataclass(frozen=True, slots=True)
class Doorway:
    """A door in the wall between two rooms; `along_x` if the wall runs along x."""

    rooms: tuple[int, int]
    x: float
    z: float
    along_x: bool


@dataclass(frozen=True, slots=True)
class FlatPlan:
    """A flat without furniture."""

    name: str
    rooms: tuple[FlatRoom, ...]
    doorways: tuple[Doorway, ...]


_SKETCHES: Sequence[tuple[str, Sequence[tuple[str, float, float, float, float]]]] = (
    (
        "row",
        (
            ("kitchen", 0.0, 0.0, 4.8, 4.4),
            ("livingroom", 4.8, 0.0, 10.4, 4.4),
            ("bedroom", 10.4, 0.0, 14.6, 4.4),
            ("bathroom", 14.6, 0.0, 17.4, 4.4),
        ),
    ),
    (
        "square",
        (
            ("livingroom", 0.0, 0.0, 5.4, 5.0),
            ("kitchen", 5.4, 0.0, 10.2, 5.0),
            ("bedroom", 0.0, 5.0, 5.4, 9.4),
            ("bathroom", 5.4, 5.0, 8.6, 8.2),
        ),
    ),
    (
        "corner",
        (
            ("livingroom", 0.0, 0.0, 6.0, 4.6),
            ("bedroom", 0.0, 4.6, 4.4, 9.0),
            ("bathroom", 4.4, 4.6, 7.4, 7.6),
            ("kitchen", 6.0, 0.0, 10.8, 4.6),
        ),
    ),
    (
        "long hall",
        (
            ("bedroom", 0.0, 0.0, 4.2, 4.6),
            ("livingroom", 4.2, 0.0, 10.2, 4.6),
            ("bathroom", 0.0, 4.6, 4.2, 7.4),
            ("kitchen", 10.2, 0.0, 14.8, 4.8),
        ),
    ),
    (
        "two bedrooms",
        (
            ("livingroom", 0.0, 0.0, 5.6, 5.2),
            ("kitchen", 5.6, 0.0, 10.4, 4.4),
            ("bedroom", 0.0, 5.2, 4.6, 9.6),
            ("bathroom", 4.6, 5.2, 7.6, 8.4),
            ("bedroom", -4.6, 0.0, 0.0, 4.4),
        ),
    ),
    (
        "tower",
        (
            ("kitchen", 0.0, 0.0, 5.0, 4.4),
            ("livingroom", 0.0, 4.4, 5.4, 9.6),
            ("bedroom", 0.0, 9.6, 4.8, 13.8),
            ("bathroom", 5.4, 4.4, 8.4, 7.6),
        ),
    ),
    (
        "around the living room",
        (
            ("livingroom", 0.0, 0.0, 6.2, 5.6),
            ("kitchen", -4.8, 0.0, 0.0, 4.8),
            ("bedroom", 6.2, 0.0, 10.8, 4.4),
            ("bathroom", 0.0, 5.6, 3.2, 8.8),
            ("bedroom", 3.2, 5.6, 7.8, 9.8),
        ),
    ),
)
_SHARED = 1.3
"""Minimum length in metres of a shared wall with a door."""


def plans() -> Sequence[FlatPlan]:
    """The seven plans, with a door between rooms where one is needed and fits."""
    return [_plan(name, rooms) for name, rooms in _SKETCHES]


def _plan(name: str, sketch: Sequence[tuple[str, float, float, float, float]]) -> FlatPlan:
    rooms = tuple(FlatRoom(*row) for row in sketch)
    doorways = []
    reached = {0}
    # A spanning tree of doors, nearest rooms first: every room is reachable, and walls stay free.
    while len(reached) < len(rooms):
        inside, outside = next(
            (a, b)
            for b in range(len(rooms))
            if b not in reached
            for a in sorted(reached)
            if _doorway(rooms, a, b) is not None
        )
        doorway = _doorway(rooms, inside, outside)
        assert doorway is not None
        doorways.append(doorway)
        reached.add(outside)
    half = WALL / 2
    inner = (
        FlatRoom(r.class_name, r.x0 + half, r.z0 + half, r.x1 - half, r.z1 - half) for r in rooms
    )
    return FlatPlan(name, tuple(inner), tuple(doorways))


def _doorway(rooms: Sequence[FlatRoom], a: int, b: int) -> Doorway | None:
    one, two = rooms[a], rooms[b]
    for x in {one.x0, one.x1} & {two.x0, two.x1}:
        low, high = max(one.z0, two.z0), min(one.z1, two.z1)
        if high - low >= _SHARED and (one.x1 == two.x0 or two.x1 == one.x0):
            return Doorway((a, b), x, low + 0.2 + DOOR_WIDTH / 2, along_x=False)
    for z in {one.z0, one.z1} & {two.z0, two.z1}:
        low, high = max(one.x0, two.x0), min(one.x1, two.x1)
        if high - low >= _SHARED and (one.z1 == two.z0 or two.z1 == one.z0):
            return Doorway((a, b), low + 0.2 + DOOR_WIDTH / 2, z, along_x=True)
    return None
