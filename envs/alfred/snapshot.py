"""The whole state as plain data, for judges, replay and EIE."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from pydantic import JsonValue

from inhabit.envs.alfred.skills.situation import Situation
from inhabit.envs.alfred.thor.objects import ThorObject

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


def state(here: Situation) -> Mapping[str, JsonValue]:
    """Agent, objects and memory. Positions in metres to the millimetre, angles in degrees."""
    pose = here.body.pose
    return {
        "room": here.body.room,
        "agent": {
            "position": [round(pose.x, 3), round(pose.y, 3), round(pose.z, 3)],
            "rotation": round(pose.rotation, 1),
            "horizon": round(pose.horizon, 1),
        },
        "objects": [_object(here, thing) for thing in here.world],
        "heated": [*sorted(here.history.heated)],
        "cooled": [*sorted(here.history.cooled)],
        "cleaned": [*sorted(here.history.cleaned)],
        "seen": list(here.memory.seen),
        "visited": list(here.memory.visited),
        "focus": here.memory.focus,
        "searched": [list(place) for place in here.memory.searched],
    }


def _object(here: Situation, thing: ThorObject) -> JsonValue:
    record = thing.record
    rotation = record["rotation"]
    return {
        "id": thing.id,
        "name": here.names.all().get(thing.id),
        "type": thing.type,
        "position": [round(c, 3) for c in thing.position],
        "rotation": [round(float(rotation[axis]) % 360, 1) for axis in "xyz"],
        "visible": thing.visible,
        "parents": sorted(thing.parents),
        "contents": sorted(thing.contents),
        **{name: record[name] for name in _STATES},
    }


def digest(here: Situation) -> str:
    """Sixteen hexadecimal digits, equal exactly when the state is."""
    text = json.dumps(state(here), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
