"""HOLMES's two functions for agents without images (PCA-EVAL)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from inhabit.envs.alfred.language.naming import word
from inhabit.envs.alfred.skills.episode_state import EpisodeState

_NOTHING: JsonValue = {"type": "object", "properties": {}, "additionalProperties": False}

TOOLS: Sequence[Mapping[str, JsonValue]] = (
    {
        "name": "object_detection",
        "description": "Names of the objects in the present view.",
        "parameters": _NOTHING,
    },
    {
        "name": "list_items_in_hands",
        "description": "Names of the objects in the agent's hand.",
        "parameters": _NOTHING,
    },
)


def call(episode: EpisodeState, name: str) -> JsonValue:
    """Call one function.

    Raises:
        KeyError: there is no such tool.
    """
    if name == "object_detection":
        return [episode.names.of(id) for id in in_view(episode)]
    if name == "list_items_in_hands":
        return [episode.names.of(episode.held.id)] if episode.held is not None else []
    raise KeyError(f"There is no tool {name!r}; there are object_detection, list_items_in_hands.")


def in_view(episode: EpisodeState) -> Sequence[str]:
    """Ids of the named objects in the image, except held ones."""
    return [
        id for id in episode.body.in_view() if id in episode.names and not episode.world[id].held
    ]


def in_words(episode: EpisodeState, view: bool) -> str:
    """The text of an observation: the held object.

    With `view` also the objects in view, and further objects that the last action showed, such as
    those seen while looking around.
    """
    held = episode.held
    sentences = []
    if held is not None:
        noun = word(held.type)
        sentences.append(f"You have {'an' if noun[:1] in 'aeiou' else 'a'} {noun} in your hands.")
    if view:
        seen = in_view(episode)
        sentences.append(f"You see: {_listed(episode, seen) or 'nothing of interest'}.")
        passed = sorted(id for id in episode.just_seen if id in episode.world and id not in seen)
        passed = [id for id in passed if not episode.world[id].held]
        if passed:
            sentences.append(f"You have just seen besides: {_listed(episode, passed)}.")
    return " ".join(sentences)


def _listed(episode: EpisodeState, ids: Sequence[str]) -> str:
    return ", ".join(episode.names.of(id) for id in ids)
