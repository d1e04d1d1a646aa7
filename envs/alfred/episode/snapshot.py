"""The whole state as plain data, and its digest."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from inhabit.envs.alfred.episode.state import EpisodeState
from inhabit.envs.alfred.thor.objects import ThorObject
from inhabit.envs.alfred.world.kinds import TREATMENTS

_STATES = (
    "isOpen",
    "openness",
    "isToggled",
    "isSliced",
    "isBroken",
    "isDirty",
    "isCooked",
    "isUsedUp",
    "isFilledWithLiquid",
    "fillLiquid",
    "temperature",
    "isPickedUp",
)


def state(episode: EpisodeState) -> Mapping[str, JsonValue]:
    """Agent, objects and memory. Positions in metres to three decimals, angles in degrees."""
    pose = episode.body.pose
    return {
        "room": episode.body.room,
        "agent": {
            "position": [round(pose.x, 3), round(pose.y, 3), round(pose.z, 3)],
            "rotation": round(pose.rotation, 1),
            "horizon": round(pose.horizon, 1),
        },
        "objects": [_object(episode, thing) for thing in episode.world],
        **{one.done: [*sorted(episode.history.of(one))] for one in TREATMENTS},
        "seen": list(episode.memory.seen),
        "visited": list(episode.memory.visited),
        "focus": episode.memory.focus,
        "searched": [list(place) for place in episode.memory.searched],
    }


def _object(episode: EpisodeState, thing: ThorObject) -> JsonValue:
    record = thing.record
    rotation = record["rotation"]
    return {
        "id": thing.id,
        "name": episode.names.all().get(thing.id),
        "type": thing.type,
        "position": [round(c, 3) for c in thing.position],
        "rotation": [round(float(rotation[axis]) % 360, 1) for axis in "xyz"],
        "visible": thing.visible,
        "parents": sorted(thing.parents),
        "contents": sorted(thing.contents),
        **{name: record[name] for name in _STATES},
    }
