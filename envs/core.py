"""The environment interface: tasks, actions, observations, outcomes, and optional capabilities.

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
    """Unique name in the task's set. Any text: it is never used as a path."""
    env: str
    """Name of a registered environment, such as "alfred"."""
    kind: str
    """The family that the task belongs to, such as "pick_heat_then_place_in_recep"."""
    goal: str = Field(min_length=1)
    """The instruction, as a person would say it."""
    scene: Mapping[str, JsonValue]
    """Parameters of the environment's `Scene`, checked by it before anything starts."""
    max_steps: int = Field(default=30, ge=1, le=1 << 53)
    """High-level actions that an agent may try."""
    reference_cost: int | None = Field(default=None, ge=0, le=1 << 53)
    """Low-level steps (in `minedojo`, ticks) of the expert's solution, for path-length weights."""


@dataclass(frozen=True, slots=True)
class Action:
    """One high-level step in English, such as "put the mug_2 in the cabinet_1".

    Made by an environment from its own verbs, or parsed by it from text; equal by its text.
    """

    text: str
    verb: str = field(compare=False)
    arguments: tuple[str, ...] = field(default=(), compare=False)


class Reason(StrEnum):
    """Why an action had no effect. Planners may use it, and reports count it."""

    UNKNOWN_ACTION = "unknown_action"
    """The text or action is none of this environment's, or is not understood."""
    NOT_FOUND = "not_found"
    """The object is not in the scene, or has not been seen yet."""
    AMBIGUOUS = "ambiguous"
    NOT_VISIBLE = "not_visible"
    OUT_OF_REACH = "out_of_reach"
    BLOCKED = "blocked"
    """Something is in the way of moving, opening or taking."""
    HANDS_FULL = "hands_full"
    HANDS_EMPTY = "hands_empty"
    CLOSED = "closed"
    """The object, or its receptacle, is closed."""
    ALREADY = "already"
    """The goal state of the action holds already."""
    WRONG_STATE = "wrong_state"
    """The object's state forbids it, such as opening a running microwave."""
    NO_ROOM = "no_room"
    MISSING_ITEM = "missing_item"
    """A tool or an ingredient is missing, such as a knife for slicing."""
    NOT_ALLOWED = "not_allowed"
    """This action is not possible with this kind of object or receptacle."""
    DEADLINE = "deadline"
    """The action was not finished within its time limit."""
    DIED = "died"


@dataclass(frozen=True, slots=True, eq=False)
class Clip:
    """Earlier frames as images: `frames` uint8 (T, H, W, 3), and a description."""

    frames: NDArray[np.uint8]
    text: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """What the agent observes now. Depth and instances are present only if requested."""

    text: str
    """What the image does not show, as a sentence: "You have a mug in your hands." May be empty."""
    rgb: NDArray[np.uint8] | None = None
    """Image, (H, W, 3), top row first; the same size throughout an episode."""
    clips: tuple[Clip, ...] = ()
    """Video clips from the environment, oldest first (EgoPlan)."""
    depth: NDArray[np.float32] | None = None
    """Depth image, (H, W), metres along the optical axis; inf for the background."""
    instances: NDArray[np.int32] | None = None
    """Index into `names` of what each pixel shows, (H, W); -1 for the background."""
    names: tuple[str, ...] = ()

    def __repr__(self) -> str:
        parts = [repr(self.text)]
        if self.rgb is not None:
            parts.append(f"rgb={shape(self.rgb)}")
        if self.clips:
            parts.append(f"clips={len(self.clips)}")
        parts += [name for name in ("depth", "instances") if getattr(self, name) is not None]
        return f"Observation({', '.join(parts)})"

    def _repr_html_(self) -> str:
        """The image and the text, where a notebook shows it."""
        from inhabit.envs.notebook import html

        return html(self)

    def _repr_png_(self) -> bytes | None:
        """The image alone."""
        from inhabit.envs.pictures import png

        return None if self.rgb is None else png(self.rgb)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an action."""

    reason: Reason | None
    """Why the action had no effect; None if it succeeded."""
    feedback: str
    """One sentence for a model: what happened, or what prevented it."""
    met: int
    """Number of goal conditions that hold now, out of `total` >= 1. All hold in a solved task."""
    total: int
    over: bool
    """The environment has ended the episode: solved, answered, died, or last frame shown."""
    cost: int = 1
    """Number of low-level steps taken; in `minedojo`, of ticks."""


@dataclass(frozen=True, slots=True)
class SceneObject:
    """One object of a scene. EIE and judges check claims against it."""

    name: str
    """Name of the object as actions have it: "mug_2"."""
    kind: str
    """Type of the object in English: "mug"."""
    states: Mapping[str, bool]
    """Every state of the object's kind -> whether it holds: {"open": False, "dirty": True}."""
    support: str | None = None
    """Name of the object that this one is in or on; None if on the floor or a wall."""
    inside: bool = False
    """Whether the object is in its support, not on it."""
    held: bool = False
    pixels: int = 0
    """Number of pixels of the current image that show the object."""
    count: int = 1
    """How many of its kind the object stands for: 9 for a stack of nine."""
    room: str = ""
    """Kind of the object's room, in words: "living room". Empty in scenes of one room."""


