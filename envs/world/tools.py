"""HOLMES's two functions for agents without images (PCA-EVAL)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

_SEEN, _HELD = "object_detection", "list_items_in_hands"


def described(view: str, hands: str) -> Sequence[Mapping[str, JsonValue]]:
    """JSON schemas of both tools.

    Args:
        view: where objects are seen: "in sight".
        hands: what objects are held with: "the hand".
    """
    nothing: JsonValue = {"type": "object", "properties": {}, "additionalProperties": False}
    said = {_SEEN: f"Names of the objects {view}.", _HELD: f"Names of the objects in {hands}."}
    return [
        {"name": name, "description": text, "parameters": nothing} for name, text in said.items()
    ]


def answer(name: str, seen: Sequence[str], held: Sequence[str]) -> JsonValue:
    """What a function returns.

    Args:
        name: of the function.
        seen: names of the objects in view.
        held: those of the objects in the hands.

    Raises:
        KeyError: there is no such function.
    """
    answers = {_SEEN: seen, _HELD: held}
    if name not in answers:
        raise KeyError(f"There is no tool {name!r}; there are {', '.join(answers)}.")
    return [*answers[name]]
