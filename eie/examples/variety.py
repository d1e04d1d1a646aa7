"""Different ways to say the parts of a reason: what is seen, what to do, and what it is for."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

_SEEN = (
    "{facts}",
    "{facts}",
    "{facts}",
    "as the picture shows, {facts}",
    "in this picture, {facts}",
    "right now, {facts}",
    "here, {facts}",
    "at the moment, {facts}",
    "as you can see, {facts}",
    "the image shows that {facts}",
    "according to the image, {facts}",
    "judging by the photo, {facts}",
    "currently, {facts}",
    "at present, {facts}",
    "notice that {facts}",
)
_AND = (", and ", ", and ", "; ", ". Besides, ", ", while ", ". Moreover, ", ". At the same time, ")
_FOR = (
    "{now} so that you can {then}",
    "{now} in order to {then}",
    "{now}; after that, you can {then}",
    "{now}: only then can you {then}",
    "{now}, because the next step is to {then}",
    "{now}, which allows you to {then}",
    "{now}, since afterwards you have to {then}",
    "{now}, as this makes it possible to {then}",
    "before you can {then}, {now}",
    "the way to {then} is to {now} first",
    "if you want to {then}, {now} first",
    "you can't {then} unless you {now}",
)
_FOR_IT = 8
"""Number of these forms in which "it" keeps its meaning."""
_WISHED = (
    "{now} to {wish}",
    "{now}, which is how to {wish}",
    "{now}: that will {wish}",
    "{now}; this is what it takes to {wish}",
    "to {wish}, {now}",
)
_LAST = (
    "{now}. That completes the task",
    "{now}, and the task is done",
    "{now}: it is the last step",
    "{now}. Nothing else is left to do then",
    "{now}, which finishes the job",
    "{now}. With that, the goal is reached",
    "{now}. No further action is required",
    "all that is left is to {now}",
    "only one thing remains: {now}",
    "finally, {now}",
)
_NEXT = (
    "{now}, as the next step",
    "{now} at this stage",
    "{now}. Everything else can wait",
    "the next step is to {now}",
    "{now} before anything else",
    "what comes next is to {now}",
    "it is time to {now}",
    "go ahead and {now}",
    "the plan continues with this: {now}",
)
_SYNONYMS = {
    "your hands are empty": (
        "your hands are empty",
        "your hands are free",
        "you hold nothing",
        "you carry nothing",
        "you are not holding anything",
    ),
    "in sight": ("in sight", "in view", "visible from here", "clearly visible", "within view"),
}
_HOLDING = ("you are holding", "you are carrying", "you hold", "you carry")


def seen(facts: Sequence[str], rng: random.Random) -> str:
    """The facts in one clause or two; empty without facts."""
    if not facts:
        return ""
    said = rng.choice(_AND).join(_varied(fact, rng) for fact in facts)
    return rng.choice(_SEEN).format(facts=said)


def with_purpose(now: str, then: str, rng: random.Random) -> str:
    """An action and what it makes possible, as in "open it so that you can pick up the mug"."""
    pronouns = {"it", "them"} & {*now.split(), *then.split()}
    forms = _FOR[:_FOR_IT] if pronouns else _FOR
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
        return f"{rng.choice(_HOLDING)} {held}"
    return fact
