"""Claims and intents as data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class About(StrEnum):
    """What a claim states about its subject."""

    PRESENCE = "presence"
    """It is visible."""
    COUNT = "count"
    """It occurs a number of times."""
    STATE = "state"
    PLACE = "place"
    """It is in or on something."""
    HELD = "held"
    """It is held; without a subject: anything is."""


def name_and_number(name: str) -> tuple[str, str]:
    """A `SceneObject.name` in two parts: "mug" and "2" of "mug_2" or "mug 2"; no number is ""."""
    stem = name.rstrip("0123456789")
    number = name[len(stem) :]
    return (stem[:-1], number) if number and stem[1:].endswith(("_", " ")) else (name, "")


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun: one object, or any object of a kind."""

    words: str
    """As in the text, in lower case."""
    kinds: frozenset[str]
    """The kinds (`SceneObject.kind`) that it may mean."""
    number: str = ""
    """Of "mug_2": "2"; empty if any object of the kind is meant."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of a text about the scene."""

    words: str
    """The clause it was read from, in lower case."""
    about: About
    subject: Noun | None
    """None for HELD alone."""
    positive: bool = True
    """False if negated: "the mug isn't in the sink"."""
    states: tuple[tuple[str, bool], ...] = ()
    """For STATE: candidate names of the state, each with its value."""
    place: Noun | None = None
    """For PLACE, and for COUNT in one place; with PLACE, None is the floor or a wall."""
    inside: bool = False
    """For a place: in it, not on it."""
    count: int = 0


@dataclass(frozen=True, slots=True)
class Intent:
    """An action that a text plans: "I have to open the fridge"."""

    words: str
    verb: str
    """The canonical verb, such as "take"."""
    nouns: tuple[Noun, ...]
