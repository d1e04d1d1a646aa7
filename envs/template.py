"""What an environment offers to whoever writes tasks for it: a template to fill, and its words.

EIE (PCA-Bench) asks this of a registration; neither names the other.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from pydantic import JsonValue

from inhabit.envs.core import Action, Task


class ActionKind(StrEnum):
    """What an action comes to, whatever words an environment has for it."""

    GO = "go"
    TAKE = "take"
    PUT = "put"
    DROP = "drop"
    OPEN = "open"
    CLOSE = "close"
    SWITCH_ON = "switch on"
    SWITCH_OFF = "switch off"
    CUT = "cut"
    GATHER = "gather"
    """Getting something out of the ground, a plant or an animal."""
    MAKE = "make"
    """Making something of what one carries: what is made is the action's first argument, and where
    that is done, if it matters, the last."""
    SEARCH = "search"
    """Looking for what is not in sight."""
    LOOK = "look"
    """Turning the eyes elsewhere, and nothing else."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Event:
    """A node of a task's topology: something that has to come about on the way to the goal."""

    name: str
    """Unique in its task: "heat"."""
    wish: str
    """As an instruction, without a full stop: "heat the apple"."""
    done: str
    """As a sentence once it has come about: "The apple has been heated."."""
    deed: ActionKind
    """The kind of action that brings it about,"""
    thing: str
    """and what that is done to (for PUT: where it is put), as actions name it without a number."""
    needs: tuple[str, ...] = ()
    """Names of the events that come first."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The words of an environment, for reading and writing sentences about its scenes."""

    kinds: frozenset[str]
    """Every kind of thing that it can have, as `Thing.kind` has it."""
    states: Mapping[str, tuple[str, str]]
    """State as `Thing.states` has it -> adjectives for "holds" and "does not": ("open",
    "closed")."""
    synonyms: Mapping[str, str] = field(default_factory=dict)
    """Another word -> the kind."""
    products: Mapping[str, str] = field(default_factory=dict)
    """What comes into being -> the kind that it is made of: "apple slice" -> "apple"."""
    containers: frozenset[str] = frozenset()
    """Kinds that one puts things in, not on."""


class Template(Protocol):
    """Writes, varies and takes apart the tasks of one environment. All chance is in `rng`."""

    @property
    def lexicon(self) -> Lexicon:
        """Its words."""
        ...

    @property
    def changes(self) -> Sequence[str]:
        """Ways to evolve a task, in a few plain words each: "another room"."""
        ...

    def schema(self) -> Mapping[str, JsonValue]:
        """JSON schema of a scene: every field with its range, unit and vocabulary."""
        ...

    def prose(self) -> str:
        """The same told to a writer: what there is, what can be wanted, and what can't be."""
        ...

    def seed(self, rng: random.Random, name: str) -> Task:
        """A new task, whose id is `name`."""
        ...

    def evolve(self, task: Task, change: str, rng: random.Random, name: str) -> Task | None:
        """A task made from another one by one of `changes`; None where it does not lend itself."""
        ...

    def kind(self, scene: Mapping[str, JsonValue]) -> str:
        """The family that a scene's goal belongs to; "" where it can't be told."""
        ...

    def events(self, task: Task) -> Sequence[Event]:
        """The topology of a task, leaves first. Empty where it can't be told."""
        ...

    def room(self, task: Task) -> str:
        """The place where it happens: what is never shared between training and test."""
        ...

    def deed(self, action: Action) -> ActionKind:
        """What an action comes to."""
        ...


@dataclass(frozen=True, slots=True)
class WordedGoal:
    """A goal in words, and what it asks for: what a reader of goals learns from."""

    text: str
    kind: str
    """The type of task."""
    parts: tuple[str, ...]
    """The nouns of object, place and movable, each empty where there is none."""
