"""Actions at points of the image and of the room: rays, pushes, placing."""

from __future__ import annotations

from collections.abc import Mapping
from math import atan2, cos, degrees, hypot, radians, sin, tan
from typing import Any

import numpy as np
from pydantic import JsonValue

from inhabit.envs.simulators.household.actions.arguments import (
    ActionFunction,
    Number,
    Refusal,
    ThorAction,
    Vector,
    demand,
    target,
)
from inhabit.envs.simulators.household.actions.arranging import walkable
from inhabit.envs.simulators.household.actions.handling import let_go
from inhabit.envs.simulators.household.episode.house import House, shown
from inhabit.envs.simulators.household.geometry.boxes import Array, Box, xyz
from inhabit.envs.simulators.household.geometry.boxes import rotation as axes_of
from inhabit.envs.simulators.household.placement import placing
from inhabit.envs.simulators.household.placement.surfaces import surface
from inhabit.envs.simulators.household.state.agent import FAR_PLANE
from inhabit.envs.simulators.household.state.world import SimObject
from inhabit.envs.simulators.render.camera import Camera
from inhabit.envs.simulators.render.stage import Frame

_APART = 0.1
"""Metres between two points on a receptacle."""
_TOUCHING = 0.01
"""Metres that two things may be in each other."""


def spawn_points(house: House, *, object_id: str, anywhere: bool = True) -> JsonValue:
    """Points on a receptacle where a thing can be placed, as {x, y, z}.

    Without `anywhere`, those alone that are in view and in reach of the agent.
    """
    thing = target(house, object_id, force=True)
    demand(bool(thing["receptacle"]), f"{object_id} is not a Receptacle")
    ground = surface(house.world, thing)
    found: list[dict[str, float]] = [
        {"x": float(x), "y": ground.height, "z": float(z)}
        for area in ground.areas
        for x, z in _grid(area)
    ]
    if not anywhere:
        found = [point for point in found if _in_view(house, point)]
    return [dict[str, JsonValue](point) for point in found]


def _grid(area: Box) -> Array:
    sides = [axis for axis in range(3) if axis != area.up]
    steps = [np.arange(-area.half[s] + 0.02, area.half[s] - 0.019, _APART) for s in sides]
    u, v = np.meshgrid(*steps, indexing="ij")
    plane = area.axes[[0, 2]][:, sides]
    return np.asarray(area.center[[0, 2]] + np.stack((u.ravel(), v.ravel()), axis=1) @ plane.T)


def _in_view(house: House, point: Mapping[str, float]) -> bool:
    eye, camera = np.array(house.agent.eye), house.camera()
    x, y, z = camera.axes @ (np.array((point["x"], point["y"], point["z"])) - eye)
    up = np.tan(np.radians(camera.fov) / 2)
    across = up * house.settings.width / house.settings.height
    near = np.hypot(point["x"] - eye[0], point["z"] - eye[2])
    seen = z > 0 and abs(x) <= across * z and abs(y) <= up * z
    return bool(seen and near <= house.settings.visibility_distance)


def place_at(
    house: House,
    *,
    object_id: str,
    position: Vector,
    rotation: Vector | None = None,
    force_action: bool = False,
) -> None:
    """Set a thing down with the middle of its base at a point, if nothing is there."""
    world = house.world
    thing = target(house, object_id, force=True)
    demand(
        bool(thing["pickupable"] or thing["moveable"]),
        f"{object_id} is not Moveable or Pickupable, and can't be placed.",
    )
    outline = world.room.outline
    demand(
        outline.holds(position.x, position.z) and outline.floor - 0.1 <= position.y,
        f"({position.x:g}, {position.y:g}, {position.z:g}) is outside the room.",
    )
    axes = thing.box.axes if rotation is None else _turned(rotation)
    box = Box(np.zeros(3), thing.box.half, axes)
    center = np.array((position.x, position.y + float(box.reach[1]), position.z))
    box = Box(center, thing.box.half, axes)
    if not force_action and (other := _in_the_way(house, thing, box)):
        raise Refusal(f"Spawn area not clear ({other}), can't place object at that point")
    if house.agent.held == object_id:
        let_go(house)
    _in_no_hand(house, object_id)
    own = {object_id, *world.within(object_id)}
    placing.put(world, object_id, box, placing.support(world, box, ignoring=own))
    if not thing["pickupable"]:
        world.cells = walkable(world)


