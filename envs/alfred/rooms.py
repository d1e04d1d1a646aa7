"""The 120 rooms of iTHOR: their kinds, the field's split of them, and what stands in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Literal


class Kind(StrEnum):
    """What a room is for."""

    KITCHEN = "kitchen"
    LIVING_ROOM = "living room"
    BEDROOM = "bedroom"
    BATHROOM = "bathroom"


Split = Literal["all", "train", "val", "test"]

_FIRST = {Kind.KITCHEN: 1, Kind.LIVING_ROOM: 201, Kind.BEDROOM: 301, Kind.BATHROOM: 401}
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


def records(room: str) -> Sequence[Mapping[str, Any]]:
    """What is in a room as nobody has changed it, in the form of THOR's `metadata.objects`."""
    from envs.household.rooms import load

    return load(room).objects


def cells(room: str) -> frozenset[tuple[int, int]]:
    """Where one can stand in it: places of the 0.25 m grid, in steps along x and z."""
    from envs.household.rooms import load

    return load(room).cells
