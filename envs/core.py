"""What an environment is: a task to start from, something to observe, something to do.

Nothing here names a simulator. One agent per environment, one task at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from inhabit.envs.errors import ExitCode, UserError, did_you_mean


class Task(BaseModel):
    """What to achieve, and where: one line of JSON. Agents see the goal and nothing else of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    """Unique in its set. Any text: it is never used as a path."""
    env: str
    """Name of a registered environment, such as "alfred"."""
    kind: str
    """The family it belongs to, such as "pick_heat_then_place_in_recep"."""
    goal: str = Field(min_length=1)
    """The instruction, as a person would say it."""
    scene: Mapping[str, JsonValue]
    """Parameters of the environment's `Scene`, checked by it before anything starts."""
    max_steps: int = Field(default=30, ge=1)
    """High-level actions that an agent may try."""
    reference_cost: int | None = Field(default=None, ge=0)
    """Low-level steps of the expert's solution, for path-length weights."""


@dataclass(frozen=True, slots=True)
class Action:
    """One high-level step in plain words, such as "put the mug_2 in the cabinet_1".

    Made by an environment from its own verbs, or parsed by it from text; equal by its text.
    """

    text: str
    verb: str = field(compare=False)
    arguments: tuple[str, ...] = field(default=(), compare=False)


class Reason(StrEnum):
    """Why an action had no effect. An agent may plan on it; a person may count it."""

    UNKNOWN_ACTION = "unknown_action"
    """No such action in this environment, or nothing could be understood."""
    NOT_FOUND = "not_found"
    """The thing is not in the scene, or has not been seen yet."""
    AMBIGUOUS = "ambiguous"
    NOT_VISIBLE = "not_visible"
    OUT_OF_REACH = "out_of_reach"
    BLOCKED = "blocked"
    """Something stands in the way of moving, opening or taking."""
    HANDS_FULL = "hands_full"
    HANDS_EMPTY = "hands_empty"
    CLOSED = "closed"
    """The thing, or what holds it, is closed."""
    ALREADY = "already"
    """It is so already."""
    WRONG_STATE = "wrong_state"
    """Its state forbids it, such as opening a microwave that runs."""
    NO_ROOM = "no_room"
    MISSING_ITEM = "missing_item"
    """A tool or an ingredient is lacking, such as a knife for slicing."""
    NOT_ALLOWED = "not_allowed"
    """This kind of thing can't be treated so, or can't go there."""
    DEADLINE = "deadline"
    """Not finished in the time that the action is given."""
    DIED = "died"


@dataclass(frozen=True, slots=True, eq=False)
class Clip:
    """A stretch of the past as pictures: `frames` uint8 (T, H, W, 3), and what was done in it."""

    frames: NDArray[np.uint8]
    text: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """What the agent may know at one moment. Depth and instances only where they were asked for."""

    text: str
    """What can't be seen and is known all the same, in a sentence: "You have a mug in your hands."
    Empty if there is nothing to say."""
    rgb: NDArray[np.uint8] | None = None
    """(H, W, 3), first row on top."""
    clips: tuple[Clip, ...] = ()
    """Films that the environment itself shows, oldest first (EgoPlan)."""
    depth: NDArray[np.float32] | None = None
    """(H, W), metres along the optical axis; inf where nothing is hit."""
    instances: NDArray[np.int32] | None = None
    """(H, W), index into `names`; -1 where nothing is hit."""
    names: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        """The picture and the text, where a notebook shows it."""
        from inhabit.envs.notebook import html

        return html(self)

    def _repr_png_(self) -> bytes | None:
        """The picture alone."""
        from inhabit.envs.notebook import png

        return None if self.rgb is None else png(self.rgb)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an action."""

    reason: Reason | None
    """None if the action did what it says."""
    feedback: str
    """One sentence that a model can use: what happened, or what stood in the way."""
    met: int
    """Goal conditions that hold now, out of `total` >= 1. Solved when equal."""
    total: int
    over: bool
    """The environment has ended the episode: solved, answered, died, or the last frame shown."""
    cost: int = 1
    """Low-level steps that it took."""


@dataclass(frozen=True, slots=True)
class SceneObject:
    """One object of a scene, as a person would speak of it: what EIE and judges check claims on."""

    name: str
    """As actions name it: "mug_2"."""
    kind: str
    """Its type in plain words: "mug"."""
    states: Mapping[str, bool]
    """Every state that its kind can have, and whether it holds: {"open": False, "dirty": True}."""
    support: str | None = None
    """Name of what it stands on or lies in; None where that is the floor or a wall."""
    inside: bool = False
    """Whether it lies in its support, not on it."""
    held: bool = False
    pixels: int = 0
    """How many pixels of the present picture show it."""


class Determinism(StrEnum):
    """What the same task, seed and actions give again."""

    FRAMES = "frames"
    """The same state and the same bytes of every picture."""
    STATE = "state"
    """The same state; pictures may differ in some pixels."""
    NONE = "none"


class SimulatorError(UserError, RuntimeError):
    """The simulator died, hung or broke its protocol. Says which, and the last lines it printed."""

    exit_code = ExitCode.CANNOT_START


class SceneError(UserError, ValueError):
    """A scene can't be built. Names the field, the value and the nearest valid ones."""


