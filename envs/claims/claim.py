"""Claims and intents as data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class About(StrEnum):
    """What a claim states about its subject."""

    PRESENCE = "presence"
    """The subject is visible."""
    COUNT = "count"
    """The subject occurs a number of times."""
    STATE = "state"
    PLACE = "place"
    """The subject is in or on something."""
    HELD = "held"
    """The subject is held; without a subject: anything is."""


def name_and_number(name: str) -> tuple[str, str]:
    """A `SceneObject.name` in two parts: "mug" and "2" of "mug_2" or "mug 2"; no number is ""."""
    stem = name.rstrip("0123456789")
    number = name[len(stem) :]
    return (stem[:-1], number) if number and stem[1:].endswith(("_", " ")) else (name, "")


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun: one object, or any object of a kind."""

    words: str
    """The noun as in the text, in lower case."""
    kinds: frozenset[str]
    """The kinds (`SceneObject.kind`) that the noun may mean."""
    number: str = ""
    """Number of the object: "2" in "mug_2"; empty if any object of the kind is meant."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of a text about the scene."""

    words: str
    """The clause that the claim was read from, in lower case."""
    about: About
    subject: Noun | None
    """What the claim is about; None for HELD alone."""
    positive: bool = True
    """False if the claim is negated: "the mug isn't in the sink"."""
    states: tuple[tuple[str, bool], ...] = ()
    """Candidate names of the state, each with its value, for STATE."""
    place: Noun | None = None
    """The place, for PLACE, and for COUNT in one place; with PLACE, None is the floor or a wall."""
    inside: bool = False
    """Whether the subject is in the place, not on it."""
    count: int = 0


@dataclass(frozen=True, slots=True)
class Intent:
    """An action that a text plans: "I have to open the fridge"."""

    words: str
    verb: str
    """The canonical verb, such as "take"."""
    nouns: tuple[Noun, ...]
