"""What the rooms differ in from AI2-THOR's own, in this release and an older one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from inhabit.envs.simulators.household.geometry import grid
from inhabit.envs.simulators.household.geometry.boxes import (
    STEP,
    Array,
    Box,
    Cell,
    angles,
    box_metadata,
    rotation,
    vector,
    xyz,
)
from inhabit.envs.simulators.household.rooms.ithor import Metadata, Room

TABLE = Path(__file__).with_name("as_in_thor.json")
"""Room -> "start" [x, y, z, rotation]; "names": the last eight letters of every object's name, in
the order of the room's objects and then of "added"; "called": the first part of a name by its
number, where it is not that of the older build; "renamed": old id -> id; "added": id -> the old id
of an object like it."""
_DIGITS = 8


class Start(NamedTuple):
    """Where AI2-THOR's agent starts."""

    x: float
    y: float
    z: float
    """Position: x, y (up), z, in metres."""
    rotation: float
    """Rotation about the vertical, in degrees."""


def as_in_thor(room: Room) -> Room:
    """An iTHOR room as release 5.0.0 starts it; any other room unchanged."""
    facts = _facts().get(room.name)
    if facts is None:
        return room
    renamed: Mapping[str, str] = facts["renamed"]
    was = {o["objectId"]: o for o in room.objects}
    objects: list[Metadata] = []
    boxes: list[Box] = []
    for old, box in zip(room.objects, room.boxes, strict=True):
        made, placed = _renamed(old, box, renamed)
        objects.append(made)
        boxes.append(placed)
    known = {o["objectId"]: i for i, o in enumerate(objects)}
    for id, like in facts["added"].items():
        made, placed = _at(objects[known[like]], boxes[known[like]], place(id), id)
        objects.append({**made, "parentReceptacles": None})
        boxes.append(placed)
    suffixes = [facts["names"][i : i + _DIGITS] for i in range(0, len(facts["names"]), _DIGITS)]
    start = Start(*facts["start"])
    walked = room.cells | grid.walked().get(room.name, frozenset())
    cells = grid.region(walked, room.furniture(), room.outline)
    return replace(
        room,
        objects=tuple(
            {**o, "name": f"{facts['called'].get(str(i), _first(o))}_{suffix}"}
            for i, (o, suffix) in enumerate(zip(objects, suffixes, strict=True))
        ),
        boxes=tuple(boxes),
        strips={
            renamed.get(id, id): tuple(_renamed(was[id], part, renamed)[1] for part in parts)
            for id, parts in room.strips.items()
        },
        forwards={
            renamed.get(id, id): _renamed(was[id], box, renamed)[1]
            for id, box in room.forwards.items()
        },
        cells=cells | _way_in(start, cells),
        start=start,
    )


def place(id: str) -> Array:
    """The position (3,) in metres that an objectId tells."""
    return np.array([float(number) for number in id.split("|")[1:4]])


def _way_in(start: Start, cells: frozenset[Cell]) -> frozenset[Cell]:
    """The start's cell and those on a straight way from it to the nearest other one."""
    column, row = round(start.x / STEP), round(start.z / STEP)
    to = min(sorted(cells), key=lambda cell: abs(cell[0] - column) + abs(cell[1] - row))
    way = {(column, row)}
    while (column, row) != to:
        if column != to[0]:
            column += 1 if to[0] > column else -1
        else:
            row += 1 if to[1] > row else -1
        way.add((column, row))
    return frozenset(way)


@cache
def _facts() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    return found


def _first(metadata: Metadata) -> str:
    return str(metadata["name"]).split("_")[0]


def _renamed(old: Metadata, box: Box, renamed: Mapping[str, str]) -> tuple[Metadata, Box]:
    """An object under its id of release 5.0.0, at the position that this tells.

    Some positions are a pivot's: that of a faucet, and one at the origin. There the box stays.
    """

    def now(ids: Iterable[str] | None) -> list[str] | None:
        return None if ids is None else [renamed.get(id, id) for id in ids]

    links = ("parentReceptacles", "receptacleObjectIds", "controlledObjects")
    made = {**old, **{key: now(old[key]) for key in links if key in old}}
    id = renamed.get(old["objectId"])
    if id is None:
        return made, box
    if old["objectType"] == "Faucet" or not place(id).any():
        return {**made, "objectId": id}, box
    offset = place(id) - place(old["objectId"])
    return _at(made, box, vector(old["position"]) + offset, id)


def _at(metadata: Metadata, box: Box, position: Array, id: str) -> tuple[Metadata, Box]:
    moved = box.moved(position - vector(metadata["position"]))
    oriented = metadata["objectOrientedBoundingBox"] is not None
    made = {**metadata, **box_metadata(moved, oriented), "position": xyz(position), "objectId": id}
    return made, moved


Triple = tuple[float, float, float]

RENAMED: Mapping[str, str] = {"Glassbottle": "Bottle"}
"""Pickupable types renamed since AI2-THOR 2.1."""
_AXES: Mapping[str, Triple] = {
    "BaseballBat": (0, 0, 180),
    "ButterKnife": (0, 90, 90),
    "Fork": (0, 90, 0),
    "Knife": (0, 270, 0),
    "Ladle": (0, 270, 0),
    "Pen": (0, 90, 0),
    "Pencil": (0, 270, 90),
    "Spatula": (0, 270, 0),
    "Spoon": (0, 90, 0),
    "SprayBottle": (0, 270, 0),
}
"""Degrees about x, y and z from a type's model axes in AI2-THOR 5 to those in 2.1."""


def rotation_today(type: str, recorded: Triple) -> Mapping[str, float]:
    """The rotation {x, y, z} in degrees that reproduces the recorded orientation."""
    turned = rotation(dict(zip("xyz", recorded, strict=True)))
    axes = _AXES.get(type)
    if axes is None:
        return dict(zip("xyz", recorded, strict=True))
    return angles(turned @ rotation(dict(zip("xyz", axes, strict=True))))
