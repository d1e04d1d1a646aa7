"""The forms that a claim takes once it is read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class About(StrEnum):
    """What a claim says of its subject."""

    PRESENCE = "presence"
    """It is there to be seen."""
    COUNT = "count"
    """There are so many of it."""
    STATE = "state"
    PLACE = "place"
    """It is in or on something."""
    HELD = "held"
    """It is in the hand; without a subject: anything is."""


@dataclass(frozen=True, slots=True)
class Noun:
    """A name for things: one of them, or any of a kind."""

    words: str
    """As it was said, in lower case."""
    kinds: frozenset[str]
    """The kinds (`Thing.kind`) that it may mean."""
    number: str = ""
    """Of "mug_2": "2"; empty where any of the kind is meant."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that a text says is so."""

    words: str
    """The clause it was read from, in lower case."""
    about: About
    subject: Noun | None
    """None for HELD alone."""
    positive: bool = True
    """False where it is denied: "the mug isn't in the sink"."""
    states: tuple[tuple[str, bool], ...] = ()
    """Of STATE: the state and its value, in the names that environments may have for it."""
    place: Noun | None = None
    """Of PLACE, and of COUNT where only those in one place are counted; with PLACE None is the
    floor or a wall."""
    inside: bool = False
    """Of a place: in it, not on it."""
    count: int = 0


@dataclass(frozen=True, slots=True)
class Intent:
    """Something that a text says is to be done next: "I have to open the fridge"."""

    words: str
    verb: str
    """The first of its synonyms, such as "take"."""
    nouns: tuple[Noun, ...]
