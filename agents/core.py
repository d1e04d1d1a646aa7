"""The contract of an agent: it gets a `View` of one time step and returns a `Decision`.

One agent serves many episodes at once, so that calls to its model can be batched. Everything that
it may know about an episode is in the `View`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from operator import not_
from types import MappingProxyType
from typing import Annotated, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field, FiniteFloat, JsonValue, PlainSerializer

from inhabit.envs.core import Action, Clip, Observation, Reason, SimulatorError
from inhabit.envs.errors import UserError

STOP = "stop"
"""The word that ends an episode, where it is no action."""


class Grant(StrEnum):
    """A privilege that a run may give to an agent, beyond observing and acting. Records name it."""

    EXPERT = "expert"
    """The environment's own solution."""
    LOOKAHEAD = "lookahead"
    """Copies of the environment in its present state, to try actions in."""
    TOOLS = "tools"
    """Functions that answer questions about the scene."""


class Trial(Protocol):
    """A copy of the environment to try actions in. It shows whether actions work, but neither goal
    conditions nor whether the episode would end.
    """

    async def act(self, action: Action) -> tuple[Reason | None, str]:
        """Carry out one action: why it had no effect (None if it had), and the feedback."""
        ...

    async def look(self) -> tuple[Observation, tuple[Action, ...]]:
        """The observation and the candidates, as the run shows them to the agent."""
        ...

    async def fork(self) -> Trial:
        """A copy of this copy. Close it when done."""
        ...

    async def close(self) -> None:
        """Close the copy."""
        ...


@dataclass(frozen=True, slots=True)
class Grants:
    """Functions for what was granted; None where it was not, or the environment lacks it."""

    plan: Callable[[], Awaitable[Sequence[Action]]] | None = None
    fork: Callable[[], Awaitable[Trial]] | None = None
    tools: Sequence[Mapping[str, JsonValue]] = ()
    call: Callable[[str, Mapping[str, JsonValue]], Awaitable[JsonValue]] | None = None


NOTHING_GRANTED = Grants()
Parse = Callable[[str], Awaitable[Action | None]]
"""The environment's parser: the action that a text means, or None."""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One past step, as an agent may know it: without goal conditions."""

    action: str
    """The action that was executed; the agent's raw text where it matched none."""
    reason: Reason | None
    feedback: str
    rgb: NDArray[np.uint8] | None = None
    """Image observed before the action, (H, W, 3)."""
    text: str = ""
    """Text observed before the action."""
    clips: tuple[Clip, ...] = ()
    """Video clips observed before the action."""
    planned: tuple[str, ...] = ()
    """`Decision.planned` of this step: the actions that were to follow."""

    def __repr__(self) -> str:
        reason = f", reason={self.reason.value!r}" if self.reason else ""
        return f"Step({self.action!r}{reason}, feedback={self.feedback!r})"


async def _parse_nothing(text: str) -> Action | None:
    """The parser of a view that has no environment, such as one that is made of a record."""
    return None


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Everything that an agent may base a decision on."""

    goal: str
    """The instruction, as a person would say it."""
    observation: Observation
    """What the agent observes now: a sentence and, unless the run hides it, an image."""
    candidates: tuple[Action, ...]
    """Actions to choose from, in the environment's order."""
    history: tuple[Step, ...]
    """Past steps, oldest first."""
    seed: int = 0
    """Seed of the episode. Random choices derive from this and the number of the step alone."""
    parse: Parse = _parse_nothing
    """The environment's parser: the action that a text means, or None."""
    grants: Grants = NOTHING_GRANTED
    """What the run granted: a plan, copies to try actions in, tools."""
    can_undo: bool = False
    """Whether an `UndoError` takes back the last step. Only a person may do so."""

    @property
    def planned(self) -> tuple[str, ...]:
        """What is left of the plan in progress; nothing if the last action had no effect.

        It stands in the record, so that a resumed run goes on with it.
        """
        last = self.history[-1] if self.history else None
        return () if last is None or last.reason is not None else last.planned

    def __repr__(self) -> str:
        return (
            f"View({self.goal!r}, {self.observation!r}, {len(self.candidates)} candidates, "
            f"{len(self.history)} steps so far)"
        )


def _plain_number(number: float) -> float | str:
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else f"{'-' if number < 0 else ''}Infinity"


