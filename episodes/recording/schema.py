"""What a run writes down: `run.json` and every line of `episode.jsonl`, as frozen types.

`docs/run-folder.md` describes the same for people who write readers of their own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from operator import not_
from typing import Annotated, Literal

from pydantic import BaseModel, Field, FiniteFloat, JsonValue

from inhabit.agents.core import Call, Count, Decision, Grant, Nats, Ranked
from inhabit.envs.core import Action, Determinism, Reason, Task

RENDERER = "renderer"
"""Key of `RunHeader.software` for the version of the renderer."""
FramePath = Annotated[str, Field(pattern=r"^frames/[0-9]{1,9}(-[0-9]{1,9})?\.jpg$")]
"""Where an image lies inside the episode's folder."""


class Choice(StrEnum):
    """Which actions an agent chose from."""

    VOCABULARY = "vocabulary"
    """All that can be said in this kind of scene."""
    SEEN = "seen"
    """What is plausible from what the agent has seen."""
    ORACLE = "oracle"
    """What would succeed: privileged."""


class Sight(StrEnum):
    """Which images the agent is shown. Recorded frames are always real."""

    SHOWN = "shown"
    BLANK = "blank"
    """Black images."""
    NONE = "none"
    OTHER = "other"
    """Images of another moment of another room."""


class Ending(StrEnum):
    """How an episode ended. Each one counts in every rate."""

    SUCCESS = "success"
    """All goal conditions held at its end."""
    STOPPED = "stopped"
    """The agent said that it was done, and it was not."""
    STEP_LIMIT = "step_limit"
    """All actions that it may try are used up, whether or not they worked."""
    INVALID_LIMIT = "invalid_limit"
    """Too many actions that could not be carried out."""
    WRONG_ANSWER = "wrong_answer"
    """The environment ended the episode unsolved."""
    FORMAT_ERROR = "format_error"
    """The last invalid action allowed, or the only step, went to an answer that can't be read."""
    BUDGET = "budget"
    """What the run may spend on its model, or the time of the episode, is spent."""
    SCENE_REFUSED = "scene_refused"
    """The simulator could not build the scene."""
    SIMULATOR_FAULT = "simulator_fault"
    """The simulator or the environment failed."""
    MODEL_FAULT = "model_fault"
    """The model or the agent failed, or took too long for a decision."""


FAULTS = (Ending.SCENE_REFUSED, Ending.SIMULATOR_FAULT, Ending.MODEL_FAULT)
"""Endings by a fault, of the scene, the simulator, or the model or agent."""
UNANSWERED = (Ending.MODEL_FAULT, Ending.BUDGET)
"""Endings where the agent gave no decision. Another attempt can go on from there."""


class _Record(BaseModel, frozen=True, extra="ignore"):
    """A part of a record. Fields that a later version adds are passed over."""


class RecordedSettings(_Record):
    """Every setting with the value that was in force, whether or not it was given."""

    env: Mapping[str, JsonValue] = Field(default_factory=dict)
    agent: Mapping[str, JsonValue] = Field(default_factory=dict)
    model: Mapping[str, JsonValue] = Field(default_factory=dict)
    run: Mapping[str, JsonValue] = Field(default_factory=dict)


class Fork(_Record):
    """Where a run branched off another one, and what was done otherwise from there."""

    run: str
    """Name of the other run's folder."""
    episode: Count
    """Number of the episode in that run."""
    step: Count
    """The first step that is not the other run's."""
    action: str | None = None
    """What was done in that step in place of what had been decided."""
    hint: str | None = None
    """What the agent was told in that step."""
    model: str | None = None
    """KIND:NAME of the model that was asked from that step on."""


class RunHeader(_Record):
    """`run.json`: what was asked for, and with what."""

    version: Literal[1] = 1
    created: str
    """When the run began: UTC, ISO 8601."""
    command: tuple[str, ...]
    """The last command that began the run or went on with it."""
    earlier_commands: tuple[tuple[str, ...], ...] = Field(default=(), exclude_if=not_)
    """Earlier commands, the first one first."""
    env: str
    backend: str
    determinism: Determinism
    agent: str
    model: str | None
    model_details: Mapping[str, JsonValue] = Field(default_factory=dict)
    """What else shapes the model's answers, by its own word, such as its dtype."""
    candidates: Choice
    grants: tuple[Grant, ...]
    image: Sight
    settings: RecordedSettings
    seed: int
    max_steps: Count | None = None
    """What replaces each task's own limit; None where nothing does."""
    episodes: Count
    """Number of tasks."""
    software: Mapping[str, str]
    """The versions of what matters."""
    machine: Mapping[str, JsonValue] = Field(default_factory=dict)
    """What the run began on: its processor, how many of them may be used, and memory in GB."""
    fork: Fork | None = None
    """Where the run branched off; None unless `inhabit fork` made it."""

    @property
    def told(self) -> tuple[str, ...]:
        """All that the agent has beyond seeing and acting: its grants, and candidates that tell
        what the simulator knows.
        """
        known = () if self.candidates is Choice.VOCABULARY else (f"{self.candidates} candidates",)
        return (*(grant.value for grant in self.grants), *known)


class PoseRecord(_Record):
    """Where the agent stood, and which way it looked."""

    x: FiniteFloat
    """Metres, as `z` is; seen from above, x is to the right where z is upwards."""
    z: FiniteFloat
    heading: FiniteFloat
    """Degrees clockwise from +z, seen from above, in [0, 360)."""


