"""Examples from scenes that a template builds as twins, where no state can be copied."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from inhabit.eie.examples.choosing import MomentGroups
from inhabit.eie.examples.context import Trials
from inhabit.eie.examples.draft import ExtractionJob, Origin, Piece, Refused, RejectedError
from inhabit.eie.examples.episode_steps import context_of
from inhabit.eie.examples.example import Rejection
from inhabit.eie.examples.moments import AskedMoment
from inhabit.eie.examples.writing import ExampleWriter
from inhabit.envs.core import Action, Env, Task
from inhabit.episodes.episode import Episode

Start = Callable[[Episode, Origin], Sequence[Action]]
"""Builds the scene of an episode and returns the expert's plan."""


class BuiltTwins:
    """Builds the scenes of one group, one after the other, and asks about their first moments."""

    def __init__(self, env: Env, job: ExtractionJob, start: Start) -> None:
        self._env = env
        self._job = job
        self._start = start
        self._refused: list[Refused] = []

    def pieces(self, tasks: Sequence[Task]) -> Iterator[Piece]:
        """The examples of the group, or the rejections.

        Args:
            tasks: with the same words, each with its own scene.
        """
        least = max(2, self._job.settings.candidates - 1)
        moments: list[AskedMoment] = []
        for left, task in zip(range(len(tasks), 0, -1), tasks, strict=True):
            if len(moments) + left < least:
                break
            if (moment := self._moment(task)) is not None:
                moments.append(moment)
        yield from self._group(moments)

    def _moment(self, task: Task) -> AskedMoment | None:
        """The first moment of a task, with its image and its best actions."""
        origin = replace(self._job.origin, task=task)
        episode = Episode(self._env, task, origin.seed)
        try:
            plan = self._start(episode, origin)
        except RejectedError as error:
            self._refused.append(error.refused)
            return None
        context = context_of(self._env, (), plan)
        assert context is not None
        moment = AskedMoment(episode, replace(context, task=task), Trials(episode), 0, 0)
        # Later the environment is in another scene.
        moment.observe()
        moment.trials.best()
        return moment

    def _group(self, moments: Sequence[AskedMoment]) -> Iterator[Piece]:
        steps = max((len(moment.context.plan) for moment in moments), default=None)
        job = replace(self._job, origin=replace(self._job.origin, steps=steps))
        writer = ExampleWriter(job)
        groups = MomentGroups(job, writer, self._least(moments))
        try:
            if moments and (chosen := groups.choose(moments)) is not None:
                yield from writer.decisions("decision", *chosen, ())
                return
        except RejectedError as error:
            groups.soundness.refuse(error)
        yield from self._refused
        yield from groups.soundness.refused.values()
        yield Refused(
            Rejection.AMBIGUOUS, "The task has too few scenes that only their images tell apart."
        )

    def _least(self, moments: Sequence[AskedMoment]) -> int:
        rgb = moments[0].observe().rgb if moments else None
        area = 0 if rgb is None else rgb.shape[0] * rgb.shape[1]
        return max(1, round(self._job.settings.visible * area))
