"""Pushing and pulling: without physics, a thing slides as far as its mass allows."""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, radians, sin

import numpy as np
from pydantic import JsonValue

from inhabit.envs.simulators.household.actions.arguments import (
    ActionFunction,
    Number,
    Refusal,
    Vector,
)
from inhabit.envs.simulators.household.actions.arranging import walkable
from inhabit.envs.simulators.household.actions.raycasts import object_in_frame
from inhabit.envs.simulators.household.actions.targets import demand, target
from inhabit.envs.simulators.household.episode.house import House
from inhabit.envs.simulators.household.geometry.boxes import Array, Box, xyz
from inhabit.envs.simulators.household.placement import placing
from inhabit.envs.simulators.household.state.world import SimObject

_PER_NEWTON = 0.005
"""Metres that a push of one newton moves a kilogram."""
_FARTHEST = 1.0
"""Metres."""


def _along(degrees: float) -> ActionFunction:
    """A push in a direction relative to where the agent looks."""

    def push(
        house: House,
        *,
        object_id: str,
        move_magnitude: Number | None = None,
        force_action: bool = False,
    ) -> JsonValue:
        return directional(
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
) -> JsonValue:
    """Push a thing at an angle to where the agent looks, in newtons."""
    thing = target(house, object_id, force=force_action)
    demand(
        bool(thing["pickupable"] or thing["moveable"]),
        "Target SimObjPhysics is not Moveable or Pickupable, and thus can't be pushed.",
    )
    demand(object_id != house.agent.held, f"{object_id} is in the agent's hand.")
    demand(0.0 <= push_angle < 360.0, "pushAngle must be in [0:360)")
    force = 100.0 if move_magnitude is None else move_magnitude
    demand(force >= 0.0, f"moveMagnitude can't be negative: {force:g}.")
    far = min(_FARTHEST, _PER_NEWTON * force / max(float(thing["mass"]), 0.1))
    angle = radians(house.agent.rotation + push_angle)
    _slide(house, thing, np.array((sin(angle), 0.0, cos(angle))) * far)
    return None


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
    if touched and (thing["pickupable"] or thing["moveable"]) and name != house.agent.held:
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
    "PushObject": _along(0.0),
    "PullObject": _along(180.0),
    "DirectionalPush": directional,
    "TouchThenApplyForce": touch,
}
