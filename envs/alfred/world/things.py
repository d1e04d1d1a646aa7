"""What there is: rooms, types of objects, and their states.

The rooms are iTHOR's 120 with their types and splits, or the user's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inhabit.envs.alfred.world.settings import Cells, Split
from inhabit.envs.simulators.household.types.things import THINGS, spelled_out, those
from inhabit.envs.world.rows import State

if TYPE_CHECKING:
    from inhabit.envs.simulators.household.rooms.ithor import Room
    from inhabit.envs.simulators.household.rooms.user_rooms import Catalog


class Kind(StrEnum):
    """The type of a room."""

    KITCHEN = "kitchen"
    LIVING_ROOM = "living room"
    BEDROOM = "bedroom"
    BATHROOM = "bathroom"


_FIRST = {Kind.KITCHEN: 1, Kind.LIVING_ROOM: 201, Kind.BEDROOM: 301, Kind.BATHROOM: 401}
_SIGNS = {"Toilet": Kind.BATHROOM, "StoveBurner": Kind.KITCHEN, "Bed": Kind.BEDROOM}
"""Object types that reveal the type of a user's room, in order; otherwise it is a living room."""
_SPLIT: Mapping[str, range] = {
    "all": range(30),
    "train": range(20),
    "val": range(20, 25),
    "test": range(25, 30),
}


def rooms(kind: Kind, split: Split = "all") -> Sequence[str]:
    """Names of the rooms of a type: iTHOR trains on 1-20, validates on 21-25, tests on 26-30."""
    return [f"FloorPlan{_FIRST[kind] + i}" for i in _SPLIT[split]]


ROOMS: Mapping[str, Kind] = {room: kind for kind in Kind for room in rooms(kind)}
"""Every iTHOR room -> its type."""


@dataclass(frozen=True, slots=True)
class Rooms:
    """The rooms for sampling and running tasks, and the rule that computes the grid."""

    folder: str = ""
    """A folder of the user's own rooms, used for sampling; empty for iTHOR's."""
    cells: Cells = "computed"
    """Where the agent can stand in iTHOR's rooms."""

    @property
    def names(self) -> Sequence[str]:
        """Names of all rooms that can be loaded.

        Raises:
            SceneError: the folder has no rooms.
        """
        return [*ROOMS, *_catalog(self).own] if self.folder else [*ROOMS]

    def of(self, kind: Kind, split: Split = "all") -> Sequence[str]:
        """Names of the rooms of a type for sampling; may be empty for the user's own.

        Raises:
            SceneError: the folder has no rooms, or one of them cannot be read.
        """
        if not self.folder:
            return rooms(kind, split)
        return [name for name in _catalog(self).own if self.kind(name) == kind]

    def kind(self, name: str) -> Kind:
        """The type of a room.

        Raises:
            SceneError: there is no such room, or it cannot be read.
        """
        if name in ROOMS:
            return ROOMS[name]
        return kind_of(o["objectType"] for o in self.load(name).objects)

    @property
    def catalog(self) -> Catalog:
        """The same rooms for a simulator.

        Raises:
            SceneError: the folder has no rooms.
        """
        return _catalog(self)

    def load(self, name: str) -> Room:
        """A room in its initial state, in the form of THOR's `metadata.objects`.

        Raises:
            SceneError: there is no such room, or it cannot be read.
            UnavailableError: the rooms' package is missing, or the recorded cells.
        """
        return _load(self, name)


def kind_of(types: Iterable[str]) -> Kind:
    """The type of a room with objects of these types."""
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
    """The objects of an iTHOR room, in the form of THOR's `metadata.objects`."""
    return Rooms().load(room).objects


def _by_room(role: str) -> Mapping[Kind, tuple[str, ...]]:
    return {
        kind: tuple(
            type
            for type, thing in THINGS.items()
            if thing.role == role and kind.replace(" ", "-") in thing.rooms
        )
        for kind in Kind
    }


def that_can(action: str) -> frozenset[str]:
    """The types to which something may be done: "open"."""
    return frozenset(type for type, thing in THINGS.items() if action in thing.can)


def that_suit(task: str) -> tuple[str, ...]:
    """The types that tasks ask something to be done to: "heat"."""
    return tuple(sorted(type for type, thing in THINGS.items() if task in thing.suits))


HOLDERS = _by_room("holder")
"""Receptacles, movable ones included."""
ITEMS = _by_room("item")
"""Pickupable objects that hold nothing."""
FIXTURES = _by_room("fixture")
"""Other objects to open, switch or go to."""
TYPES = frozenset(type for type, thing in THINGS.items() if thing.role is not None)
"""All types that have names."""
CARRIED = those("carried")
"""Movable receptacles, footstools included."""
MOVABLE = tuple(sorted(those("vessel")))
"""Movable receptacles of goals."""
IN_SLICES = tuple(sorted(type for type, thing in THINGS.items() if thing.slices is not None))
"""Types that goals may ask slices of: an egg is cracked."""
DOORS = those("door")
"""Receptacles to close again after something is taken out."""
KNIVES = those("knife")
IN = those("inside")
"""Receptacles that objects go in; they go on all other ones."""
SYNONYMS: Mapping[str, str] = {said: type for type, thing in THINGS.items() for said in thing.also}
"""Synonyms that the parser accepts."""

PLACES: Mapping[str, tuple[str, ...]] = {
    type: spelled_out(thing.places) for type, thing in THINGS.items() if thing.places
}
"""Object type -> receptacle types."""
LOADS: Mapping[str, tuple[str, ...]] = {
    type: spelled_out(THINGS[type].loads) for type in sorted(THINGS) if THINGS[type].loads
}
"""Movable receptacle -> the types that are put in or on it."""
LIT = that_suit("light")
"""Types that are examined in the light."""


STATES = (
    State("open", ("open", "closed"), "openable", "isOpen", "OpenObject", "CloseObject"),
    State("on", ("on", "off"), "toggleable", "isToggled", "ToggleObjectOn", "ToggleObjectOff"),
    State("dirty", ("dirty", "clean"), "dirtyable", "isDirty", "DirtyObject", "CleanObject"),
    State("filled", ("filled", "unfilled"), "canFillWithLiquid", "isFilledWithLiquid"),
    State("sliced", ("sliced", "whole"), "sliceable", "isSliced", "SliceObject"),
    State("broken", ("broken", "intact"), "breakable", "isBroken", "BreakObject"),
    State("cooked", ("cooked", "uncooked"), "cookable", "isCooked", "CookObject"),
)
