"""Floor plans: rectangular rooms and the doors between them. Metres, x to the right, z up.

The rooms are those of `plans.csv`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from inhabit.envs.plain_data import csv_rows

HEIGHT = 2.6
"""Height of a room from floor to ceiling, metres."""
DOOR_WIDTH = 0.95
WALL = 0.1
"""Thickness of the walls between rooms, metres."""


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
        """Middle of the room, (x, z), metres."""
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


_SHARED = 1.3
"""Minimum length in metres of a shared wall with a door."""


def plans() -> Sequence[FlatPlan]:
    """The seven plans, with a door between rooms where one is needed and fits."""
    rows = csv_rows("inhabit.envs.virtualhome.flats", "plans.csv")
    return [_plan(name, [*sketch]) for name, sketch in groupby(rows, itemgetter("plan"))]


def _plan(name: str, sketch: Sequence[Mapping[str, str]]) -> FlatPlan:
    rooms = [
        FlatRoom(row["class_name"], *(float(row[side]) for side in ("x0", "z0", "x1", "z1")))
        for row in sketch
    ]
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
