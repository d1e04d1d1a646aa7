"""What an arm's hand touches, and what stops it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from inhabit.envs.simulators.household.geometry.boxes import Array, Box
from inhabit.envs.simulators.household.placement.surfaces import surface
from inhabit.envs.simulators.household.state.agent import AgentState
from inhabit.envs.simulators.household.state.world import SimObject, World, shut

_SUNK = 0.02
"""Metres that a hand may be in a thing: our shapes are not THOR's."""


def touched(world: World, agent: AgentState) -> list[SimObject]:
    """What the sphere of an agent's hand touches, in THOR's order."""
    if agent.robot is None:
        return []
    center = agent.base().to_world(agent.robot.sphere)
    return [
        thing
        for thing in world.things.values()
        if thing.kind != "Floor"
        and not world.hidden(thing.id)
        and _distance(thing.box, center) <= agent.robot.radius
    ]


def in_the_way(world: World, agent: AgentState) -> set[str]:
    """Names of the furniture and walls that an agent's hand, or what it holds, is in.

    What can be picked up or pushed gives way to an arm. The air over a shelf or in an open fridge
    is free, and so is that over a table, but not that below it.
    """
    robot, outline = agent.robot, world.room.outline
    if robot is None:
        return set()
    base = agent.base()
    points = [base.to_world(robot.wrist), base.to_world(robot.sphere)]
    for grip in robot.held:
        box = robot.pose_of(grip, base, world.things[grip.id].box.half)
        points += list(Box(box.center, np.maximum(box.half - _SUNK, 0.0), box.axes).corners)
    found = set()
    for point in points:
        if not outline.holds(point[0], point[2]):
            found.add("Wall")
        if point[1] < outline.floor - _SUNK:
            found.add("Floor")
        found |= {str(thing["name"]) for thing in _solid(world) if _is_in(world, thing, point)}
    return found


def _solid(world: World) -> Iterator[SimObject]:
    for thing in world.things.values():
        loose = thing["pickupable"] or thing["moveable"]
        if thing.kind != "Floor" and thing.present and not loose:
            yield thing


def _is_in(world: World, thing: SimObject, point: Array) -> bool:
    parts = world.room.strips.get(thing.id) or (thing.box,)
    if not any(part.holds(point, -_SUNK) for part in parts):
        return False
    airy = thing["receptacle"] and not shut(thing)
    return not airy or bool(point[1] < surface(world, thing).height - _SUNK)


def _distance(box: Box, point: Array) -> float:
    """Metres from a point to a box; 0 inside."""
    return float(np.linalg.norm(np.maximum(np.abs(box.to_own(point)) - box.half, 0.0)))
