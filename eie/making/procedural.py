"""The built-in author: samples tasks from an environment's template and evolves them. No model."""

from __future__ import annotations

import asyncio
import random

from inhabit.eie.making.author import Author, AuthorReply, AuthorRequest
from inhabit.eie.making.seeds import Seeds
from inhabit.envs.core import Task
from inhabit.envs.template import Template

_EVOLVED = 0.5
"""Share of tasks that are evolved from other ones."""
_TWICE = 0.3
"""Share of these that are evolved a second time."""


class Procedural(Author):
    """Samples seed tasks, and evolves them by the template's changes."""

    name = "procedural"

    def __init__(self, env: str, template: Template) -> None:
        """Write for the environment `env` with its template."""
        self._env = env
        self._template = template
        self._seeds = Seeds(env, template)

    async def propose(self, request: AuthorRequest) -> AuthorReply:
        """A task that depends only on the number and the seed of the request."""
        return await asyncio.to_thread(self.rng, request)

    def rng(self, request: AuthorRequest) -> AuthorReply:
        """The same, at once."""
        number, seed = request.number, request.seed
        rng = random.Random(f"{self._env} author {seed} {number}")
        name = f"{self._env}-{seed}-{number}"
        task: Task | None = None
        parents: tuple[str, ...] = ()
        change = ""
        if rng.random() < _EVOLVED:
            root = rng.randrange(number + 1)
            task = self._seeds.task(seed, root)
            parents, change = (task.id,), rng.choice(self._template.changes)
            task = self._template.evolve(task, change, rng, name)
            if task is not None and rng.random() < _TWICE:
                second = rng.choice(self._template.changes)
                twice = self._template.evolve(task, second, rng, name)
                if twice is not None:
                    parents = (f"{parents[0]} ({change})", *parents)
                    task, change = twice, second
        if task is None:
            task, parents, change = self._template.seed(rng, name), (), ""
        return AuthorReply({"goal": task.goal, "scene": dict(task.scene)}, name, parents, change)
