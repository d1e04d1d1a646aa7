"""ProcTHOR houses: scenes that a program hands over as a description (`scene={...}`).

The schema is that of procthor and ai2thor 5.0.0: rooms with floor polygons, walls as polygons,
doors as holes in walls, objects as assets with the centre of their box. Walls are straight and thin
here, doorways have no doors, and there is one floor and one ceiling; windows are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import atan2, degrees, dist, hypot
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from inhabit.envs.core import SceneError
from inhabit.envs.simulators.household.geometry.boxes import (
    STEP,
    Box,
    Cell,
    angles,
    box_metadata,
    rotation,
    xyz,
    yaw,
)
from inhabit.envs.simulators.household.rooms import ithor, templates
from inhabit.envs.simulators.household.rooms.ithor import Metadata, Room

NAME = "Procedural"
"""THOR's scene that holds houses."""
FLOOR = "Floor|+00.00|+00.00|+00.00"
_THICK = 0.04
"""Thickness of a wall, in metres; to each side of it there may be a room."""
_HEIGHT = 2.5
"""Metres, where walls have no height."""
_NEAR = 0.15
"""Metres from a wall's line within which a doorway is in it."""
_LARGEST = 100.0
"""Farthest that a coordinate may be from the origin, in metres."""

Number = Annotated[float, Field(allow_inf_nan=False)]
"""Any finite number."""
Plane = tuple[float, float]
"""x and z, metres."""


class ThorVector(BaseModel):
    """THOR's {x, y, z}, metres."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    x: Number = Field(ge=-_LARGEST, le=_LARGEST)
    y: Number = Field(default=0.0, ge=-_LARGEST, le=_LARGEST)
    z: Number = Field(default=0.0, ge=-_LARGEST, le=_LARGEST)

    @property
    def plane(self) -> Plane:
        """The point as seen from above: x and z, metres."""
        return self.x, self.z


class ThorRotation(BaseModel):
    """Unity's Euler angles, degrees."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    x: Number = 0.0
    y: Number = 0.0
    z: Number = 0.0


class Item(BaseModel):
    """An object and its contents."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str = Field(min_length=1)
    assetId: str = Field(min_length=1)  # noqa: N815
    position: ThorVector
    rotation: ThorRotation = ThorRotation()
    children: list[Item] = []


class Wall(BaseModel):
    """A wall between two corners of a room."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    polygon: list[ThorVector] = Field(min_length=2)
    empty: bool = False


class Extent(BaseModel):
    """The hole of a door: along its wall (x) and upwards (y), metres."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    min: ThorVector
    max: ThorVector


class Door(BaseModel):
    """A door in one wall, or in two that share a line."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    wall0: str
    boundingBox: Extent | None = None  # noqa: N815
    holePolygon: list[ThorVector] | None = None  # noqa: N815


class Area(BaseModel):
    """A room's floor."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    floorPolygon: list[ThorVector] = Field(min_length=3)  # noqa: N815


class HouseDescription(BaseModel):
    """What is used of a house."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    rooms: list[Area] = Field(min_length=1)
    walls: list[Wall] = []
    doors: list[Door] = []
    objects: list[Item] = []


class Opening(BaseModel):
    """A doorway in the world: two points of a wall's line, and its height, metres."""

    model_config = ConfigDict(frozen=True)

    start: Plane
    end: Plane
    height: float


def empty() -> Room:
    """The scene before a house is made: a floor of 4 m x 4 m."""
    corners = [{"x": x, "y": 0, "z": z} for x, z in ((-2, -2), (-2, 2), (2, 2), (2, -2))]
    return build({"rooms": [{"floorPolygon": corners}]})


def build(description: Mapping[str, Any], name: str = NAME) -> Room:
    """The room of a house.

    Args:
        description: of ProcTHOR's schema.
        name: of the room.

    Raises:
        SceneError: the description breaks the schema, names an asset or a wall that does not exist,
            or two objects with one id; or the agent can stand nowhere. Says which.
        UnavailableError: the package procthor is not installed.
    """
    try:
        house = HouseDescription.model_validate(description)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise SceneError(f"The house breaks ProcTHOR's schema: {place}: {first['msg']}.") from error
    objects = [_floor(house), *_walls(house)]
    for item in house.objects:
        objects += _objects(item, None)
    ids = [one["objectId"] for one in objects]
    if len(ids) != len(set(ids)):
        twice = sorted({name for name in ids if ids.count(name) > 1})
        raise SceneError(f"Two objects of the house have the id {twice[0]!r}.")
    room = ithor.unpack(name, ithor.prepare(objects, whole_floor=True))
    areas = [[corner.plane for corner in area.floorPolygon] for area in house.rooms]
    cells = frozenset(cell for cell in room.cells if any(_inside(a, cell) for a in areas))
    if not cells:
        raise SceneError("The house has no position where the agent can stand.")
    return replace(room, cells=cells)


def _inside(area: Sequence[Plane], cell: Cell) -> bool:
    """Whether a cell's centre lies in a polygon (crossing number)."""
    x, z = cell[0] * STEP, cell[1] * STEP
    inside = False
    for (x0, z0), (x1, z1) in zip(area, [*area[1:], area[0]], strict=True):
        if (z0 > z) != (z1 > z) and x < x0 + (z - z0) * (x1 - x0) / (z1 - z0):
            inside = not inside
    return inside


def _floor(house: HouseDescription) -> Metadata:
    corners = np.array([p.plane for area in house.rooms for p in area.floorPolygon])
    low, high = corners.min(axis=0), corners.max(axis=0)
    if (high - low < 1.0).any():
        raise SceneError("The house is less than 1 m wide or deep.")
    center = np.array(((low[0] + high[0]) / 2, -0.005, (low[1] + high[1]) / 2))
    half = np.array(((high[0] - low[0]) / 2, 0.005, (high[1] - low[1]) / 2))
    made = _placed(templates.fixture("Floor"), FLOOR, Box(center, half, np.eye(3)), oriented=False)
    return {**made, "receptacle": True, "receptacleObjectIds": []}


