"""The seed tasks of a set: numbered, drawn when they are first needed, and evolved from there."""

from __future__ import annotations

import random
from threading import Lock

from inhabit.envs.core import Task
from inhabit.envs.template import Template

_KEPT = 256


class Seeds:
    """Draws seed tasks for one environment, and remembers the last ones."""

    def __init__(self, env: str, template: Template) -> None:
        """Draw from the template of the environment called `env`."""
        self._env = env
        self._template = template
        self._drawn: dict[tuple[int, int], Task] = {}
        self._lock = Lock()

    def task(self, seed: int, number: int) -> Task:
        """The seed task of that number in a set with `seed`: always the same."""
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
