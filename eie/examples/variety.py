"""Different ways to say the parts of a reason: what is seen, what to do, and what it is for."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

_SEEN = (
    "{facts}",
    "{facts}",
    "as the picture shows, {facts}",
    "in this picture, {facts}",
    "right now, {facts}",
    "here, {facts}",
    "at the moment, {facts}",
)
_AND = (", and ", "; ", ". Besides, ")
_FOR = (
    "{now} so that you can {then}",
    "{now} in order to {then}",
    "{now}; after that, you can {then}",
    "{now}: only then can you {then}",
    "{now}, because the next step is to {then}",
    "before you can {then}, {now}",
    "the way to {then} is to {now} first",
)
_FOR_IT = 5
"""Number of these forms in which "it" keeps its meaning."""
_WISHED = (
    "{now} to {wish}",
    "{now}, which is how to {wish}",
    "{now}: that will {wish}",
    "to {wish}, {now}",
)
_LAST = (
    "{now}. That completes the task",
    "{now}, and the task is done",
    "{now}: it is the last step",
    "{now}. Nothing else is left to do then",
    "all that is left is to {now}",
)
_NEXT = (
    "{now}, as the next step",
    "the next step is to {now}",
    "{now} before anything else",
    "what comes next is to {now}",
)
_SYNONYMS = {
    "your hands are empty": ("your hands are empty", "your hands are free", "you hold nothing"),
    "in sight": ("in sight", "in view", "visible from here"),
}


def seen(facts: Sequence[str], rng: random.Random) -> str:
    """The facts in one clause or two; empty without facts."""
    if not facts:
        return ""
    said = rng.choice(_AND).join(_varied(fact, rng) for fact in facts)
    return rng.choice(_SEEN).format(facts=said)


def with_purpose(now: str, then: str, rng: random.Random) -> str:
    """An action and what it makes possible, as in "open it so that you can pick up the mug"."""
    forms = _FOR[:_FOR_IT] if {"it", "them"} & {*then.split()} else _FOR
    return rng.choice(forms).format(now=now, then=then)


def with_wish(now: str, wish: str, rng: random.Random) -> str:
    """An action and the part of the task that it brings about."""
    forms = _WISHED if not {"it", "them"} & {*now.split()} else _WISHED[:-1]
    return rng.choice(forms).format(now=now, wish=wish)


def last(now: str, rng: random.Random) -> str:
    """The action that completes the task."""
    return rng.choice(_LAST).format(now=now)


def merely_next(now: str, rng: random.Random) -> str:
    """An action whose purpose nothing tells."""
    return rng.choice(_NEXT).format(now=now)


def _varied(fact: str, rng: random.Random) -> str:
    for said, others in _SYNONYMS.items():
        if said in fact:
            return fact.replace(said, rng.choice(others))
    held = re.sub(r" (?:is|are) in your hand$", "", fact)
    if held != fact and rng.random() < 0.5:
        return f"you are holding {held}"
    return fact