class PlacedThing(_Record):
    """Where a thing was at the start."""

    name: str
    x: FiniteFloat
    z: FiniteFloat


class _Line(_Record):
    time: Annotated[float, Field(ge=-62_135_596_800, lt=253_402_300_800)]
    """Seconds since the epoch, in the years 1 to 9999: clocks may be set wrong."""


class StartLine(_Line):
    """An attempt begins. The last attempt of an episode is the one that counts."""

    kind: Literal["start"] = "start"
    attempt: Count
    """Number of the attempt, from 1."""
    task: Task
    seed: int
    vocabulary: tuple[str, ...] | None = None
    """The candidates of every step, where they are the vocabulary."""
    met: Count | None
    total: Count | None
    """Number of goal conditions; None where the scene could not be built."""
    continues: Count | None = None
    """The attempt that was cut short, whose decisions are acted again before new ones are made."""
    things: tuple[PlacedThing, ...] = ()
    """Where things were, as far as the simulator tells."""


class SeeLine(_Line):
    """What there was to see before step `step`, or after the last one."""

    kind: Literal["see"] = "see"
    step: Count
    text: str
    frame: FramePath | None
    digest: str | None
    """Digest of the exact pixels, as `inhabit.agents.models.core.Image.digest` has it."""
    state: str | None
    """Digest of the simulator's state, where it shows one."""
    candidates: tuple[str, ...] | None = None
    """Candidates; None where they are the start's vocabulary or the same as at the step before."""
    pose: PoseRecord | None = None
    """Pose of the agent; None where the simulator does not tell."""
    seconds: FiniteFloat
    """Seconds in the simulator."""


DECIDED = ("stop", "raw", "description", "reasoning", "ranked", "normaliser", "planned", "calls")
"""Fields that a `Decision` and its line share."""


class DecideLine(_Line):
    """What the agent wanted. On disk before it is acted on."""

    kind: Literal["decide"] = "decide"
    step: Count
    action: str | None
    stop: bool
    raw: str
    description: str
    reasoning: str
    ranked: tuple[Ranked, ...]
    normaliser: Nats | None = Field(default=None, exclude_if=lambda value: value is None)
    """The logarithm of the summed exp(score) of all scored candidates. Left out where not all were
    scored."""
    planned: tuple[str, ...] = Field(default=(), exclude_if=not_)
    """Actions that are to follow as long as each has an effect. Left out where there are none."""
    calls: tuple[Call, ...]
    """Calls as they were sent and answered; an image stands as its digest."""
    seconds: FiniteFloat
    """Seconds in the agent and its model."""

    @property
    def said(self) -> str:
        """The action, or what there is instead, for people."""
        return self.action or ("stop" if self.stop else self.raw or "no readable action")

    def decision(self, action: Action | None) -> Decision:
        """The decision that this records, with its action as the environment parses it now."""
        return Decision(action, **{name: getattr(self, name) for name in DECIDED})


class ActLine(_Line):
    """Result of the action."""

    kind: Literal["act"] = "act"
    step: Count
    reason: Reason | None
    """Why the action had no effect; None if it worked."""
    feedback: str
    met: Count
    total: Count
    over: bool
    cost: Count
    seconds: FiniteFloat
    """Seconds in the simulator."""


class Seconds(_Record):
    """Where the time of an episode went."""

    simulator: FiniteFloat = 0.0
    model: FiniteFloat = 0.0
    record: FiniteFloat = 0.0
    other: FiniteFloat = 0.0


class TokenCounts(_Record, populate_by_name=True):
    """What models read and wrote."""

    read: Count = Field(default=0, alias="in")
    written: Count = Field(default=0, alias="out")


class EndLine(_Line):
    """How the attempt ended, and its sums: all that the metrics need."""

    kind: Literal["end"] = "end"
    ending: Ending
    success: bool
    met: Count
    total: Count
    steps: Count
    cost: Count
    invalid: Count
    unmatched: Count = 0
    """Answers in which there was no action to be found; each of them is `invalid` too."""
    replans: Count
    seconds: Seconds
    overhead_ms: tuple[FiniteFloat, ...]
    """Time of each step in neither simulator nor model, in milliseconds."""
    tokens: TokenCounts
    error: str | None
    """What failed, with the last lines it printed."""
    attempt: Count = 1
    """Which attempt this was, so that a list of endings counts those before it too."""
    again: bool = False
    """A fault or a person cut the attempt short, and the episode goes on with another one."""
    printed: tuple[str, ...] = ()
    """Up to 200 lines that the simulator printed before it failed."""

    @property
    def is_fault(self) -> bool:
        """Whether it tells nothing of the agent: a fault ended it, or no budget let it begin."""
        return self.ending in FAULTS or (self.ending is Ending.BUDGET and not self.steps)

    def is_of(self, attempt: int | None) -> bool:
        """Whether this attempt ended so; None, in older files, stands for the last one."""
        return attempt in (None, self.attempt)


def is_sound(line: bytes) -> bool:
    """Whether `line` is one JSON object: a last line that isn't was spoilt by a loss of power."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


Line = StartLine | SeeLine | DecideLine | ActLine | EndLine
"""One line of `episode.jsonl`."""
