"""Examples from scenes that a template builds as twins or as a square, where no state can be
copied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from inhabit.eie.examples.choosing import MomentGroups
from inhabit.eie.examples.context import Trials, without_numbers
from inhabit.eie.examples.draft import ExtractionJob, Origin, Piece, RejectedError
from inhabit.eie.examples.episode_steps import context_of
from inhabit.eie.examples.example import Refused, Rejection
from inhabit.eie.examples.moments import AskedMoment
from inhabit.eie.examples.soundness import Soundness, differ
from inhabit.eie.examples.squares import SquareWriter
from inhabit.eie.examples.writing import ExampleWriter
from inhabit.envs.core import Action, Env, Expert, Observation, Redirectable, Task
from inhabit.episodes.episode import Episode

_STANDING = 2
"""How many times more of blocks and animals has to be seen than of other things."""
Start = Callable[[Episode, Origin], Sequence[Action]]
"""Builds the scene of an episode and returns the expert's plan."""


class _BuiltGroup:
    """Builds the scenes of one group, one after the other, and asks about their first moments."""

    def __init__(self, env: Env, job: ExtractionJob, start: Start) -> None:
        self._env = env
        self._job = job
        self._start = start
        self._refused: list[Refused] = []

    def _moment(self, task: Task) -> AskedMoment | None:
        """The first moment of a task, with its image and its best actions."""
        origin = replace(self._job.origin, task=task)
        episode = Episode(self._env, task, origin.seed)
        try:
            plan = self._start(episode, origin)
        except RejectedError as error:
            self._refused.append(error.refused)
            return None
        return self._asked(episode, task, plan)

    def _asked(self, episode: Episode, task: Task, plan: Sequence[Action]) -> AskedMoment:
        context = context_of(self._env, (), plan)
        assert context is not None
        moment = AskedMoment(episode, replace(context, task=task), Trials(episode), 0, 0)
        # Later the environment is in another scene.
        moment.observe()
        moment.trials.best()
        return moment


class BuiltTwins(_BuiltGroup):
    """Makes twins."""

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

    def _group(self, moments: Sequence[AskedMoment]) -> Iterator[Piece]:
        steps = max((len(moment.context.plan) for moment in moments), default=None)
        job = self._job.of_task(self._job.origin.task, steps)
        writer = ExampleWriter(job)
        seen = moments[0].observe() if moments else Observation("")
        groups = MomentGroups(job, writer, job.least(seen))
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


class BuiltSquare(_BuiltGroup):
    """Makes a square: two goals are asked of each scene."""

    def pieces(self, rows: Sequence[Sequence[Task]]) -> Iterator[Piece]:
        """The examples of the square, or the rejections.

        Args:
            rows: tasks by goal, and for each goal by picture.
        """
        try:
            columns = [self._column(tasks) for tasks in zip(*rows, strict=True)]
            if columns:
                yield from self._written(list(zip(*columns, strict=True)))
                return
        except RejectedError as error:
            self._refused.append(error.refused)
        yield from self._refused
        yield Refused(Rejection.AMBIGUOUS, "No goals and pictures of the scene make a square.")

    def _column(self, tasks: Sequence[Task]) -> list[AskedMoment]:
        """The moments of one scene, each for another goal."""
        first = self._moment(tasks[0])
        if first is None:
            raise RejectedError(self._refused[-1].rejection, self._refused[-1].sentence)
        cells, env = [first], self._env
        assert isinstance(env, Redirectable)
        for task in tasks[1:]:
            env.pursue(task)
            met, total = env.progress()
            if met == total:
                why = f"All {total} conditions of the goal hold at the start."
                raise RejectedError(Rejection.ALREADY_SOLVED, why)
            assert isinstance(env, Expert)
            if not (plan := env.plan()):
                raise RejectedError(Rejection.UNSOLVABLE, "The expert finds no way to the goal.")
            cells.append(self._asked(first.episode, task, plan))
        return cells

    def _written(self, cells: Sequence[Sequence[AskedMoment]]) -> Sequence[Piece]:
        """The examples, once every cell has one right answer, which its picture shows."""
        jobs = []
        for row in cells:
            steps = max(len(cell.context.plan) for cell in row)
            task = row[0].context.task
            assert task is not None
            jobs.append(self._job.of_task(task, steps))
        options = {cell.said: cell.answer for row in cells for cell in row}
        writers = [ExampleWriter(job) for job in jobs]
        least = self._job.least(cells[0][0].observe())
        for job, row in zip(jobs, cells, strict=True):
            sound = Soundness(job, least, _STANDING)
            if len({cell.said for cell in row}) < len(row):
                raise RejectedError(Rejection.AMBIGUOUS, "A goal has one answer in two pictures.")
            for place, cell in enumerate(row):
                sound.check(cell)
                best = {without_numbers(action) for action in cell.trials.best() or ()}
                if best & {*options} != {cell.said}:
                    raise RejectedError(Rejection.AMBIGUOUS, f"{cell.answer.text!r} is not best.")
                if not all(
                    sound.looks_nearer(cell, other) and differ(cell.observe(), other.observe())
                    for other in row[:place]
                ):
                    raise RejectedError(Rejection.AMBIGUOUS, "Two pictures look alike.")
        if len({writers[0].told(cell)[0] for row in cells for cell in row}) > 1:
            raise RejectedError(Rejection.AMBIGUOUS, "Words would tell the pictures apart.")
        if any(one.said == two.said for one, two in zip(*cells, strict=True)):
            raise RejectedError(Rejection.AMBIGUOUS, "Two goals have one answer in a picture.")
        return SquareWriter(writers, self._job).drafts(
            "decision", cells, list(options.values()), ()
        )
