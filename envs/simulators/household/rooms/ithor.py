"""iTHOR's 120 rooms from the `procthor` package, prepared once and cached."""

from __future__ import annotations

import difflib
import fcntl
import hashlib
import inspect
import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import msgpack
import numpy as np

from inhabit.envs.cache import cache_home
from inhabit.envs.core import SceneError, UnavailableError
from inhabit.envs.simulators.household.geometry import boxes, fronts, grid
from inhabit.envs.simulators.household.geometry.boxes import Box, Cell, Outline, Solid
from inhabit.envs.simulators.household.geometry.grid import (
    recorded_cells,
    recorded_folder,
    region,
)
from inhabit.envs.simulators.household.types.things import those

Metadata = dict[str, Any]
"""One object as in AI2-THOR's `metadata["objects"]`. Immutable."""

_KINDS = {"kitchens": 0, "living_rooms": 200, "bedrooms": 300, "bathrooms": 400}
_PER_KIND = 30
_HABITS = "habits.msgpack"

SCENES = tuple(f"FloorPlan{base + i}" for base in _KINDS.values() for i in range(1, _PER_KIND + 1))
"""FloorPlan1..30 are kitchens, 201..230 living rooms, 301..330 bedrooms, 401..430 bathrooms."""


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """A room in its initial state."""

    name: str
    """Name of the room, such as "FloorPlan1"."""
    objects: tuple[Metadata, ...]
    boxes: tuple[Box, ...]
    """Boxes of the objects, in the same order; +z of each is its front."""
    outline: Outline
    strips: Mapping[str, tuple[Box, ...]]
    """The parts of counters around corners, by id."""
    cells: frozenset[Cell]
    """The cells where the agent can stand."""
    forwards: Mapping[str, Box] = field(default_factory=dict)
    """Boxes, by id, of the doors and drawers that AI2-THOR opens to another side than `boxes`."""
    start: tuple[float, float, float, float] | None = None
    """Where AI2-THOR's agent starts: x, y and z in metres, rotation in degrees; None if it is not
    known."""

    @property
    def placed(self) -> Mapping[str, Box]:
        """Every object's box, by id."""
        return {o["objectId"]: box for o, box in zip(self.objects, self.boxes, strict=True)}

    def furniture(self) -> Iterator[Solid]:
        """The obstacles that cannot be picked up. The others are elsewhere in every episode."""
        fixed = {
            o["objectId"]: box
            for o, box in zip(self.objects, self.boxes, strict=True)
            if not o["pickupable"]
        }
        return self.solids(fixed)

    def solids(self, boxes: Mapping[str, Box]) -> Iterator[Solid]:
        """The obstacles, with the current boxes of the objects, by id.

        An object without a box has been removed.
        """
        for metadata in self.objects:
            name, kind = metadata["objectId"], metadata["objectType"]
            for box in self.parts(name, boxes[name]) if name in boxes else ():
                yield Solid(kind, box)

    def parts(self, id: str, box: Box) -> tuple[Box, ...]:
        """The boxes of an object's parts, which go where its own box is now."""
        strips = self.strips.get(id) or (box,)
        if id not in self.strips or any(box is one for one in self.boxes):
            return strips
        first = self.placed[id]
        turn, share = box.axes @ first.axes.T, float(box.half.max() / max(first.half.max(), 1e-9))
        about = (part.about(turn, first.center, box.center) for part in strips)
        return tuple(
            Box(box.center + (part.center - box.center) * share, part.half * share, part.axes)
            for part in about
        )


def load(scene: str, *, recorded: bool = False) -> Room:
    """Load a room by its name, with or without THOR's "_physics".

    Args:
        scene: its name.
        recorded: whether the agent can stand where THOR's own could, as far as that is known, and
            not where our rule computes it from boxes, which is the same on every machine.

    Raises:
        SceneError: there is no such room. Names the nearest ones.
        UnavailableError: the rooms' package is missing, or the cache cannot be written; or the
            recorded cells are wanted and not installed.
    """
    name = scene.removesuffix("_physics")
    if name not in SCENES:
        raise SceneError(f"There is no room {scene!r}. {_suggestion(name)}")
    room = unpack(name, msgpack.unpackb((_cache() / f"{name}.msgpack").read_bytes()))
    if not recorded:
        return room
    if recorded_folder() is None:
        raise UnavailableError(
            "The recorded cells need the package alfworld, which is not installed. Run "
            "`inhabit setup alfred`, or pass --set cells=computed."
        )
    real = recorded_cells(name)
    if real is None:
        return room
    cells = region(real, room.furniture(), room.outline, beside=grid.BESIDE)
    return replace(room, cells=cells)


def unpack(name: str, packed: Mapping[str, Any]) -> Room:
    """A room from its prepared file."""
    walls = packed["outline"]
    return Room(
        name,
        tuple(packed["objects"]),
        tuple(_box(numbers) for numbers in packed["boxes"]),
        Outline(tuple(walls["low"]), tuple(walls["high"]), walls["floor"], walls["ceiling"]),
        {
            name: tuple(_box(numbers) for numbers in parts)
            for name, parts in packed["strips"].items()
        },
        frozenset((column, row) for column, row in packed["cells"]),
        {name: _box(numbers) for name, numbers in packed["forwards"].items()},
    )


def habits() -> Mapping[str, Sequence[str]]:
    """Object type -> the receptacle types on or in which it occurs, over all rooms.

    Raises:
        UnavailableError: the rooms' package is missing, or the cache cannot be written.
    """
    found: Mapping[str, Sequence[str]] = msgpack.unpackb((_cache() / _HABITS).read_bytes())
    return found


