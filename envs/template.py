"""The interface of task templates, with which EIE samples, evolves and analyses tasks.

EIE (PCA-Bench) asks this of a registration; neither names the other.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, runtime_checkable

from pydantic import JsonValue

from inhabit.envs.core import Action, SceneObject, Task


class ActionKind(StrEnum):
    """Kinds of action that all environments share."""

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
    """Obtaining something from the ground, a plant or an animal."""
    MAKE = "make"
    """Making an item from others: the item is the action's first argument, and the required
    station, if any, the last."""
    SEARCH = "search"
    """Looking for something that is not in view."""
    LOOK = "look"
    """Changing the view without another effect."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Event:
    """A node of a task's event graph: something that must happen on the way to the goal."""

    name: str
    """Name of the event, unique in its task: "heat"."""
    wish: str
    """The event as an instruction, without a full stop: "heat the apple"."""
    done: str
    """The event as a sentence after it happened: "The apple has been heated."."""
    action_kind: ActionKind
    """Kind of the action that causes the event."""
    thing: str
    """Object of that action (for PUT: the receptacle), as actions name it, without a number."""
    needs: tuple[str, ...] = ()
    """Names of the events that come first."""
    objects: tuple[str, ...] = ()
    """Names of its objects, as in `SceneObject.name`, if no others of their kinds will do."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The vocabulary of an environment, for reading and writing sentences about its scenes."""

    kinds: frozenset[str]
    """Every kind of object, as in `SceneObject.kind`."""
    states: Mapping[str, tuple[str, str]]
    """State, as in `SceneObject.states` -> adjectives for "holds" and "does not hold": ("open",
    "closed")."""
    synonyms: Mapping[str, str] = field(default_factory=dict)
    """Synonym -> kind."""
    products: Mapping[str, str] = field(default_factory=dict)
    """Product -> the kind it is made of: "apple slice" -> "apple"."""
    containers: frozenset[str] = frozenset()
    """Kinds that objects are put in, not on."""
    lookalikes: Sequence[frozenset[str]] = ()
    """Kinds that a person may take for one another in an image."""
    places: frozenset[str] = frozenset()
    """Words for where a scene is, which are no objects: "desert"."""
    called: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Further name, singular or plural -> the kinds that it may mean. In a scene it means the one
    that is there."""


class Template(Protocol):
    """Samples, evolves and analyses the tasks of one environment. `rng` is the only source of
    randomness.
    """

    @property
    def lexicon(self) -> Lexicon:
        """Vocabulary of the environment."""
        ...

    @property
    def changes(self) -> Sequence[str]:
        """Names of the ways to evolve a task, such as "another room"."""
        ...

    @property
    def harder(self) -> Set[str]:
        """Those of `changes` after which more has to be done or watched."""
        ...

    def schema(self) -> Mapping[str, JsonValue]:
        """JSON schema of a scene: every field with range, unit and vocabulary."""
        ...

    def prose(self) -> str:
        """The possible scenes and goals in prose, for a writer."""
        ...

    def seed(self, rng: random.Random, name: str) -> Task:
        """Sample a new task with id `name`."""
        ...

    def evolve(self, task: Task, change: str, rng: random.Random, name: str) -> Task | None:
        """Evolve a task by one of `changes`; None if that is not possible."""
        ...

    def kind(self, scene: Mapping[str, JsonValue]) -> str:
        """The task type of a scene's goal; "" if unknown."""
        ...

    def events(self, task: Task) -> Sequence[Event]:
        """The event graph of a task, leaves first. Empty if unknown."""
        ...

    def room(self, task: Task) -> str:
        """The place of the task. Training and test sets never share one."""
        ...

    def action_kind(self, action: Action) -> ActionKind:
        """The kind of an action."""
        ...


@runtime_checkable
class ShowsHeld(Protocol):
    """A template whose images show part of what the observation's text says."""

    def unseen(self, text: str, things: Sequence[SceneObject]) -> str:
        """The part of an observation's text that its image does not show; may be empty."""
        ...


@dataclass(frozen=True, slots=True)
class Crossing:
    """Goals of one scene that may all be asked of the same pictures."""

    rows: tuple[Task, ...]
    """Tasks that differ in their goals alone."""
    parts: tuple[Task, ...]
    """Tasks of the same scene, each with a part of some row's goal. Solving one, and then another,
    leads to the pictures."""


@runtime_checkable
class CrossesGoals(Protocol):
    """A template that finds several goals for one scene."""

    def crossings(
        self,
        task: Task,
        rows: int,
        things: Sequence[SceneObject],
        rng: random.Random,
        common: bool = False,
    ) -> Iterator[Crossing]:
        """Different sets of `rows` goals, the most promising first.

        Args:
            task: of the scene; its own goal gives way.
            rows: number of goals.
            things: what is in the scene at the start.
            rng: the source of randomness.
            common: whether all goals of a set ask for one further thing, where there is one.
        """
        ...

    def undisturbed(self, task: Task) -> Task:
        """The task in a scene that nothing but the agent changes: that of the crossings."""
        ...


@runtime_checkable
class BuildsTwins(Protocol):
    """A template that builds twins as scenes of their own, where no state can be copied."""

    def twins(self, task: Task, count: int, rng: random.Random) -> Sequence[Task]:
        """Tasks with the goal of another one, each in a scene where another action is best.

        Everything that words tell is equal in them; only their images differ. Empty if there are
        none.
        """
        ...

    def steps(self, task: Task) -> int | None:
        """The length of a plan for a task, in actions; None if it is unknown."""
        ...


@runtime_checkable
class BuildsSquares(Protocol):
    """A template that builds the pictures of a square as scenes of their own."""

    def squares(self, task: Task, rng: random.Random) -> Sequence[Sequence[Task]]:
        """Tasks by goal, and for each goal by picture.

        The tasks of a picture differ in their goals alone, those of a goal in their scenes. Words
        tell the same of all scenes. Empty if there is no square.
        """
        ...


@dataclass(frozen=True, slots=True)
class RecipePart:
    """A kind of thing that another one is made of."""

    kind: str
    words: str
    """The kind with its number: "four planks"."""
    needed: int
    carried: int


@runtime_checkable
class MakesThings(Protocol):
    """A template of an environment in which things are made of others."""

    def ingredients(
        self, action: Action, times: int, things: Sequence[SceneObject]
    ) -> Sequence[RecipePart]:
        """What an action of the kind MAKE takes; empty if that is unknown.

        Args:
            action: one such action.
            times: how often it is done.
            things: what is there, and what is carried.
        """
        ...


@runtime_checkable
class SaysInWords(Protocol):
    """A template of an environment whose texts have names such as "kitchentable"."""

    def in_words(self, text: str) -> str:
        """A text of the environment with these names in words: "walk to the kitchen table".

        The environment parses an action in either form.
        """
        ...


@runtime_checkable
class FewRooms(Protocol):
    """A template with so few rooms that splits are apportioned by their number."""

    rooms: Sequence[str]
    """Every value of `Template.room`."""


@dataclass(frozen=True, slots=True)
class WordedGoal:
    """A goal text with its meaning, to train goal readers."""

    text: str
    kind: str
    """The task type."""
    parts: tuple[str, ...]
    """The nouns of object, receptacle and movable receptacle; empty if there is none."""