def _walls(house: HouseDescription) -> Iterator[Metadata]:
    openings = [_opening(door, house) for door in house.doors]
    fixture = templates.fixture("Wall")
    drawn: set[frozenset[Plane]] = set()
    for wall in house.walls:
        (start, end), height = _line(wall)
        sides = frozenset((_rounded(start), _rounded(end)))
        if wall.empty or len(sides) < 2 or sides in drawn:
            continue  # the other side of a wall that is there already
        drawn.add(sides)
        for number, (a, b, bottom) in enumerate(_pieces(start, end, openings)):
            name = wall.id if number == 0 else f"{wall.id}|{number}"
            yield _placed(fixture, name, _board(a, b, bottom, height), oriented=True)


def _rounded(point: Plane) -> Plane:
    return round(point[0], 2), round(point[1], 2)


def _line(wall: Wall) -> tuple[tuple[Plane, Plane], float]:
    """Both ends of a wall, and its height."""
    start = wall.polygon[0].plane
    others = [p.plane for p in wall.polygon if dist(p.plane, start) > 0.01]
    heights = [p.y for p in wall.polygon]
    tall = max(heights) - min(heights)
    return (start, others[0] if others else start), tall if tall > 0.1 else _HEIGHT


def _opening(door: Door, house: HouseDescription) -> Opening:
    wall = next((wall for wall in house.walls if wall.id == door.wall0), None)
    if wall is None:
        raise SceneError(
            f"The door {door.id!r} refers to the wall {door.wall0!r}, which does not exist."
        )
    points = door.holePolygon or []
    if door.boundingBox is not None:
        points = [door.boundingBox.min, door.boundingBox.max]
    if len(points) < 2:
        raise SceneError(f"The door {door.id!r} has neither a holePolygon nor a boundingBox.")
    ((x0, z0), (x1, z1)), _ = _line(wall)
    length = max(hypot(x1 - x0, z1 - z0), 1e-6)
    along = [
        (x0 + (x1 - x0) * t, z0 + (z1 - z0) * t)
        for t in (min(p.x for p in points) / length, max(p.x for p in points) / length)
    ]
    return Opening(start=along[0], end=along[1], height=max(p.y for p in points))


def _pieces(
    start: Plane, end: Plane, openings: Sequence[Opening]
) -> Iterator[tuple[Plane, Plane, float]]:
    """What is left of a wall around its doorways: two ends, and the height where it begins."""
    length = hypot(end[0] - start[0], end[1] - start[1])
    way = ((end[0] - start[0]) / length, (end[1] - start[1]) / length)

    def at(far: float) -> Plane:
        return start[0] + far * way[0], start[1] + far * way[1]

    done = 0.0
    for low, high, height in sorted(_cuts(start, way, length, openings)):
        if low > done + 0.01:
            yield at(done), at(low), 0.0
        yield at(low), at(high), height
        done = max(done, high)
    if length > done + 0.01:
        yield at(done), at(length), 0.0


def _cuts(
    start: Plane, way: Plane, length: float, openings: Sequence[Opening]
) -> Iterator[tuple[float, float, float]]:
    for opening in openings:
        ends = []
        for x, z in (opening.start, opening.end):
            dx, dz = x - start[0], z - start[1]
            if abs(dx * way[1] - dz * way[0]) <= _NEAR:
                ends.append(min(max(dx * way[0] + dz * way[1], 0.0), length))
        if len(ends) == 2 and abs(ends[0] - ends[1]) > 0.1:
            yield min(ends), max(ends), opening.height


def _board(start: Plane, end: Plane, bottom: float, height: float) -> Box:
    dx, dz = end[0] - start[0], end[1] - start[1]
    top = max(height, bottom + 0.05)
    center = np.array(((start[0] + end[0]) / 2, (bottom + top) / 2, (start[1] + end[1]) / 2))
    half = np.array((_THICK / 2, (top - bottom) / 2, hypot(dx, dz) / 2))
    return Box(center, half, yaw(degrees(atan2(dx, dz))))


def furnished(item: Item) -> tuple[Metadata, Box]:
    """An object by itself, on and in nothing.

    Raises:
        SceneError: there is no such asset.
        UnavailableError: the package procthor is not installed.
    """
    asset = templates.assets().get(item.assetId)
    if asset is None:
        raise SceneError(
            f"The object {item.id!r} uses the asset {item.assetId!r}, which is not in procthor's "
            "asset database."
        )
    turn = rotation({"x": item.rotation.x, "y": item.rotation.y, "z": item.rotation.z})
    center = np.array((item.position.x, item.position.y, item.position.z))
    box = Box(center, np.array(asset.size) / 2, turn)
    return _placed(templates.template(asset), item.id, box, oriented=True), box


def _objects(item: Item, parent: Item | None) -> Iterator[Metadata]:
    made, _ = furnished(item)
    held = made["receptacle"]
    parents = None if parent is None else [parent.id]
    if parent is None and made["pickupable"]:
        parents = [FLOOR]
    contents = [child.id for child in item.children] if held else None
    yield {**made, "parentReceptacles": parents, "receptacleObjectIds": contents}
    for child in item.children:
        yield from _objects(child, item if held else None)


def _placed(metadata: Metadata, name: str, box: Box, *, oriented: bool) -> Metadata:
    return {
        **metadata,
        **box_metadata(box, oriented),
        "objectId": name,
        "name": name,
        "position": xyz(box.center),
        "rotation": angles(box.axes),
    }