def teleport_object(
    house: House,
    *,
    object_id: str,
    rotation: Vector,
    position: Vector | None = None,
    positions: list[Vector] | None = None,
    force_action: bool = False,
    allow_teleport_out_of_hand: bool = False,
) -> None:
    """Move a thing, without its contents, to a pose in the air or on something, if it is free.

    Of several `positions`, to the first that is free.
    """
    world, thing = house.world, target(house, object_id, force=True)
    wanted = positions or ([position] if position else [])
    if not wanted:
        text = "Action: TeleportObject is missing the following arguments: position."
        raise Refusal(text, "MissingArguments")
    demand(
        bool(thing["pickupable"] or thing["moveable"]),
        f"{object_id} is not Moveable or Pickupable, and can't be teleported.",
    )
    in_hand = house.agent.held == object_id
    demand(not in_hand or allow_teleport_out_of_hand, "Cannot teleport object in hand.")
    axes = _turned(rotation) if thing["objectOrientedBoundingBox"] is not None else thing.box.axes
    places = (np.array((at.x, at.y, at.z)) - axes @ thing.pivot for at in wanted)
    boxes = [Box(place, thing.box.half, axes) for place in places]
    free = (box for box in boxes if force_action or not _in_the_way(house, thing, box))
    box = next(free, None)
    if box is None:
        other = _in_the_way(house, thing, boxes[0])
        raise Refusal(f"{object_id} is in the way of {other} there, and wasn't teleported.")
    if in_hand:
        let_go(house)
    _in_no_hand(house, object_id)
    world.move(thing, box, posed=True)
    world.change(object_id, isPickedUp=False)
    for inner in world.put_in(object_id):  # it stays where it is
        own = {inner, *world.within(inner)}
        world.link(inner, ())
        on = placing.support(world, world.things[inner].box, ignoring=own)
        placing.rest(world, inner, on)
    own = {object_id, *world.within(object_id)}
    placing.rest(world, object_id, placing.support(world, box, ignoring=own))
    if not thing["pickupable"]:
        world.cells = walkable(world)


def _in_no_hand(house: House, object_id: str) -> None:
    demand(object_id not in house.world.in_hands, f"{object_id} is in an agent's hand.")


def _turned(turn: Vector) -> Array:
    return np.asarray(axes_of(turn.model_dump()))


def _in_the_way(house: House, thing: SimObject, box: Box) -> str:
    """The name of something that is where a box would be; empty if nothing is."""
    own = {thing.id, *house.world.within(thing.id)}
    for other in house.world.things.values():
        if other.id in own or not other["pickupable"] or house.world.hidden(other.id):
            continue
        if other.id in house.world.in_hands:
            continue
        apart = np.abs(other.box.center - box.center) - other.box.reach - box.reach
        if (apart < -_TOUCHING).all():
            return str(other["name"])
    return ""


_NARROW = 2.0
"""Field of view, in degrees, of a camera that looks along a line."""


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
    name, _ = _hit_between(house, origin, destination)
    return name


def cast(house: House, *, origin: Vector, destination: Vector) -> JsonValue:
    """The first thing on the way between two places, and where, in metres, the line meets it."""
    name, place = _hit_between(house, origin, destination)
    return {**dict(xyz(place)), "objectId": name}


