"""The objects of an ALFRED scene in the form common to all environments."""

from __future__ import annotations

from collections.abc import Sequence

from inhabit.envs.alfred.episode.state import EpisodeState
from inhabit.envs.alfred.language.grammar import preposition
from inhabit.envs.alfred.language.naming import word
from inhabit.envs.alfred.thor.objects import ThorObject
from inhabit.envs.alfred.world.states import STATES
from inhabit.envs.core import SceneObject


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
