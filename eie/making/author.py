"""The contract of an author, which writes tasks, and may revise one after feedback."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from inhabit.envs.template import ActionKind


class ProposedEvent(BaseModel):
    """A node of the graph that an author breaks its task into; as `inhabit.envs.template.Event`.

    What is told once it has come about is not the author's to say, for no picture could refute it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, max_length=60)
    wish: str = Field(min_length=3, max_length=200)
    """As an instruction, without a full stop: "heat the apple"."""
    deed: ActionKind
    thing: str = Field(min_length=1, max_length=60)
    needs: tuple[str, ...] = Field(default=(), max_length=16)


class Proposal(BaseModel):
    """What an author has to come up with. Everything in it is checked before it is used."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    goal: str = Field(min_length=3, max_length=300)
    """The instruction, as a person would say it."""
    scene: Mapping[str, JsonValue]
    """The environment's template, filled."""
    events: tuple[ProposedEvent, ...] = Field(default=(), max_length=16)
    """How the task falls into parts, in place of the environment's own."""
    question: str | None = Field(default=None, max_length=600)
    """Of the first moment, in place of ours."""
    reason: str | None = Field(default=None, max_length=900)
    """Why the first step is right, in place of ours."""
    key_concepts: tuple[str, ...] = Field(default=(), max_length=8)
    """What the first step hangs on, in place of ours."""


@dataclass(frozen=True, slots=True)
class AuthorRequest:
    """An attempt that an author is asked to make."""

    number: int
    """Of the attempt, from 0: with `seed` it decides everything that is left to chance."""
    seed: int
    feedback: str = ""
    """Why its last answer was rejected; empty for a first answer."""
    rejected: str = ""
    """That answer, in its own words."""


@dataclass(frozen=True, slots=True)
class AuthorReply:
    """What an author said."""

    raw: JsonValue
    """Meant to be a `Proposal`; anything at all. Text that is no JSON stands as a string."""
    name: str
    """Id of its task."""
    parents: tuple[str, ...] = ()
    """Ids of the tasks that it was made from, nearest first."""
    change: str = ""
    """How it was made from them."""
    tokens: Mapping[str, int] = field(default_factory=dict)
    """Paid for it: "in" and "out"."""


class NoAnswerError(RuntimeError):
    """An author did not answer. Says why."""

    def __init__(self, why: str, tokens: Mapping[str, int] | None = None) -> None:
        super().__init__(why)
        self.tokens = tokens or {}


class Author(ABC):
    """Writes tasks for one environment."""

    name: str
    """As the command line has it: "procedural" or KIND:NAME."""
    takes_feedback: bool = False
    """Whether a second answer may differ from the first."""

    @abstractmethod
    async def propose(self, request: AuthorRequest) -> AuthorReply:
        """One task. The same request gives the same answer, as far as its model allows.

        Raises:
            NoAnswerError: it did not answer.
        """

    async def close(self) -> None:
        """Let go of models and connections. Safe to call twice."""
        return
