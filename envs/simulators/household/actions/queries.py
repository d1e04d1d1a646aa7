"""Spatial queries. They change nothing."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from itertools import islice

from pydantic import JsonValue

from inhabit.envs.simulators.household.actions.arguments import (
    ActionFunction,
    Number,
    Refusal,
    Vector,
)
from inhabit.envs.simulators.household.actions.targets import target
from inhabit.envs.simulators.household.actions.walking import can_stand
from inhabit.envs.simulators.household.house import House
from inhabit.envs.simulators.household.navigation import viewpoints
from inhabit.envs.simulators.household.navigation.grid import STEP, Cell, neighbours
from inhabit.envs.simulators.household.world import SimObject

_QUARTERS = (0.0, 90.0, 180.0, 270.0)
_HORIZONS = (-30.0, 0.0, 30.0, 60.0)


def reachable_positions(house: House) -> JsonValue:
    """All reachable positions, as {x, y, z}."""
    return [_place(house, cell) for cell in sorted(house.world.cells)]


def shortest_path(
    house: House,
    *,
    object_type: str | None = None,
    object_id: str | None = None,
    position: Vector | None = None,
) -> JsonValue:
    """The corners of a shortest path to the nearest cell from which an object is within reach."""
    goals = _named(house, object_type, object_id)
    if position is None:
        x, z = house.agent.x, house.agent.z
    else:
        x, z = position.x, position.z
    start = (round(x / STEP), round(z / STEP))
    if start not in house.world.cells:
        raise Refusal(f"There is no way from ({x:.2f}, {z:.2f}): nobody can stand there.")
    for path in _walks(house.world.cells, start):
        column, row = path[-1]
        if any(house.within_reach(thing, column * STEP, row * STEP) for thing in goals):
            return {"corners": [_place(house, cell) for cell in path]}
    raise Refusal("Path to target could not be found.")


def interactable_poses(
    house: House,
    *,
    object_id: str,
    positions: list[Vector] | None = None,
    rotations: list[Number | Vector] | None = None,
    horizons: list[Number] | None = None,
    standings: list[bool] | None = None,
    max_poses: int | None = None,
) -> JsonValue:
    """Poses from which an object is visible and within reach; by default of all cells."""
    thing = target(house, object_id, force=True)
    if max_poses is not None and max_poses <= 0:
        raise Refusal("maxPoses must be > 0.", "InvalidArgument")
    if house.world.hidden(thing.id):
        return []
    places = (
        [(column * STEP, row * STEP) for column, row in sorted(house.world.cells)]
        if positions is None
        else [(p.x, p.z) for p in positions if can_stand(house, p.x, p.z)]
    )
    found = viewpoints.poses(
        house,
        thing,
        places,
        _QUARTERS if rotations is None else [_degrees(turn) for turn in rotations],
        _HORIZONS if horizons is None else horizons,
        (True, False) if standings is None else standings,
    )
    return [
        {
            "x": pose.x,
            "y": house.agent.y,
            "z": pose.z,
            "rotation": pose.rotation,
            "standing": pose.standing,
            "horizon": pose.horizon,
        }
        for pose in islice(found, max_poses)
    ]


def _degrees(turn: float | Vector) -> float:
    return turn.y if isinstance(turn, Vector) else turn


def _named(house: House, object_type: str | None, object_id: str | None) -> list[SimObject]:
    things = house.world.things
    if object_id is not None:
        if object_id not in things:
            raise Refusal(f"Cannot find sim object with id '{object_id}'")
        return [things[object_id]]
    found = [thing for thing in things.values() if thing.kind == object_type and thing.present]
    if not found:
        raise Refusal(f"No object with type '{object_type}' found.")
    return found


def _walks(cells: frozenset[Cell], start: Cell) -> list[list[Cell]]:
    """A shortest path to every cell, nearest first."""
    came: dict[Cell, Cell | None] = {start: None}
    queue, walks = deque([start]), []
    while queue:
        here = queue.popleft()
        walk, at = [], here
        back: Cell | None = at
        while back is not None:
            walk.append(back)
            back = came[back]
        walks.append(walk[::-1])
        for cell in neighbours(here):
            if cell in cells and cell not in came:
                came[cell] = here
                queue.append(cell)
    return walks


def _place(house: House, cell: Cell) -> JsonValue:
    return {"x": cell[0] * STEP, "y": house.agent.y, "z": cell[1] * STEP}


ACTIONS: Mapping[str, ActionFunction] = {
    "GetReachablePositions": reachable_positions,
    "GetShortestPath": shortest_path,
    "GetInteractablePoses": interactable_poses,
}
