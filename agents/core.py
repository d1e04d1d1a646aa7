"""What an agent is: it is shown a moment and says what to do next.

One agent serves many episodes at once, so that calls to one model can be batched; whatever it
knows of an episode stands in the `View`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from inhabit.envs.core import Action, Clip, Observation, Reason, SimulatorError
from inhabit.envs.errors import UserError


class Grant(StrEnum):
    """What a run may allow an agent beyond seeing and acting. Every record names what it was."""

    EXPERT = "expert"
    """The environment's own solution."""
    LOOKAHEAD = "lookahead"
    """Copies of this moment to try actions in."""
    TOOLS = "tools"
    """Functions that answer questions about the scene."""


class Trial(Protocol):
    """A copy of a moment to try actions in. It shows whether they work, never what they are worth:
    nothing of goal conditions, nor whether the episode would be over.
    """

    async def act(self, action: Action) -> tuple[Reason | None, str]:
        """Carry out one action: why it had no effect (None if it had), and the feedback."""
        ...

    async def look(self) -> tuple[Observation, tuple[Action, ...]]:
        """What there is to see, and to choose from, as the run shows it to the agent."""
        ...

    async def fork(self) -> Trial:
        """A copy of this copy. Close it when done."""
        ...

    async def close(self) -> None:
        """Let go of it."""
        ...


@dataclass(frozen=True, slots=True)
class Grants:
    """The means behind what was granted; None where it was not, or the environment lacks it."""

    plan: Callable[[], Awaitable[Sequence[Action]]] | None = None
    fork: Callable[[], Awaitable[Trial]] | None = None
    tools: Sequence[Mapping[str, JsonValue]] = ()
    call: Callable[[str, Mapping[str, JsonValue]], Awaitable[JsonValue]] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """What an agent remembers of one step. Goal conditions are not among it."""

    action: str
    """As the agent was understood; its raw words where nothing could be made of them."""
    reason: Reason | None
    feedback: str
    rgb: NDArray[np.uint8] | None = None
    """What it saw before it acted, (H, W, 3)."""
    text: str = ""
    """What it was told before it acted."""
    clips: tuple[Clip, ...] = ()
    """The films that it was shown before it acted."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """All that an agent is given to decide on."""

    goal: str
    observation: Observation
    candidates: tuple[Action, ...]
    """What it may choose from, in the environment's order."""
    history: tuple[Step, ...]
    """Oldest first."""
    seed: int
    """Of the episode. Whoever draws lots draws from this and the number of the step."""
    parse: Callable[[str], Awaitable[Action | None]]
    """What the environment understands by a text."""
    grants: Grants = Grants()


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate and how likely the model holds it."""

    text: str
    logprob: float
    """Of its tokens together, in nats."""
    tokens: int
    """How many tokens that sum runs over; `logprob / tokens` is the mean."""
    blind: float | None = None
    """`logprob` where the model is shown no picture; None where it wasn't asked that way too."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call to a model, as it was sent and answered: what a record keeps."""

    messages: tuple[Mapping[str, JsonValue], ...]
    """Role and content exactly as sent; a picture stands as {"image": digest}."""
    reply: str
    """The raw answer; empty where texts were scored."""
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    cached: bool = False
    others: tuple[str, ...] = ()
    """The other raw answers, where several were asked for."""
    served: str = ""
    """What answered, by an endpoint's own word: its name of the model, and of the build."""
    requests: int = 1
    """Answers of an endpoint that went into this: one for each text that it scored."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What an agent wants: an action, to stop, or (neither) nothing that could be understood."""

    action: Action | None
    stop: bool = False
    raw: str = ""
    """The words the action was read from, where a model said them."""
    description: str = ""
    """What it says it sees."""
    reasoning: str = ""
    ranked: tuple[Ranked, ...] = ()
    """The best candidates, best first."""
    calls: tuple[Call, ...] = ()
    images: Mapping[str, NDArray[np.uint8]] = field(default_factory=dict, compare=False)
    """The pictures that `calls` name, by digest."""


class ModelError(UserError, RuntimeError):
    """A model can't be loaded or does not answer. Says which, why, and what to do."""

    decision: Decision | None = None
    """What had been said, and paid for, of the decision that it cut short."""


class BudgetError(ModelError):
    """What a run may spend on its model is spent."""


class RequestError(UserError, ValueError):
    """What a person asked for in this command can't be done. Ends the command, not the episode."""


class CutShortError(RuntimeError):
    """The simulator failed in the middle of a decision."""

    def __init__(self, fault: SimulatorError, decision: Decision) -> None:
        super().__init__(str(fault))
        self.fault = fault
        """What failed."""
        self.decision = decision
        """What models had said, and been paid for, by then."""


class Agent(ABC):
    """Decides, for any number of episodes at once."""

    interactive: ClassVar[bool] = False
    """It talks with a person at this terminal, so that nothing else should meanwhile."""

    @abstractmethod
    async def decide(self, view: View) -> Decision:
        """The next action for the episode that `view` shows.

        Raises:
            ModelError: the model behind it failed for good.
            SimulatorError: a grant or `View.parse` failed, and no model had been asked.
            CutShortError: the same, and one had.
        """

    def check_budget(self) -> None:
        """See that there is anything left to spend, before an episode begins.

        Raises:
            BudgetError: there isn't.
        """
        return

    async def close(self) -> None:
        """Let go of models and connections. Safe to call twice."""
        return
