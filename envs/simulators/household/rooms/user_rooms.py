"""Rooms of the user's own, and how a room looks from above."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from inhabit.envs.core import SceneError, Task
from inhabit.envs.scene_plan import Footprint, ScenePlan, area, rectangle
from inhabit.envs.simulators.household.geometry.boxes import Box
from inhabit.envs.simulators.household.rooms import ithor, procedural
from inhabit.envs.simulators.household.rooms.as_in_thor import as_in_thor
from inhabit.envs.simulators.household.rooms.ithor import Metadata, Room

_ENDING = ".json"
_SUFFIX = "_physics"
"""What AI2-THOR's client appends to the names of iTHOR's rooms."""
_ROOMS = "INHABIT_ROOMS"
"""Environment variable with the folder of the user's rooms."""


class _Point(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    x: float
    y: float
    z: float


class _Upright(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    center: _Point
    size: _Point


class _Corners(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    cornerPoints: list[tuple[float, float, float]] = Field(min_length=8, max_length=8)  # noqa: N815


class _Object(BaseModel):
    """The fields of an object that are used, as AI2-THOR 5 writes them."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True, allow_inf_nan=False)

    objectId: str = Field(min_length=1)  # noqa: N815
    objectType: str = Field(min_length=1)  # noqa: N815
    name: str
    assetId: str  # noqa: N815
    position: _Point
    rotation: _Point
    axisAlignedBoundingBox: _Upright  # noqa: N815
    objectOrientedBoundingBox: _Corners | None  # noqa: N815
    receptacle: bool
    pickupable: bool
    moveable: bool
    openable: bool
    isOpen: bool  # noqa: N815
    openness: float
    toggleable: bool
    isToggled: bool  # noqa: N815
    breakable: bool
    isBroken: bool  # noqa: N815
    canFillWithLiquid: bool  # noqa: N815
    isFilledWithLiquid: bool  # noqa: N815
    fillLiquid: str | None  # noqa: N815
    dirtyable: bool
    isDirty: bool  # noqa: N815
    cookable: bool
    isCooked: bool  # noqa: N815
    sliceable: bool
    isSliced: bool  # noqa: N815
    canBeUsedUp: bool  # noqa: N815
    isUsedUp: bool  # noqa: N815
    isPickedUp: bool  # noqa: N815
    temperature: str
    mass: float
    parentReceptacles: list[str] | None  # noqa: N815
    receptacleObjectIds: list[str] | None  # noqa: N815
    controlledObjects: list[str] | None = None  # noqa: N815


class Catalog:
    """The available rooms: iTHOR's and the user's own."""

    def __init__(
        self, folder: Path | None = None, *, recorded: bool = False, as_thor: bool = False
    ) -> None:
        """List the available rooms.

        Args:
            folder: of the user's own rooms.
            recorded: whether one can stand in iTHOR's rooms where THOR's own agent could.
            as_thor: whether iTHOR's rooms have the names, ids and start poses of AI2-THOR 5.0.0,
                and not those that tasks of `inhabit` were made with.

        Raises:
            SceneError: there is no such folder, nothing in it, or a name of AI2-THOR's in it.
        """
        self._files = {} if folder is None else files(folder)
        self.recorded = recorded
        self.as_thor = as_thor

    @classmethod
    def of(cls, folder: str, *, recorded: bool = False, as_thor: bool = False) -> Catalog:
        """A catalog of a folder by its name; if empty, of the one in INHABIT_ROOMS, if any.

        Raises:
            SceneError: as above.
        """
        named = folder or os.environ.get(_ROOMS)
        return cls(Path(named) if named else None, recorded=recorded, as_thor=as_thor)

    @property
    def names(self) -> Sequence[str]:
        """Names of all rooms, iTHOR's first."""
        return [*ithor.SCENES, *self._files]

    @property
    def own(self) -> Sequence[str]:
        """Names of the user's own rooms."""
        return list(self._files)

    def load(self, scene: str) -> Room:
        """Load a room by its name, with or without THOR's "_physics".

        Raises:
            SceneError: there is no such room, or its file cannot be read.
            UnavailableError: the rooms' package is missing, or the recorded cells.
        """
        if scene == procedural.NAME:
            return procedural.empty()
        path = self._files.get(scene.removesuffix(_SUFFIX))
        if path is not None:
            return read(path)
        room = ithor.load(scene, recorded=self.recorded)
        return as_in_thor(room) if self.as_thor else room


def in_build(room: str) -> str:
    """The client's name of a room; it adds a suffix to iTHOR's names."""
    return f"{room}{_SUFFIX}" if room in ithor.SCENES else room


def files(folder: Path) -> dict[str, Path]:
    """The files of the rooms in a folder, by name.

    Raises:
        SceneError: there is no such folder, nothing in it, or a name of AI2-THOR's in it.
    """
    if not folder.is_dir():
        raise SceneError(f"Found no folder {str(folder)!r} with rooms.")
    found = {path.stem: path for path in sorted(folder.glob(f"*{_ENDING}"))}
    if not found:
        raise SceneError(f"Found no rooms in {str(folder)!r}: rooms are files *{_ENDING}.")
    theirs = {*ithor.SCENES, procedural.NAME}
    taken = [name for name in found if name in theirs or name.endswith(_SUFFIX)]
    if taken:
        raise SceneError(
            f"{found[taken[0]]} can't have the name of an iTHOR room, {procedural.NAME!r}, or one "
            f"that ends in {_SUFFIX!r}. Rename the file."
        )
    return found


def read(path: Path) -> Room:
    """Load a room from a file.

    Raises:
        SceneError: names the file, and what is wrong with it.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise SceneError(f"Can't read {path}: {error}.") from error
    if isinstance(content, dict) and "rooms" in content:
        try:
            return procedural.build(content, path.stem)
        except SceneError as error:
            raise SceneError(f"{path}: {error}") from error
    objects = content.get("objects") if isinstance(content, dict) else None
    if not isinstance(objects, list):
        raise SceneError(
            f"{path} is not a room: it has no list of objects. Save `event.metadata` as JSON."
        )
    return ithor.unpack(path.stem, ithor.prepare(_checked(path, objects)))


def _checked(path: Path, objects: list[Any]) -> list[Metadata]:
    ids = (o.get("objectId") for o in objects if isinstance(o, dict))
    known = {id for id in ids if isinstance(id, str)}
    if len(known) < len(objects):
        raise SceneError(f"{path}: an object has no objectId, or two objects have the same one.")
    for number, one in enumerate(objects):
        try:
            _Object.model_validate(one)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(map(str, ("objects", number, *first["loc"])))
            raise SceneError(
                f"{path}: {field}: {first['msg']}. Save the metadata with AI2-THOR 5.0.0; other "
                "releases have different fields."
            ) from error
    if not any(o["objectType"] == "Floor" for o in objects):
        raise SceneError(f"{path}: no object has the type Floor.")
    return [_closed(o, known) for o in objects]


def _closed(one: Metadata, known: set[str]) -> Metadata:
    """An object whose references all exist, with nothing held."""
    links = ("parentReceptacles", "receptacleObjectIds", "controlledObjects")
    kept = {
        key: [id for id in one[key] if id in known] if one.get(key) is not None else None
        for key in links
    }
    return {**one, **kept, "isPickedUp": False}


_LEAST = 0.06
"""Square metres that furniture covers at least."""
_HIGHEST = 1.2
"""Metres above the floor at which furniture begins at most; shelves on walls are left out."""
_NOT_FURNITURE = frozenset(
    (
        "Blinds",
        "Cabinet",
        "Curtains",
        "Drawer",
        "Floor",
        "LightSwitch",
        "Mirror",
        "Painting",
        "ShowerCurtain",
        "ShowerGlass",
        "StoveBurner",
        "Window",
    )
)
"""Types that are part of a wall or of other furniture."""


def plan_view(task: Task, names: Callable[[Room], Mapping[str, str]]) -> ScenePlan | None:
    """A task's iTHOR room in its initial state, seen from above; records have the poses.

    Args:
        task: in that room.
        names: gives THOR's id -> the name that actions use.

    Returns:
        None for another room.

    Raises:
        UnavailableError: the rooms' package is missing.
    """
    where = task.scene.get("room")
    if not isinstance(where, str) or where not in ithor.SCENES:
        return None
    room = Catalog().load(where)
    named = names(room)
    low, high = room.outline.low, room.outline.high
    walls = rectangle(
        (low[0] + high[0]) / 2,
        (low[1] + high[1]) / 2,
        (high[0] - low[0]) / 2,
        (high[1] - low[1]) / 2,
    )
    found = [
        Footprint(named.get(metadata["objectId"], ""), _corners(part))
        for metadata, box in zip(room.objects, room.boxes, strict=True)
        if not metadata["pickupable"]
        and metadata["objectType"] not in _NOT_FURNITURE
        and float(box.low[1]) - room.outline.floor <= _HIGHEST
        for part in room.strips.get(metadata["objectId"]) or (box,)
    ]
    furniture = [one for one in found if area(one) >= _LEAST]
    furniture.sort(key=area, reverse=True)
    return ScenePlan(rooms=(Footprint("", walls),), furniture=tuple(furniture))


def _corners(box: Box) -> tuple[tuple[float, float], ...]:
    x, _, z = (float(at) for at in box.center)
    half_x, half_z = float(box.half[0]), float(box.half[2])
    along = [box.axes @ (dx * half_x, 0.0, dz * half_z) for dx, dz in _AROUND]
    return tuple((x + float(by[0]), z + float(by[2])) for by in along)


_AROUND = ((-1, -1), (1, -1), (1, 1), (-1, 1))
