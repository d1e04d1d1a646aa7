"""The built-in author: samples tasks from an environment's template and evolves them. No model."""

from __future__ import annotations

import asyncio
import random

from pydantic import JsonValue

from inhabit.eie.making.author import Author, AuthorReply, AuthorRequest, Seeds
from inhabit.envs.core import Task
from inhabit.envs.template import Template

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
        """The same, at once."""
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
