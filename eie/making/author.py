"""The interface of an author, which writes tasks and may revise one after feedback."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock

from pydantic import JsonValue

from inhabit.envs.core import Task
from inhabit.envs.template import Template


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
    """Unchecked; should be a `Proposal` of `eie/examples/draft.py`. Text that is not JSON is a
    string."""
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


class SilentAuthorError(RuntimeError):
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
            SilentAuthorError: the author did not answer.
            ModelError: it can't be asked any more.
        """

    async def close(self) -> None:
        """Close models and connections. Safe to call twice."""
        return


_KEPT = 256


class Seeds:
    """Samples seed tasks for one environment, and caches the last ones."""

    def __init__(self, env: str, template: Template) -> None:
        self._env = env
        self._template = template
        self._drawn: dict[tuple[int, int], Task] = {}
        self._lock = Lock()

    def task(self, seed: int, number: int) -> Task:
        """The seed task with this number in a set with `seed`; always the same."""
        with self._lock:
            found = self._drawn.get((seed, number))
        if found is None:
            rng = random.Random(f"{self._env} seed task {seed} {number}")
            found = self._template.seed(rng, f"{self._env}-{seed}-seed-{number}")
        with self._lock:
            self._drawn[seed, number] = found
            if len(self._drawn) > _KEPT:
                del self._drawn[next(iter(self._drawn))]
        return found
