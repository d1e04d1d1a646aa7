"""The numbered seed tasks of a set, sampled on first use."""

from __future__ import annotations

import random
from threading import Lock

from inhabit.envs.core import Task
from inhabit.envs.template import Template

_KEPT = 256


class Seeds:
    """Samples seed tasks for one environment, and caches the last ones."""

    def __init__(self, env: str, template: Template) -> None:
        """Sample from the template of the environment `env`."""
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
