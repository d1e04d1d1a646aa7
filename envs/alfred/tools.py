"""What a model without eyes may ask: HOLMES's two questions about a household (PCA-EVAL)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from inhabit.envs.alfred.language.naming import word
from inhabit.envs.alfred.skills.situation import Situation

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


def call(here: Situation, name: str) -> JsonValue:
    """The answer of one tool.

    Raises:
        KeyError: there is no such tool.
    """
    if name == "object_detection":
        return [here.names.of(id) for id in in_view(here)]
    if name == "list_items_in_hands":
        return [here.names.of(here.held.id)] if here.held is not None else []
    raise KeyError(f"There is no tool {name!r}; there are object_detection, list_items_in_hands.")


def in_view(here: Situation) -> Sequence[str]:
    """Ids of the named things in the picture, what is held excepted."""
    return [id for id in here.body.in_view() if id in here.names and not here.world[id].held]


def in_words(here: Situation, view: bool) -> str:
    """What is known without seeing: what is in the hand.

    With `view` also what is in sight, and what else the last action showed: looking around shows
    much that is out of sight when it is over.
    """
    held = here.held
    sentences = []
    if held is not None:
        noun = word(held.type)
        sentences.append(f"You have {'an' if noun[:1] in 'aeiou' else 'a'} {noun} in your hands.")
    if view:
        seen = in_view(here)
        sentences.append(f"You see: {_listed(here, seen) or 'nothing of interest'}.")
        passed = sorted(id for id in here.sighted if id in here.world and id not in seen)
        passed = [id for id in passed if not here.world[id].held]
        if passed:
            sentences.append(f"You have just seen besides: {_listed(here, passed)}.")
    return " ".join(sentences)


def _listed(here: Situation, ids: Sequence[str]) -> str:
    return ", ".join(here.names.of(id) for id in ids)
