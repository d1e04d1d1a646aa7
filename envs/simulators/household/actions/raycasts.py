"""What is at a point of the image, or along a line through the scene."""

from __future__ import annotations

from collections.abc import Mapping
from math import atan2, degrees, hypot, radians, tan
from typing import Any

import numpy as np
from pydantic import JsonValue

from inhabit.envs.simulators.household.actions.arguments import (
    ActionFunction,
    Number,
    Refusal,
    ThorAction,
    Vector,
)
from inhabit.envs.simulators.household.episode.house import House
from inhabit.envs.simulators.household.geometry.boxes import xyz
from inhabit.envs.simulators.household.state.cameras import FAR_PLANE
from inhabit.envs.simulators.render.camera import Camera
from inhabit.envs.simulators.render.stage import Frame

_NARROW = 2.0
"""Degrees: the field of view of a camera that looks along a line."""


def at_pixel(house: House, request: Mapping[str, Any], action: ThorAction) -> Mapping[str, Any]:
    """A request that names a thing by a point of the image, with the thing's id instead.

    THOR's interactions take `x` and `y` in the objectId's stead, 0 to 1 from the upper left.

    Raises:
        Refusal: there is no thing at that point.
    """
    pointed = "x" in request and "y" in request and "objectId" not in request
    if not pointed or "objectId" not in action.names or "x" in action.names:
        return request
    x, y = request["x"], request["y"]
    if not all(isinstance(v, int | float) for v in (x, y)):
        raise Refusal(
            f"Action: {action.name} was given x={x!r} and y={y!r}: both must be numbers.",
            "InvalidArgument",
        )
    others = {key: value for key, value in request.items() if key not in ("x", "y")}
    return {**others, "objectId": _thing_at(house, x, y)}


def _thing_at(house: House, x: float, y: float) -> str:
    frame, row, column = _pixel(house, x, y)
    index = int(frame.ids[row, column])
    name = frame.names[index] if index >= 0 else ""
    if name not in house.world.things:
        raise Refusal(f"No SimObject found at (x: {x}, y: {y})")
    return name


def _pixel(house: House, x: float, y: float) -> tuple[Frame, int, int]:
    if not (0 <= x <= 1 and 0 <= y <= 1):
        raise Refusal("x/y must be in [0:1]")
    frame = house.see(rgb=False)
    height, width = frame.ids.shape
    return frame, min(int(y * height), height - 1), min(int(x * width), width - 1)


def object_in_frame(
    house: House, *, x: Number, y: Number, check_visible: bool = False
) -> JsonValue:
    """The id of the thing at a point of the image."""
    name = _thing_at(house, x, y)
    if check_visible and not house.sights()[name].visible:
        raise Refusal(f"target hit ({name}) at ({x}, {y}) is not currently Visible to Agent")
    return name


def coordinate(house: House, *, x: Number, y: Number) -> JsonValue:
    """The place in the world, metres, that is seen at a point of the image."""
    frame, row, column = _pixel(house, x, y)
    height, width = frame.ids.shape
    camera = house.camera()
    focal = height / 2 / tan(radians(camera.fov) / 2)
    depth = min(float(frame.depth[row, column]), camera.far, FAR_PLANE + camera.near)
    ahead = np.array((column + 0.5 - width / 2, height / 2 - row - 0.5, focal)) / focal
    return dict(xyz(np.array(camera.position) + depth * ahead @ camera.axes))


def hit(house: House, *, origin: Vector, destination: Vector) -> JsonValue:
    """The id of the first thing on the way from one place to another, and beyond."""
    name, _ = _along(house, origin, destination)
    return name


def cast(house: House, *, origin: Vector, destination: Vector) -> JsonValue:
    """The same with the place, metres, where the line meets the thing."""
    name, place = _along(house, origin, destination)
    return {**dict(xyz(place)), "objectId": name}


def _along(
    house: House, origin: Vector, destination: Vector
) -> tuple[str, np.ndarray[Any, np.dtype[np.float64]]]:
    start = np.array((origin.x, origin.y, origin.z))
    way = np.array((destination.x, destination.y, destination.z)) - start
    if not way.any():
        raise Refusal("origin and destination are the same place.")
    x, y, z = way.tolist()
    yaw, pitch = degrees(atan2(x, z)) % 360.0, degrees(atan2(-y, hypot(x, z)))
    frame = house.look(Camera((origin.x, origin.y, origin.z), yaw, pitch, _NARROW), (3, 3))
    index = int(frame.ids[1, 1])
    name = frame.names[index] if index >= 0 else ""
    if name not in house.world.things:
        line = f"from {start.tolist()} to {(start + way).tolist()}"
        raise Refusal(f"Raycast {line} failed to hit any target object!")
    return name, start + float(frame.depth[1, 1]) * way / np.linalg.norm(way)


def visible_objects(house: House) -> JsonValue:
    """The ids of all that is visible."""
    return [name for name, sight in house.sights().items() if sight.visible]


ACTIONS: Mapping[str, ActionFunction] = {
    "GetObjectInFrame": object_in_frame,
    "GetCoordinateFromRaycast": coordinate,
    "GetObjectHitFromRaycast": hit,
    "PerformRaycast": cast,
    "GetVisibleObjects": visible_objects,
}
