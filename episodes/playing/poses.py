"""Where the agent and the things of a scene are, where an environment's state tells it.

A state that does so has {"agent": {"position": [x, y, z], "rotation": degrees}} and, if it likes,
{"objects": [{"name": ..., "position": [x, y, z]}, ...]}: metres, y upwards, and degrees clockwise
from +z as seen from above, as AI2-THOR has them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from pydantic import JsonValue

from inhabit.episodes.recording.schema import PlacedThing, PoseRecord

_MOST = 500
"""Maximum number of objects whose positions are recorded."""


def pose_of(state: Mapping[str, JsonValue]) -> PoseRecord | None:
    """Where the agent stands, and which way it looks; None where the state does not tell."""
    agent = state.get("agent")
    if not isinstance(agent, dict):
        return None
    place, heading = _place(agent.get("position")), _number(agent.get("rotation"))
    if place is None or heading is None:
        return None
    # Of a tiny angle below 0, the remainder is rounded to 360.
    return PoseRecord(x=place[0], z=place[1], heading=heading % 360 % 360)


def things_of(state: Mapping[str, JsonValue]) -> tuple[PlacedThing, ...]:
    """Where things are, as far as the state tells."""
    objects = state.get("objects")
    found = []
    for thing in objects if isinstance(objects, list) else ():
        if not isinstance(thing, dict):
            continue
        name, place = thing.get("name"), _place(thing.get("position"))
        if isinstance(name, str) and place is not None:
            found.append(PlacedThing(name=name, x=place[0], z=place[1]))
    return tuple(found[:_MOST])


def _place(position: JsonValue) -> tuple[float, float] | None:
    if not isinstance(position, list) or len(position) != 3:
        return None
    x, z = _number(position[0]), _number(position[2])
    return None if x is None or z is None else (round(x, 3), round(z, 3))


def _number(value: JsonValue) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:  # A whole number beyond all floats.
        return None
