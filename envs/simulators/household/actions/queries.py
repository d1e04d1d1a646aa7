"""Questions that change nothing: where one can stand, paths, and the next step of one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from math import atan2, cos, degrees, dist, radians, sin

from pydantic import JsonValue

from inhabit.envs.simulators.household.actions.arguments import (
    ActionFunction,
    Number,
    Refusal,
    Vector,
    target,
)
from inhabit.envs.simulators.household.actions.states import TOUGH
from inhabit.envs.simulators.household.actions.walking import can_stand
from inhabit.envs.simulators.household.episode import viewpoints
from inhabit.envs.simulators.household.episode.house import House
from inhabit.envs.simulators.household.geometry.boxes import STEP, Cell
from inhabit.envs.simulators.household.geometry.grid import neighbours
from inhabit.envs.simulators.household.state.world import SimObject

_QUARTERS = (0.0, 90.0, 180.0, 270.0)
_FINEST = 0.01
"""Shortest step of a grid, in metres."""
_MOST_PLACES = 50_000
"""Positions that a search on a fine grid visits, at most: some ten seconds."""
_HORIZONS = (-30.0, 0.0, 30.0, 60.0)


def reachable_positions(
    house: House,
    *,
    grid_size: Number | None = None,
    max_step_count: int = 10_000,
    directions_relative_agent: bool = False,
) -> JsonValue:
    """All reachable positions, as {x, y, z}.

    On a grid of 0.25 m these are all cells of the room; on any other grid, those that a
    breadth-first search from the agent's position reaches.
    """
    step = house.settings.grid_size if grid_size is None else grid_size
    if step < _FINEST:
        raise Refusal(f"gridSize must be at least {_FINEST} m; it is {step:g}.")
    if step == STEP and not directions_relative_agent:
        return [_place(house, cell) for cell in sorted(house.world.cells)]
    turn = house.agent.rotation if directions_relative_agent else 0.0
    return [
        {"x": x, "y": house.agent.y, "z": z} for x, z in _reached(house, step, turn, max_step_count)
    ]


def _reached(house: House, step: float, turn: float, most: int) -> Sequence[tuple[float, float]]:
    """Breadth-first search from where the agent is, along four directions."""
    ahead = (sin(radians(turn)) * step, cos(radians(turn)) * step)
    sideways = (ahead[1], -ahead[0])
    found: dict[Cell, tuple[float, float]] = {(0, 0): (house.agent.x, house.agent.z)}
    queue = deque(found)
    limit = min(most / min(step, 1.0) ** 2, _MOST_PLACES)
    while queue:
        for near in neighbours(queue.popleft()):
            if near in found:
                continue
            x = house.agent.x + near[1] * ahead[0] + near[0] * sideways[0]
            z = house.agent.z + near[1] * ahead[1] + near[0] * sideways[1]
            if not can_stand(house, x, z):
                continue
            found[near] = (round(x, 6), round(z, 6))
            queue.append(near)
            if len(found) > limit:
                raise Refusal("Too many steps taken in GetReachablePositions.")
    return list(found.values())


def shortest_path(
    house: House,
    *,
    object_type: str | None = None,
    object_id: str | None = None,
    position: Vector | None = None,
) -> JsonValue:
    """The corners of a shortest path to the nearest cell from which an object is within reach.

    `rotation` makes no difference, and `allowedError` none that is less than a cell's diagonal.
    """
    goals = named(house, object_type, object_id)
    if position is None:
        x, z = house.agent.x, house.agent.z
    else:
        x, z = position.x, position.z

    def arrived(at: tuple[float, float]) -> bool:
        return any(house.within_reach(thing, *at) for thing in goals)

    return {"corners": [_place(house, cell) for cell in path(house, x, z, arrived)]}


def shortest_path_to_point(
    house: House,
    *,
    target: Vector | None = None,
    position: Vector | None = None,
    x: Number | None = None,
    z: Number | None = None,
    allowed_error: Number = 0.25,
) -> JsonValue:
    """The shortest path to the first cell within half a cell's diagonal of a point."""
    if target is None:
        if x is None or z is None:
            raise Refusal(
                "Action: GetShortestPathToPoint is missing the following arguments: target.",
                "MissingArguments",
            )
        target = Vector(x=x, z=z)
    start = (house.agent.x, house.agent.z) if position is None else (position.x, position.z)
    goal, near = (target.x, target.z), max(allowed_error, 0.75 * STEP)
    corners = path(house, *start, lambda at: dist(at, goal) <= near)
    return {"corners": [_place(house, cell) for cell in corners]}


def path(
    house: House, x: float, z: float, arrived: Callable[[tuple[float, float]], bool]
) -> Sequence[Cell]:
    """The cells of a shortest walk from a place to the nearest cell where one has arrived.

    Raises:
        Refusal: there is no way.
    """
    start = min(
        sorted(house.world.cells), key=lambda cell: dist(_center(cell), (x, z)), default=None
    )
    if start is None or dist(_center(start), (x, z)) > STEP:
        raise Refusal(f"No path starts at ({x:.2f}, {z:.2f}): the agent cannot stand there.")
    for walk in _walks(house.world.cells, start):
        if arrived(_center(walk[-1])):
            return walk
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
    thing = house.world.things.get(object_id) or target(house, object_id, force=True)
    if max_poses is not None and max_poses <= 0:
        raise Refusal("maxPoses must be > 0.")
    shattered = thing["isBroken"] and thing.kind not in TOUGH
    shattered = shattered and house.world.rules.shattered_is_nowhere
    if house.world.hidden(thing.id) or shattered:
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
        {"x": pose.x, "y": house.agent.y, **pose._asdict()} for pose in islice(found, max_poses)
    ]