def _suggestion(name: str) -> str:
    near = difflib.get_close_matches(name, SCENES, n=3)
    if near:
        return f"Did you mean {', '.join(near)}?"
    return "Rooms are FloorPlan1..30, 201..230, 301..330 and 401..430."


def _box(numbers: list[float]) -> Box:
    values = np.array(numbers)
    return Box(values[:3], values[3:6], values[6:].reshape(3, 3))


def _cache() -> Path:
    """The folder of this version's prepared rooms, created on first use."""
    source = _source()
    home = cache_home()
    folder = home / f"rooms-{_version(source.stat().st_size)}"
    if folder.is_dir():
        return folder
    try:
        home.mkdir(parents=True, exist_ok=True)
        with (home / "rooms.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # a second process finds the work done
            if not folder.is_dir():
                _fill(folder, source)
    except OSError as error:
        raise UnavailableError(
            f"Can't prepare the rooms in {home}: {error}. Set XDG_CACHE_HOME to a writable folder."
        ) from error
    return folder


def _source() -> Path:
    return databases() / "ai2thor-object-metadata.json"


def databases() -> Path:
    """The folder of the package procthor that holds its data.

    Raises:
        UnavailableError: it is not installed.
    """
    spec = find_spec("procthor")  # found, not imported: importing it brings in half of matplotlib
    for place in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(place) / "databases"
        if (folder / "ai2thor-object-metadata.json").is_file():
            return folder
    raise UnavailableError(
        "The rooms need the package procthor 0.0.1.dev2, which is not installed. "
        "Run: pip install procthor==0.0.1.dev2"
    )


@cache
def _version(size: int) -> str:
    """A fingerprint of the data, of this code's version and of the types' fronts."""
    code: tuple[ModuleType | Any, ...] = (boxes, grid, fronts, prepare, _fill)
    text = "".join(inspect.getsource(part) for part in code)
    kinds = [sorted(those(trait)) for trait in ("turned_right", "carcass", "hung")]
    return hashlib.sha256(f"{size} {text} {kinds}".encode()).hexdigest()[:12]


def _fill(folder: Path, source: Path) -> None:
    """Prepare every room beside `folder`, then rename it atomically."""
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".rooms-") as temporary:
        drafts = Path(temporary) / "rooms"
        drafts.mkdir()
        found: dict[str, set[str]] = {}
        for name, objects in dump(source):
            packed = msgpack.packb(prepare(objects))
            (drafts / f"{name}.msgpack").write_bytes(packed)
            kinds = {o["objectId"]: o["objectType"] for o in objects}
            for o in objects:
                places = (kinds[parent] for parent in o["parentReceptacles"] or ())
                found.setdefault(o["objectType"], set()).update(places)
        sorted_ = {kind: sorted(places) for kind, places in sorted(found.items())}
        (drafts / _HABITS).write_bytes(msgpack.packb(sorted_))
        drafts.rename(folder)


def dump(source: Path) -> Iterator[tuple[str, list[Metadata]]]:
    """The rooms in procthor's file, decoded one by one: all at once would take 400 MB."""
    text = source.read_text(encoding="utf-8")
    decode = json.JSONDecoder().raw_decode
    for kind, base in _KINDS.items():
        opening = re.search(rf'"{kind}"\s*:\s*\[', text)
        if opening is None:
            raise UnavailableError(f"{source} has no {kind}: it is not from procthor 0.0.1.dev2.")
        at = opening.end()
        for number in range(1, _PER_KIND + 1):
            start = text.index("[", at)
            objects, at = decode(text, start)
            yield f"FloorPlan{base + number}", objects


def prepare(objects: list[Metadata], *, whole_floor: bool = False) -> Mapping[str, Any]:
    """The content of a prepared room's file.

    Args:
        objects: of the room.
        whole_floor: whether it is as large as its floor, and not as what stands along its walls.
    """
    plain = {o["objectId"]: boxes.read_box(o) for o in objects}
    walls = boxes.outline(Solid(o["objectType"], plain[o["objectId"]]) for o in objects)
    if whole_floor:
        floor = next(plain[o["objectId"]] for o in objects if o["objectType"] == "Floor")
        (x0, _, z0), (x1, _, z1) = floor.low.tolist(), floor.high.tolist()
        walls = replace(walls, low=(x0, z0), high=(x1, z1))
    loose = {o["objectId"] for o in objects if o["pickupable"] or o["moveable"]}
    parts = {
        o["objectId"]: boxes.strips(
            plain[o["objectId"]],
            walls,
            [plain[inner].center for inner in o["receptacleObjectIds"] or () if inner in loose],
        )
        for o in objects
        if o["objectType"] in boxes.CORNERED
    }
    solids = [
        Solid(o["objectType"], box)
        for o in objects
        for box in parts.get(o["objectId"], [plain[o["objectId"]]])
    ]
    cells = grid.reachable(solids, walls)
    known = fronts.built_in(objects)
    faced = {o["objectId"]: fronts.face(o, cells, walls, known) for o in objects}
    forwards = fronts.opened_forwards(objects, faced, cells, walls)
    return {
        "objects": objects,
        "boxes": [_numbers(faced[o["objectId"]]) for o in objects],
        "forwards": {name: _numbers(box) for name, box in forwards.items()},
        "outline": {
            "low": walls.low,
            "high": walls.high,
            "floor": walls.floor,
            "ceiling": walls.ceiling,
        },
        "strips": {name: [_numbers(box) for box in made] for name, made in parts.items()},
        "cells": sorted(cells),
    }


def _numbers(box: Box) -> list[float]:
    return [*box.center.tolist(), *box.half.tolist(), *box.axes.ravel().tolist()]
