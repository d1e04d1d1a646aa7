"""Authors, which write tasks and may revise one after feedback. The built-in one asks no model."""

from __future__ import annotations

import asyncio
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
    """Number of the attempt, from 0. Together with `seed` it seeds all random choices."""
    seed: int
    feedback: str = ""
    """Why the last answer was rejected; empty for the first answer."""
    rejected: str = ""
    """The rejected answer, verbatim."""


@dataclass(frozen=True, slots=True)
class AuthorReply:
    """The answer of an author."""

    raw: JsonValue
    """The answer, unchecked; should be a `Proposal` of `eie/examples/draft.py`. Text that is not
    JSON is a string."""
    name: str
    """Id of the author's task."""
    parents: tuple[str, ...] = ()
    """Ids of the tasks that this one is derived from, nearest first."""
    change: str = ""
    """The change that was applied to the nearest parent."""
    parent: Task | None = None
    """The nearest parent, where its plan is to be compared."""
    tokens: Mapping[str, int] = field(default_factory=dict)
    """Tokens used: "in" and "out"."""
    reading: str = ""
    """The task's goal as a second model says it (`GoalReader`); empty without one."""


class SilentAuthorError(RuntimeError):
    """An author, or the reader of its goals, did not answer."""

    def __init__(self, why: str, tokens: Mapping[str, int] | None = None) -> None:
        super().__init__(why)
        self.tokens = tokens or {}


class Author(ABC):
    """Writes tasks for one environment."""

    name: str
    """Name of the author as on the command line: "procedural" or KIND:NAME."""
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


_EVOLVED = 0.65
"""Share of tasks that are evolved from other ones."""
_HARDER = 0.55
"""Share of these where a change that makes the task harder is tried first."""
_TWICE = 0.3
"""Share of these that are evolved a second time."""


class Procedural(Author):
    """Samples seed tasks, and evolves them by the template's changes."""

    name = "procedural"

    def __init__(self, env: str, template: Template) -> None:
        self._env = env
        self._template = template
        self._seeds = Seeds(env, template)

    async def propose(self, request: AuthorRequest) -> AuthorReply:
        """A task that depends only on the number and the seed of the request."""
        return await asyncio.to_thread(self.reply, request)

    def reply(self, request: AuthorRequest) -> AuthorReply:
        """The answer of `propose`, at once."""
        number, seed = request.number, request.seed
        rng = random.Random(f"{self._env} author {seed} {number}")
        name = f"{self._env}-{seed}-{number}"
        task: Task | None = None
        parent: Task | None = None
        parents: tuple[str, ...] = ()
        change = ""
        if rng.random() < _EVOLVED:
            # Each seed task has one child at most, however long the set gets.
            parent = self._seeds.task(seed, number)
            task, change = self._evolved(parent, rng, name)
            parents = (parent.id,)
            if task is not None and rng.random() < _TWICE:
                twice, second = self._evolved(task, rng, name)
                if twice is not None:
                    parent = task
                    parents = (f"{parents[0]} ({change})", *parents)
                    task, change = twice, second
        if task is None:
            task, parent, parents, change = self._template.seed(rng, name), None, (), ""
        raw: JsonValue = {"goal": task.goal, "scene": dict(task.scene)}
        return AuthorReply(raw, name, parents, change, parent)

    def _evolved(self, task: Task, rng: random.Random, name: str) -> tuple[Task | None, str]:
        """The task after the first change that is possible, and that change."""
        changes = list(self._template.changes)
        rng.shuffle(changes)
        harder_first = rng.random() < _HARDER
        changes.sort(key=lambda change: (change in self._template.harder) is not harder_first)
        for change in changes:
            evolved = self._template.evolve(task, change, rng, name)
            if evolved is not None:
                return evolved, change
        return None, ""
