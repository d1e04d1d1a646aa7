"""Placing a thing at a point that is given, and the points that a receptacle offers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from pydantic import JsonValue

from inhabit.envs.simulators.household.actions.arguments import ActionFunction, Refusal, Vector
from inhabit.envs.simulators.household.actions.arranging import walkable
from inhabit.envs.simulators.household.actions.handling import let_go
from inhabit.envs.simulators.household.actions.targets import demand, target
from inhabit.envs.simulators.household.episode.house import House
from inhabit.envs.simulators.household.geometry.boxes import Array, Box
from inhabit.envs.simulators.household.geometry.boxes import rotation as axes_of
from inhabit.envs.simulators.household.placement import placing
from inhabit.envs.simulators.household.placement.surfaces import surface
from inhabit.envs.simulators.household.state.world import SimObject

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
    force_kinematic: bool = False,
) -> JsonValue:
    """Set a thing down with the middle of its base at a point, if nothing is there."""
    del force_kinematic
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
    own = {object_id, *world.within(object_id)}
    placing.put(world, object_id, box, placing.support(world, box, ignoring=own))
    return None


def teleport_object(
    house: House,
    *,
    object_id: str,
    position: Vector,
    rotation: Vector,
    force_action: bool = False,
    force_kinematic: bool = False,
    allow_teleport_out_of_hand: bool = False,
    make_unbreakable: bool = False,
) -> JsonValue:
    """Move a thing, without its contents, to a pose in the air or on something, if it is free."""
    del force_kinematic, make_unbreakable
    world, thing = house.world, target(house, object_id, force=True)
    demand(
        bool(thing["pickupable"] or thing["moveable"]),
        f"{object_id} is not Moveable or Pickupable, and can't be teleported.",
    )
    in_hand = house.agent.held == object_id
    demand(not in_hand or allow_teleport_out_of_hand, "Cannot teleport object in hand.")
    axes = _turned(rotation) if thing["objectOrientedBoundingBox"] is not None else thing.box.axes
    place = np.array((position.x, position.y, position.z))
    box = Box(place - axes @ thing.pivot, thing.box.half, axes)
    if not force_action and (other := _in_the_way(house, thing, box)):
        raise Refusal(f"{object_id} is in the way of {other} there, and wasn't teleported.")
    if in_hand:
        let_go(house)
    world.move(thing, box, posed=True)
    world.change(object_id, isPickedUp=False)
    placing.rest(world, object_id, placing.support(world, box, ignoring=[object_id]))
    if not thing["pickupable"]:
        world.cells = walkable(world)
    return None


def _turned(turn: Vector) -> Array:
    return np.asarray(axes_of(turn.model_dump()))


def _in_the_way(house: House, thing: SimObject, box: Box) -> str:
    """The name of something that is where a box would be; empty if nothing is."""
    own = {thing.id, *house.world.within(thing.id)}
    for other in house.world.things.values():
        if other.id in own or not other["pickupable"] or house.world.hidden(other.id):
            continue
        if other.id == house.agent.held:
            continue
        apart = np.abs(other.box.center - box.center) - other.box.reach - box.reach
        if (apart < -_TOUCHING).all():
            return str(other["name"])
    return ""


ACTIONS: Mapping[str, ActionFunction] = {
    "GetSpawnCoordinatesAboveReceptacle": spawn_points,
    "PlaceObjectAtPoint": place_at,
    "TeleportObject": teleport_object,
}