Count = Annotated[int, Field(ge=-(1 << 53), le=1 << 53)]
"""A whole number that any reader of JSON has exactly, and that can be divided."""
Nats = Annotated[float, PlainSerializer(_plain_number, when_used="json")]
"""A logarithm; a record has a text such as "-Infinity" if it is not finite."""
_RECORDED = ConfigDict(revalidate_instances="always")
_UNLESS_EMPTY = Field(exclude_if=not_)
"""A record leaves the field out where it is empty, as older records do."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate and its log-probability, as a record keeps it."""

    __pydantic_config__ = _RECORDED
    text: str
    logprob: Nats
    """Log-probability of the text, in nats: the sum over its tokens."""
    tokens: Count
    """Number of tokens in the sum; `logprob / tokens` is the mean."""
    blind: Nats | None = None
    """`logprob` for the same prompt without images; None where that was not measured."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call to a model with its answer, as a record keeps it."""

    __pydantic_config__ = _RECORDED
    messages: tuple[Mapping[str, JsonValue], ...]
    """Role and content exactly as sent; an image stands as {"image": digest}."""
    reply: str
    """The raw reply; empty where texts were scored."""
    tokens_in: Count = 0
    tokens_out: Count = 0
    tokens_kept: Annotated[Count, _UNLESS_EMPTY] = 0
    """Tokens of `tokens_in` that the model had read before, as far as it says so."""
    seconds: Annotated[FiniteFloat, PlainSerializer(lambda s: round(s, 6), when_used="json")] = 0.0
    cached: bool = False
    others: tuple[str, ...] = ()
    """The other raw replies, where several were requested."""
    served: str = ""
    """What an endpoint says about itself: its name for the model, and the build."""
    requests: Count = 1
    """HTTP requests behind this call."""
    thoughts: Annotated[str, _UNLESS_EMPTY] = ""
    """Reasoning that an endpoint returned apart from the reply."""
    finish: Annotated[str, _UNLESS_EMPTY] = ""
    """Why the reply ended, in the model's word: "stop", "length" (the token limit) or other."""
    notes: Annotated[tuple[str, ...], _UNLESS_EMPTY] = ()
    """How the request was changed because the endpoint refuses something."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What an agent wants: an action, to stop, or (neither) a reply that could not be parsed."""

    action: Action | None
    """From `View.candidates` or `View.parse`; None to stop, or if the reply could not be parsed."""
    stop: bool = False
    """Whether to end the episode here, without an action."""
    raw: str = ""
    """The text that the action was parsed from, where a model generated one."""
    description: str = ""
    """What the agent says it sees."""
    reasoning: str = ""
    """Why it decides so, for the record and the pages."""
    ranked: tuple[Ranked, ...] = ()
    """The best candidates, best first."""
    normaliser: float | None = None
    """Logarithm of the sum of exp(score) over all scored candidates, in nats, so that
    exp(score - normaliser) is a candidate's share. None where not all were scored."""
    planned: tuple[str, ...] = ()
    """Actions to follow this one, in the model's words, as long as each has an effect."""
    calls: tuple[Call, ...] = ()
    images: Mapping[str, NDArray[np.uint8]] = field(default_factory=dict, compare=False)
    """The images that `calls` name, by digest."""


class ModelError(UserError, RuntimeError):
    """A model can't be loaded, or a call to it failed. Says which, why, and what to do."""

    decision: Decision = Decision(None)
    """The calls of the interrupted decision that had been answered, and so paid for."""

    def after(
        self, calls: Iterable[Call], images: Mapping[str, NDArray[np.uint8]] = MappingProxyType({})
    ) -> Self:
        """This error, with answered `calls` before those that it knows of, and their images."""
        known = self.decision
        calls, images = (*calls, *known.calls), {**images, **known.images}
        self.decision = replace(known, calls=calls, images=images)
        return self


class NoAnswerError(ModelError):
    """A model is not there, or refuses. Ends the command where nothing was decided before."""


class BudgetError(ModelError):
    """The run's budget for its model is spent."""


class RequestError(UserError, ValueError):
    """What a person asked for in this command can't be done. Ends the command, not the episode."""


class UndoError(RuntimeError):
    """Raised by `Agent.decide` to take back the last step, where `View.can_undo` allows it."""


class CutShortError(RuntimeError):
    """The simulator failed in the middle of a decision."""

    def __init__(self, fault: SimulatorError, decision: Decision) -> None:
        super().__init__(str(fault))
        self.fault = fault
        """The failure of the simulator."""
        self.decision = decision
        """The calls that had been answered, and so paid for."""


class Agent(ABC):
    """Chooses actions, for any number of episodes at once."""

    interactive: ClassVar[bool] = False
    """Whether the agent uses the terminal, so that nothing else should print there."""

    @abstractmethod
    async def decide(self, view: View) -> Decision:
        """The next action for the episode that `view` shows.

        Raises:
            ModelError: the model behind it failed for good.
            SimulatorError: a grant or `View.parse` failed, and no model had been asked.
            CutShortError: the same, and one had.
        """

    def check_budget(self) -> None:
        """Check, before an episode begins, that the budget is not spent.

        Raises:
            BudgetError: it is spent.
        """
        return

    async def close(self) -> None:
        """Release models and connections. Safe to call twice."""
        return
