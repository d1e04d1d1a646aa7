"""The actions of AI2-THOR's agent with an arm (agentMode "arm").

The rules are those of ArmAgentController.cs and ArmController.cs of AI2-THOR 5.0.0. Nothing takes
time here: an arm moves in a straight line until something is in its way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import atan2, ceil, degrees, hypot
from typing import Literal

import numpy as np

from inhabit.envs.simulators.household.actions.arguments import (
    ActionFunction,
    Number,
    Refusal,
    Vector,
    demand,
)
from inhabit.envs.simulators.household.actions.walking import turn_by, walk
from inhabit.envs.simulators.household.episode.house import House
from inhabit.envs.simulators.household.geometry.boxes import Array
from inhabit.envs.simulators.household.placement import placing, surfaces
from inhabit.envs.simulators.household.state.robot_arm import (
    HIGHEST,
    LOWEST,
    RobotArm,
    nearest,
    reaches,
)

Space = Literal["world", "wrist", "armBase"]
_STEP = 0.03
"""Metres between two places of a moving hand that are checked."""
_RADII = (0.04, 0.5)
"""Least and greatest radius of the hand's sphere, in metres."""


def move_arm(
    house: House,
    *,
    position: Vector,
    coordinate_space: Space = "armBase",
    restrict_movement: bool = False,
    return_to_start: bool = True,
) -> None:
    """Move the wrist to a place, in metres; as near as it can come, unless `restrictMovement`."""
    goal = _in_base(house, np.array((position.x, position.y, position.z)), coordinate_space)
    _reach(house, goal, position, coordinate_space, restrict_movement, return_to_start)


def move_arm_relative(
    house: House,
    *,
    offset: Vector,
    coordinate_space: Space = "armBase",
    restrict_movement: bool = False,
    return_to_start: bool = True,
) -> None:
    """Move the wrist by an offset, in metres."""
    way = np.array((offset.x, offset.y, offset.z))
    if coordinate_space == "world":
        way = house.agent.base().axes.T @ way
    elif coordinate_space == "wrist":
        way = _arm(house).axes @ way
    goal = np.array(_arm(house).wrist) + way
    _reach(house, goal, offset, coordinate_space, restrict_movement, return_to_start)


def move_base(
    house: House, *, y: Number, normalized_y: bool = True, return_to_start: bool = True
) -> None:
    """Lift the arm's base: 0 is its lowest place and 1 its highest, or `y` is in metres."""
    low, high = house.agent.y + LOWEST, house.agent.y + HIGHEST
    demand(
        not normalized_y or 0.0 <= y <= 1.0,
        f"y={y:g} value must be in [0, 1] when normalizedY=true.",
    )
    height = low + (high - low) * y if normalized_y else y
    demand(low <= height <= high, f"height={height:g} value must be in [{low:g}, {high:g}].")
    _lift(house, height - house.agent.y, return_to_start)


def move_base_up(house: House, *, distance: Number, return_to_start: bool = True) -> None:
    """Lift the arm's base by a distance in metres, as far as it goes."""
    height = float(np.clip(_arm(house).height + distance, LOWEST, HIGHEST))
    _lift(house, height, return_to_start)


def move_base_down(house: House, *, distance: Number, return_to_start: bool = True) -> None:
    """Lower the arm's base by a distance in metres, as far as it goes."""
    move_base_up(house, distance=-distance, return_to_start=return_to_start)


def rotate_wrist(
    house: House, *, pitch: Number = 0.0, yaw: Number = 0.0, roll: Number = 0.0
) -> None:
    """Turn the hand about its own axes, degrees."""
    _pose(house, [_arm(house).turned(pitch, yaw, -roll)], "the rotation", True)


def pick_up(
    house: House, *, object_id_candidates: list[str] | None = None, object_id: str | None = None
) -> None:
    """Hold everything that the hand's sphere touches and that can be picked up."""
    demand(
        object_id is None,
        "You are passing in iTHOR PickupObject parameters (objectId) to the arm agent! It picks up "
        "what its hand touches; objectIdCandidates may name what is wanted.",
    )
    wanted = object_id_candidates
    found = [
        thing.id
        for thing in surfaces.touched(house.world, house.agent)
        if thing["pickupable"] and thing.id not in house.world.in_hands
        if wanted is None or thing.id in wanted
    ]
    own = "" if wanted is None else " (specified by objectId)"
    demand(bool(found), f"No objects{own} were valid to be picked up by the arm")
    for id in found:
        if any(id in house.world.within(other) for other in found):
            continue  # it comes along with what it is in
        placing.lift(house.world, id)
        arm = _arm(house).grip(id, house.agent.base(), house.world.things[id].box)
        house.world.agent = replace(house.agent, robot=arm)


