"""Plays a sampled task with the expert before it is given out.

A task is kept only if the expert solves it, and its reference cost is what the expert took: the
same low-level steps that an episode counts. An expert's success weighted by path length (SPL,
Anderson et al. 2018) is therefore 1 with the default settings.
"""

from __future__ import annotations

from typing import Self

from inhabit.envs.alfred.env import Alfred
from inhabit.envs.alfred.scenes.scene import AlfredScene
from inhabit.envs.alfred.world.rooms import Rooms
from inhabit.envs.alfred.world.settings import AlfredSettings
from inhabit.envs.core import Task

MAX_STEPS = 50
"""Maximum number of actions. The longest plans take about thirty, exploration included."""


class Rehearsal:
    """An embedded household in this process, without images, for one rehearsal after another."""

    def __init__(self, where: Rooms) -> None:
        """Start nothing yet.

        Args:
            where: the rooms that tasks are sampled in.
        """
        settings = AlfredSettings(rooms=where.folder, cells=where.cells, wire="none")
        self._env = Alfred(settings=settings)

    def cost(self, scene: AlfredScene) -> int | None:
        """Low-level steps that the expert takes to solve a scene; None if it does not solve it."""
        task = Task(
            id="rehearsal",
            env="alfred",
            kind=scene.goal.type,
            goal="-",
            scene=scene.model_dump(mode="json", exclude_defaults=True),
        )
        self._env.reset(task, seed=0)
        total = 0
        for _ in range(MAX_STEPS):
            plan = self._env.plan()
            if not plan:
                return None
            outcome = self._env.act(plan[0])
            total += outcome.cost
            if outcome.over:
                return max(total, 1)
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._env.close()