class TaskError(UserError, ValueError):
    """A set of tasks can't be read. Names the file, the line or record, and what is wrong."""


class UnavailableError(UserError, RuntimeError):
    """Something that this machine lacks is needed. Says what, and the command that brings it."""

    exit_code = ExitCode.CANNOT_START


class UnknownNameError(UserError, ValueError):
    """A name that nothing is registered under. Names the nearest ones."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        super().__init__(f"There is no {what} {name!r}. {did_you_mean(name, known)}")


class Env(ABC):
    """A simulator or a benchmark, one task at a time.

    Between `reset` and the end of the episode `observe`, `vocabulary`, `actions` and `progress`
    change nothing and may be called at will; the world stands still meanwhile, unless `realtime`.
    An action that can't be carried out is an `Outcome` with a reason; only a simulator that fails
    raises.
    """

    Scene: ClassVar[type[BaseModel]]
    """The parameter template that EIE fills: every field with its range, unit and vocabulary."""
    determinism: Determinism
    """Of the backend in use."""
    realtime: ClassVar[bool] = False

    @abstractmethod
    def reset(self, task: Task, *, seed: int) -> None:
        """Start `task`.

        Raises:
            SceneError: the scene names something that does not exist or can't be built.
            SimulatorError: the simulator did not start.
        """

    @abstractmethod
    def observe(self) -> Observation:
        """What the agent sees and knows now."""

    @abstractmethod
    def vocabulary(self) -> Sequence[Action]:
        """Everything that can be said in this kind of scene, in a fixed order: tells nothing about
        what is really there.
        """

    @abstractmethod
    def actions(self) -> Sequence[Action]:
        """What is plausible given what this agent has seen so far, in a fixed order. May fail."""

    @abstractmethod
    def parse(self, text: str) -> Action | None:
        """The action that `text` means, or None. `parse(action.text) == action`."""

    @abstractmethod
    def act(self, action: Action) -> Outcome:
        """Carry out one action, to its end or to what stopped it."""

    @abstractmethod
    def progress(self) -> tuple[int, int]:
        """Goal conditions that hold now, and how many there are (>= 1). Never shown to agents."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the simulator. Safe to call twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


# What only some environments can do. The runner grants these to an agent, a judge or EIE by name,
# and every record says what was granted: an agent never finds them by itself.


@runtime_checkable
class Expert(Protocol):
    """Knows how its task can be solved from here."""

    def plan(self) -> Sequence[Action]:
        """A solution from here, empty when solved or when there is none.

        Every action of it can be carried out in its turn.
        """
        ...

    def best_actions(self) -> frozenset[Action] | None:
        """Every action that some shortest plan starts with; None where that isn't known."""
        ...


@runtime_checkable
class Forkable(Protocol):
    """Can copy its state, for lookahead."""

    def fork(self) -> Env:
        """An independent copy of this moment. Close it when done."""
        ...


@runtime_checkable
class Tools(Protocol):
    """Answers questions that a model without eyes may ask (HOLMES)."""

    def tools(self) -> Sequence[Mapping[str, JsonValue]]:
        """JSON schemas of the functions, with their descriptions."""
        ...

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> JsonValue:
        """The answer of one function."""
        ...


@runtime_checkable
class Privileged(Protocol):
    """Shows its whole state to judges, replay and EIE."""

    def state(self) -> Mapping[str, JsonValue]:
        """Objects, poses, states and relations, as plain data."""
        ...

    def digest(self) -> str:
        """A short hash of the state, equal exactly when the state is: what replay compares."""
        ...

    def admissible(self) -> Sequence[Action]:
        """The actions that would really succeed now."""
        ...


@runtime_checkable
class Factual(Protocol):
    """Says what is true of the scene, in one form for every environment. Privileged."""

    def things(self) -> Sequence[SceneObject]:
        """Every object, seen or not, in a fixed order."""
        ...
