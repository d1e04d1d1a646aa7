"""The interface of an author, which writes tasks and may revise one after feedback."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from inhabit.envs.core import Task
from inhabit.envs.template import ActionKind


class ProposedEvent(BaseModel):
    """A node of an author's event graph; see `inhabit.envs.template.Event`.

    It has no `done`: an image could not refute a statement of the author about it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, max_length=60)
    wish: str = Field(min_length=3, max_length=200)
    """As an instruction, without a full stop: "heat the apple"."""
    deed: ActionKind
    thing: str = Field(min_length=1, max_length=60)
    needs: tuple[str, ...] = Field(default=(), max_length=16)


class Proposal(BaseModel):
    """A task as an author writes it. Every field is checked before it is used."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    goal: str = Field(min_length=3, max_length=300)
    """The instruction, as a person would say it."""
    scene: Mapping[str, JsonValue]
    """Parameters of the environment's template."""
    events: tuple[ProposedEvent, ...] = Field(default=(), max_length=16)
    """The event graph, instead of the environment's own."""
    question: str | None = Field(default=None, max_length=600)
    """Question of the first step, instead of the generated one."""
    reason: str | None = Field(default=None, max_length=900)
    """Reason of the first step, instead of the generated one."""
    key_concepts: tuple[str, ...] = Field(default=(), max_length=8)
    """Key concepts of the first step, instead of the generated ones."""


@dataclass(frozen=True, slots=True)
class AuthorRequest:
    """A request for one task."""

    number: int
    """Of the attempt, from 0. Together with `seed` it seeds all random choices."""
    seed: int
    feedback: str = ""
    """Why the last answer was rejected; empty for the first answer."""
    rejected: str = ""
    """The rejected answer, verbatim."""


@dataclass(frozen=True, slots=True)
class AuthorReply:
    """The answer of an author."""

    raw: JsonValue
    """Unchecked; should be a `Proposal`. Text that is not JSON is a string."""
    name: str
    """Id of its task."""
    parents: tuple[str, ...] = ()
    """Ids of the tasks that it is derived from, nearest first."""
    change: str = ""
    """The change that was applied to the nearest parent."""
    parent: Task | None = None
    """The nearest parent, where its plan is to be compared."""
    tokens: Mapping[str, int] = field(default_factory=dict)
    """Tokens used: "in" and "out"."""


class NoAnswerError(RuntimeError):
    """An author did not answer."""

    def __init__(self, why: str, tokens: Mapping[str, int] | None = None) -> None:
        super().__init__(why)
        self.tokens = tokens or {}


class Author(ABC):
    """Writes tasks for one environment."""

    name: str
    """As on the command line: "procedural" or KIND:NAME."""
    takes_feedback: bool = False
    """Whether feedback may change its answer."""

    @abstractmethod
    async def propose(self, request: AuthorRequest) -> AuthorReply:
        """Write one task. The same request gives the same answer, as far as the model allows.

        Raises:
            NoAnswerError: the author did not answer.
        """

    async def close(self) -> None:
        """Close models and connections. Safe to call twice."""
        return