def _hit_between(
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


def visible_objects(
    house: House,
    *,
    max_distance: Number | None = None,
    third_party_camera_index: int | None = None,
) -> JsonValue:
    """The ids of all that is visible: within `visibilityDistance`, or `maxDistance`, in metres.

    With `thirdPartyCameraIndex`, that such a camera shows, by its distance from the camera.
    """
    if third_party_camera_index is None:
        frame, (x, _, z) = house.see(rgb=False), house.agent.eye
    elif 0 <= third_party_camera_index < len(house.cameras):
        frame = house.film(rgb=False)[third_party_camera_index]
        x, _, z = house.cameras[third_party_camera_index].position
    else:
        raise Refusal(
            f"There is no third-party camera {third_party_camera_index}: there are "
            f"{len(house.cameras)}."
        )
    far = house.settings.visibility_distance if max_distance is None else max_distance
    if third_party_camera_index is None and max_distance is None:
        return [name for name, sight in house.sights().items() if sight.visible]
    in_view = shown(frame)
    things = house.world.listed().values()
    return [t.id for t in things if t.id in in_view and t.box.distance_from_axis(x, z) <= far]


_PER_NEWTON = 0.005
"""Metres that a push of one newton moves a kilogram."""
_FARTHEST = 1.0
"""Metres that a push moves a thing at most."""


def _along(degrees: float) -> ActionFunction:
    """A push in a direction relative to where the agent looks."""

    def push(
        house: House,
        *,
        object_id: str,
        move_magnitude: Number | None = None,
        force_action: bool = False,
    ) -> None:
        directional(
            house,
            object_id=object_id,
            move_magnitude=move_magnitude,
            push_angle=degrees,
            force_action=force_action,
        )

    return push


def directional(
    house: House,
    *,
    object_id: str,
    push_angle: Number,
    move_magnitude: Number | None = None,
    force_action: bool = False,
) -> None:
    """Push a thing at an angle to where the agent looks, in newtons."""
    thing = target(house, object_id, force=force_action)
    demand(
        bool(thing["pickupable"] or thing["moveable"]),
        "Target SimObjPhysics is not Moveable or Pickupable, and thus can't be pushed.",
    )
    _in_no_hand(house, object_id)
    demand(0.0 <= push_angle < 360.0, "pushAngle must be in [0:360)")
    force = 100.0 if move_magnitude is None else move_magnitude
    demand(force >= 0.0, f"moveMagnitude can't be negative: {force:g}.")
    far = min(_FARTHEST, _PER_NEWTON * force / max(float(thing["mass"]), 0.1))
    angle = radians(house.agent.rotation + push_angle)
    _slide(house, thing, np.array((sin(angle), 0.0, cos(angle))) * far)


def _slide(house: House, thing: SimObject, way: Array) -> None:
    world, outline = house.world, house.world.room.outline
    center = thing.box.center + way
    for axis, side in ((0, 0), (2, 1)):
        low, high = outline.low[side] + thing.box.reach[axis], outline.high[side]
        center[axis] = np.clip(center[axis], low, max(low, high - thing.box.reach[axis]))
    if thing["pickupable"]:
        box, onto = placing.drop(world, thing, center)
        placing.put(world, thing.id, box, [onto.id])
    else:
        placing.carry(world, thing.id, Box(center, thing.box.half, thing.box.axes))
        world.cells = walkable(world)
    world.stir(thing.id)


def touch(
    house: House,
    *,
    x: Number,
    y: Number,
    direction: Vector,
    force: Number,
    hand_distance: Number = 1.5,
) -> JsonValue:
    """Push what is seen at a point of the image, in a direction as the agent sees it."""
    try:
        name = str(object_in_frame(house, x=x, y=y))
    except Refusal:
        return {"didHandTouchSomething": False, "objectId": "", "armsLength": hand_distance}
    thing = house.world.things[name]
    apart = thing.box.distance_from_axis(house.agent.x, house.agent.z)
    touched = apart <= hand_distance
    if touched and (thing["pickupable"] or thing["moveable"]) and name not in house.world.in_hands:
        turn = radians(house.agent.rotation)
        ahead, right = direction.z, direction.x
        way = np.array(
            (ahead * sin(turn) + right * cos(turn), 0.0, ahead * cos(turn) - right * sin(turn))
        )
        length = float(np.linalg.norm(way))
        far = min(_FARTHEST, _PER_NEWTON * max(force, 0.0) / max(float(thing["mass"]), 0.1))
        _slide(house, thing, way / max(length, 1e-6) * far)
    return {
        "didHandTouchSomething": touched,
        "objectId": name if touched else "",
        "armsLength": apart if touched else hand_distance,
        "point": dict(xyz(thing.box.center)),
    }


ACTIONS: Mapping[str, ActionFunction] = {
    "GetSpawnCoordinatesAboveReceptacle": spawn_points,
    "PlaceObjectAtPoint": place_at,
    "TeleportObject": teleport_object,
    "PushObject": _along(0.0),
    "PullObject": _along(180.0),
    "DirectionalPush": directional,
    "TouchThenApplyForce": touch,
    "GetObjectInFrame": object_in_frame,
    "GetCoordinateFromRaycast": coordinate,
    "GetObjectHitFromRaycast": hit,
    "PerformRaycast": cast,
    "GetVisibleObjects": visible_objects,
}