def interactable_columns(
    house: House, *, object_id: str, positions: list[Vector] | None = None
) -> JsonValue:
    """Interactable poses as a list for each key: releases before 5 have this name for it."""
    found = interactable_poses(house, object_id=object_id, positions=positions)
    poses = found if isinstance(found, list) else []
    keys = ("x", "y", "z", "rotation", "standing", "horizon")
    return {key: [pose[key] for pose in poses if isinstance(pose, dict)] for key in keys}


def scene_bounds(house: House) -> JsonValue:
    """The room's bounds, as in the metadata's `sceneBounds`."""
    return house.bounds()


def _degrees(turn: float | Vector) -> float:
    return turn.y if isinstance(turn, Vector) else turn


def named(house: House, object_type: str | None, object_id: str | None) -> list[SimObject]:
    """The thing of an id, or all of a type.

    Raises:
        Refusal: there is none.
    """
    things = house.world.things
    if object_id is not None:
        if object_id not in things or things[object_id].away is not None:
            raise Refusal(f"Cannot find sim object with id '{object_id}'")
        return [things[object_id]]
    found = [thing for thing in things.values() if thing.kind == object_type and thing.present]
    if not found:
        raise Refusal(f"No object with type '{object_type}' found.")
    return found


def _walks(cells: frozenset[Cell], start: Cell) -> Iterator[list[Cell]]:
    """A shortest path to every cell, nearest first."""
    came: dict[Cell, Cell | None] = {start: None}
    queue = deque([start])
    while queue:
        here = queue.popleft()
        walk, at = [], here
        back: Cell | None = at
        while back is not None:
            walk.append(back)
            back = came[back]
        yield walk[::-1]
        for cell in neighbours(here):
            if cell in cells and cell not in came:
                came[cell] = here
                queue.append(cell)


def _center(cell: Cell) -> tuple[float, float]:
    return cell[0] * STEP, cell[1] * STEP


def _place(house: House, cell: Cell) -> JsonValue:
    return {"x": cell[0] * STEP, "y": house.agent.y, "z": cell[1] * STEP}


def expert_action(
    house: House,
    *,
    object_type: str | None = None,
    object_id: str | None = None,
    position: Vector | None = None,
) -> JsonValue:
    """The next of MoveAhead, RotateLeft, RotateRight, LookUp and LookDown; None on arrival.

    By a shortest walk to the nearest cell from which the thing (or the position) is within reach,
    and there by turning towards it.
    """
    agent = house.agent
    goals = [] if position is not None else named(house, object_type, object_id)

    def arrived(at: tuple[float, float]) -> bool:
        if position is not None:
            return abs(at[0] - position.x) <= STEP and abs(at[1] - position.z) <= STEP
        return any(house.within_reach(thing, *at) for thing in goals)

    corners = path(house, agent.x, agent.z, arrived)
    if len(corners) > 1:
        (column, row), (x, z) = corners[1], corners[0]
        return _turn(house, degrees(atan2(column - x, row - z))) or "MoveAhead"
    if not goals or any(house.sights()[thing.id].visible for thing in goals):
        return None
    return _towards(house, min(goals, key=lambda t: t.box.distance_from_axis(agent.x, agent.z)))


def _towards(house: House, thing: SimObject) -> str | None:
    """Turn, then look up or down, until the thing's middle is as near the image's as may be."""
    x, y, z = (thing.box.center - house.agent.eye).tolist()
    turn = _turn(house, degrees(atan2(x, z)))
    if turn is not None:
        return turn
    off = degrees(atan2(-y, max((x * x + z * z) ** 0.5, 1e-6))) - house.agent.horizon
    if abs(off) <= 15.0:
        return None
    down = house.agent.horizon + (30.0 if off > 0 else -30.0)
    return None if not -30.0 <= down <= 60.0 else "LookDown" if off > 0 else "LookUp"


def _turn(house: House, towards: float) -> str | None:
    """The turn that brings the agent nearer to a heading; None if it has it already."""
    off = (towards - house.agent.rotation + 180.0) % 360.0 - 180.0
    if abs(off) <= house.settings.rotate_step / 2 + 1e-6:
        return None
    return "RotateRight" if off > 0 else "RotateLeft"


ACTIONS: Mapping[str, ActionFunction] = {
    "GetReachablePositions": reachable_positions,
    "GetShortestPath": shortest_path,
    "GetShortestPathToPoint": shortest_path_to_point,
    "GetInteractablePoses": interactable_poses,
    "PositionsFromWhichItemIsInteractable": interactable_columns,
    "GetSceneBounds": scene_bounds,
    "ObjectNavExpertAction": expert_action,
}
