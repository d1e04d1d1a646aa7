"""What is told of a state: objects in the form common to all environments, and everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from inhabit.envs.alfred.episode.state import EpisodeState
from inhabit.envs.alfred.language.grammar import preposition
from inhabit.envs.alfred.language.naming import word
from inhabit.envs.alfred.thor.objects import ThorObject
from inhabit.envs.alfred.world.kinds import TREATMENTS
from inhabit.envs.alfred.world.states import STATES
from inhabit.envs.core import SceneObject

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


def things(episode: EpisodeState) -> Sequence[SceneObject]:
    """Every named object, in the order of naming."""
    world, pixels = episode.world, episode.body.in_view()
    return [
        _thing(episode, world[id], name, pixels.get(id, 0))
        for id, name in episode.names.all().items()
        if id in world
    ]


def _thing(episode: EpisodeState, record: ThorObject, name: str, pixels: int) -> SceneObject:
    support = None if record.held else _support(episode, record)
    return SceneObject(
        name=name,
        kind=word(record.type),
        states={
            state.name: bool(record.record[state.reads])
            for state in STATES
            if record.record[state.needs]
        },
        support=support,
        inside=support is not None and preposition(support) == "in",
        held=record.held,
        pixels=pixels,
    )


def _support(episode: EpisodeState, record: ThorObject) -> str | None:
    """The innermost named receptacle of an object."""
    around = episode.world.around(record)
    return next((episode.names.of(outer.id) for outer in around if outer.id in episode.names), None)
