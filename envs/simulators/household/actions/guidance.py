"""AI2-THOR's own expert of object navigation: the next step towards a thing."""

from __future__ import annotations

from collections.abc import Mapping
from math import atan2, degrees

from pydantic import JsonValue

from inhabit.envs.simulators.household.actions.arguments import ActionFunction, Vector
from inhabit.envs.simulators.household.actions.queries import named, path
from inhabit.envs.simulators.household.episode.house import House
from inhabit.envs.simulators.household.geometry.outline import STEP
from inhabit.envs.simulators.household.state.world import SimObject


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


ACTIONS: Mapping[str, ActionFunction] = {"ObjectNavExpertAction": expert_action}