def release(house: House) -> None:
    """Let everything fall that the hand holds."""
    arm = _arm(house)
    house.world.agent = replace(house.agent, robot=replace(arm, held=()))
    for grip in arm.held:
        thing = house.world.things[grip.id]
        box, onto = placing.drop(house.world, thing, thing.box.center)
        placing.put(house.world, thing.id, box, [onto.id])
        house.world.stir(thing.id)


def set_radius(house: House, *, radius: Number) -> None:
    """Set the radius of the hand's sphere, metres."""
    low, high = _RADII
    demand(
        low <= radius <= high,
        f"radius={radius:g} of hand cannot be less than {low:g}m nor greater than {high:g}m",
    )
    house.world.agent = replace(house.agent, robot=replace(_arm(house), radius=radius))


def move_agent(house: House, *, ahead: Number = 0.0, right: Number = 0.0) -> None:
    """Move the agent along its own axes, metres."""
    demand(ahead != 0.0 or right != 0.0, "Must specify ahead or right!")
    walk(house, degrees(atan2(right, ahead)), hypot(right, ahead))


def rotate_agent(house: House, *, degrees: Number) -> None:
    """Turn the agent to the right, degrees."""
    turn_by(house, degrees)


def _arm(house: House) -> RobotArm:
    arm = house.agent.robot
    assert arm is not None, "the table of an agent without an arm has none of these actions"
    return arm


def _in_base(house: House, place: Array, space: Space) -> Array:
    """A place in the frame of the arm's base."""
    if space == "world":
        return house.agent.base().to_own(place)
    if space == "wrist":
        return np.asarray(np.array(_arm(house).wrist) + _arm(house).axes @ place)
    return place


def _reach(
    house: House, goal: Array, asked: Vector, space: Space, restricted: bool, back: bool
) -> None:
    told = f"({asked.x:.4f}, {asked.y:.4f}, {asked.z:.4f})"
    demand(
        not restricted or reaches(goal),
        f"Invalid target: Position '{told}' in space '{space}' is behind shoulder.",
    )
    arm, start, end = _arm(house), np.array(_arm(house).wrist), nearest(goal)
    count = max(1, ceil(float(np.linalg.norm(end - start)) / _STEP))
    places = (start + (end - start) * (i / count) for i in range(1, count + 1))
    steps = [replace(arm, wrist=(float(x), float(y), float(z))) for x, y, z in places]
    _pose(house, steps, f"position '{told}'", back)


def _lift(house: House, height: float, back: bool) -> None:
    arm = _arm(house)
    count = max(1, ceil(abs(height - arm.height) / _STEP))
    heights = (arm.height + (height - arm.height) * (i / count) for i in range(1, count + 1))
    steps = [replace(arm, height=float(one)) for one in heights]
    _pose(house, steps, f"height {height:g}", back)


def _pose(house: House, steps: list[RobotArm], goal: str, back: bool) -> None:
    """Bring the arm through poses, until something new is in its way."""
    before = surfaces.in_the_way(house.world, house.agent)
    for arm in steps:
        then = replace(house.agent, robot=arm)
        hit = surfaces.in_the_way(house.world, then) - before
        if hit:
            text = f"Collided with static structure: '{min(hit)}', could not reach {goal}."
            raise Refusal(text, undone=back)
        house.world.agent = then


ACTIONS: Mapping[str, ActionFunction] = {
    "MoveArm": move_arm,
    "MoveArmRelative": move_arm_relative,
    "MoveArmBase": move_base,
    "MoveArmBaseUp": move_base_up,
    "MoveArmBaseDown": move_base_down,
    "RotateWristRelative": rotate_wrist,
    "PickupObject": pick_up,
    "ReleaseObject": release,
    "SetHandSphereRadius": set_radius,
    "MoveAgent": move_agent,
    "RotateAgent": rotate_agent,
}
