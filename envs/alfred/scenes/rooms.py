"""Which rooms there are: iTHOR's 120, their kinds and the field's split of them; or one's own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from inhabit.envs.simulators.household.rooms.ithor import Room
    from inhabit.envs.simulators.household.rooms.user_rooms import Catalog


class Kind(StrEnum):
    """What a room is for."""

    KITCHEN = "kitchen"
    LIVING_ROOM = "living room"
    BEDROOM = "bedroom"
    BATHROOM = "bathroom"


Split = Literal["all", "train", "val", "test"]
Cells = Literal["computed", "recorded"]

_FIRST = {Kind.KITCHEN: 1, Kind.LIVING_ROOM: 201, Kind.BEDROOM: 301, Kind.BATHROOM: 401}
_SIGNS = {"Toilet": Kind.BATHROOM, "StoveBurner": Kind.KITCHEN, "Bed": Kind.BEDROOM}
"""What tells the kind of a room of one's own, in this order; else it is a living room."""
_SPLIT: Mapping[str, range] = {
    "all": range(30),
    "train": range(20),
    "val": range(20, 25),
    "test": range(25, 30),
}


def rooms(kind: Kind, split: Split = "all") -> Sequence[str]:
    """Names of the rooms of a kind: iTHOR trains on 1-20, validates on 21-25, tests on 26-30."""
    return [f"FloorPlan{_FIRST[kind] + i}" for i in _SPLIT[split]]


ROOMS: Mapping[str, Kind] = {room: kind for kind in Kind for room in rooms(kind)}
"""Every room by name, with its kind."""


@dataclass(frozen=True, slots=True)
class Rooms:
    """Where tasks are drawn and acted: which rooms, and the rule by which one can stand in them."""

    folder: str = ""
    """With rooms of one's own, in which tasks are drawn then; empty for iTHOR's."""
    cells: Cells = "computed"
    """Of iTHOR's rooms."""

    @property
    def names(self) -> Sequence[str]:
        """Of all rooms that can be acted in.

        Raises:
            SceneError: the folder has no rooms.
        """
        return [*ROOMS, *_catalog(self).own] if self.folder else [*ROOMS]

    def of(self, kind: Kind, split: Split = "all") -> Sequence[str]:
        """Names of the rooms of a kind that tasks are drawn in; perhaps none of one's own.

        Raises:
            SceneError: the folder has no rooms, or one of them can't be read.
        """
        if not self.folder:
            return rooms(kind, split)
        return [name for name in _catalog(self).own if self.kind(name) == kind]

    def kind(self, name: str) -> Kind:
        """The kind of a room.

        Raises:
            SceneError: there is no such room, or it can't be read.
        """
        if name in ROOMS:
            return ROOMS[name]
        return kind_of(o["objectType"] for o in self.load(name).objects)

    @property
    def catalog(self) -> Catalog:
        """The same for a simulator.

        Raises:
            SceneError: the folder has no rooms.
        """
        return _catalog(self)

    def load(self, name: str) -> Room:
        """A room as nobody has changed it, in the form of THOR's `metadata.objects`.

        Raises:
            SceneError: there is no such room, or it can't be read.
            UnavailableError: the rooms' package is missing, or the recorded cells.
        """
        return _load(self, name)


def kind_of(types: Iterable[str]) -> Kind:
    """What a room with things of these types is for."""
    there = set(types)
    return next((kind for type, kind in _SIGNS.items() if type in there), Kind.LIVING_ROOM)


@lru_cache(maxsize=8)
def _catalog(where: Rooms) -> Catalog:
    from inhabit.envs.simulators.household.rooms.user_rooms import Catalog

    folder = Path(where.folder) if where.folder else None
    return Catalog(folder, recorded=where.cells == "recorded")


@lru_cache(maxsize=8)
def _load(where: Rooms, name: str) -> Room:
    return _catalog(where).load(name)


def records(room: str) -> Sequence[Mapping[str, Any]]:
    """What is in a room of iTHOR's, in the form of THOR's `metadata.objects`."""
    return Rooms().load(room).objects