class Determinism(StrEnum):
    """What the same task, seed and actions reproduce."""

    FRAMES = "frames"
    """The same state, and images with the same bytes."""
    STATE = "state"
    """The same state; images may differ in some pixels."""
    NONE = "none"


class SimulatorError(UserError, RuntimeError):
    """The simulator died, hung or violated its protocol. Names it and its last output lines."""

    exit_code = ExitCode.CANNOT_START


class SceneError(UserError, ValueError):
    """A scene cannot be built. Names the field, the value and the nearest valid values."""


class TaskError(UserError, ValueError):
    """A task set cannot be read. Names the file, the record, and the error."""


class UnavailableError(UserError, RuntimeError):
    """Something is missing on this machine. Says what, and the command that installs it."""

    exit_code = ExitCode.CANNOT_START


class UnknownNameError(UserError, ValueError):
    """No entry is registered under a name. Lists the nearest names."""

    def __init__(self, what: str, name: str, known: Iterable[str], hint: str | None = None) -> None:
        super().__init__(f"There is no {what} {name!r}. {hint or did_you_mean(str(name), known)}")


def shape(array: NDArray[np.generic]) -> str:
    """An array in a few characters: "uint8 (96, 96, 3)"."""
    return f"{array.dtype} {array.shape}"


class Env(ABC):
    """A simulator or a benchmark that runs one task at a time.

    Between `reset` and the end of the episode `observe`, `vocabulary`, `actions` and `progress`
    change nothing and may be called at will; the world stands still meanwhile, unless `realtime`.
    An action that can't be carried out is an `Outcome` with a reason; only a simulator that fails
    raises.
    """

    Scene: ClassVar[type[BaseModel]]
    """The scene model that EIE fills: every field with range, unit and vocabulary."""
    determinism: Determinism
    """Determinism of the backend in use."""
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
        """The current observation."""

    @abstractmethod
    def vocabulary(self) -> Sequence[Action]:
        """Every action of this kind of scene, in a fixed order. It reveals nothing about the
        scene.
        """

    @abstractmethod
    def actions(self) -> Sequence[Action]:
        """The plausible actions given what this agent has seen, in a fixed order. Some may fail."""

    @abstractmethod
    def parse(self, text: str) -> Action | None:
        """The action that `text` means, or None. `parse(action.text) == action`."""

    @abstractmethod
    def act(self, action: Action) -> Outcome:
        """Execute one action until it finishes or fails."""

    @abstractmethod
    def progress(self) -> tuple[int, int]:
        """The number of goal conditions that hold, and their total (>= 1). Never shown to
        agents.
        """

    def outcome(
        self, reason: Reason | None, feedback: str, *, cost: int = 1, over: bool = False
    ) -> Outcome:
        """The result of an action, with the progress now. The episode is over if `over` says so, or
        if the task is solved.
        """
        met, total = self.progress()
        return Outcome(reason, feedback, met, total, over or met == total, cost)

    @abstractmethod
    def close(self) -> None:
        """Release the simulator. Safe to call twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


# Optional capabilities. The runner grants these by name to an agent, a judge or EIE, and every
# record lists the grants. An agent has no access without a grant.


@runtime_checkable
class Expert(Protocol):
    """Plans the solution of its task from the current state."""

    def plan(self) -> Sequence[Action]:
        """A plan from the current state; empty if the task is solved or no plan is known.

        Every action of it can be carried out in its turn.
        """
        ...

    def best_actions(self) -> frozenset[Action] | None:
        """Every action that starts a shortest plan; None if that is unknown."""
        ...


@runtime_checkable
class Forkable(Protocol):
    """Copies its state, for lookahead."""

    def fork(self) -> Env:
        """An independent copy of the current state. Close it when done.

        Copies may share one simulator, so use only one of them at a time: calls from several
        threads need a lock.
        """
        ...


@runtime_checkable
class Redirectable(Protocol):
    """Takes on another goal in the middle of an episode (EIE)."""

    def pursue(self, task: Task) -> None:
        """From now on, the goal is that of `task`, whose scene differs in nothing else.

        What was done stays done. A later `fork` has the new goal, earlier ones keep theirs.

        Raises:
            SceneError: the scene can't be read.
        """
        ...


@runtime_checkable
class Tools(Protocol):
    """Functions that an agent without images may call (HOLMES)."""

    def tools(self) -> Sequence[Mapping[str, JsonValue]]:
        """JSON schemas of the functions, with descriptions."""
        ...

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> JsonValue:
        """Call one function."""
        ...


@runtime_checkable
class Privileged(Protocol):
    """Exposes its full state to judges, replay and EIE."""

    def state(self) -> Mapping[str, JsonValue]:
        """Objects, poses, states and relations, as plain data."""
        ...

    def digest(self) -> str:
        """A short hash of the state: equal exactly for equal states. Replay compares it."""
        ...

    def admissible(self) -> Sequence[Action]:
        """The actions that would succeed now."""
        ...


@runtime_checkable
class Factual(Protocol):
    """Describes the objects of the scene, in one form for all environments. Privileged."""

    def things(self) -> Sequence[SceneObject]:
        """Every object, seen or not, in a fixed order."""
        ...
