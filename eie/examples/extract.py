"""Extracts one group of twin examples from an episode that the expert plays.

The examples of a group have equal words and candidates; each image makes another candidate right.
Without the images, every answer to them is right equally often.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing

from inhabit.eie.examples.choosing import FilmGroups, MomentGroups
from inhabit.eie.examples.draft import Draft, ExtractionJob, Piece, RejectedError
from inhabit.eie.examples.example import Kind, Refused, Rejection
from inhabit.eie.examples.moments import AskedMoment, Solution, transitions
from inhabit.eie.examples.writing import ExampleWriter
from inhabit.envs.core import Action
from inhabit.envs.template import ActionKind
from inhabit.episodes.episode import Episode

FILMS = 0.25
"""Share of tasks that ask what was done, where they may."""
_CLOSE = 0.4
"""Share of tasks with detours, even where the expert's own moments are enough: these have more
moments with the same view.
"""
_ALL = 1000
"""More answers than any task has."""
_TRIED_FAILURES = 2
"""Failing actions that are tried for one group."""
_FAILURES = (
    ActionKind.PUT,
    ActionKind.TAKE,
    ActionKind.OPEN,
    ActionKind.CLOSE,
    ActionKind.SWITCH_ON,
    ActionKind.CUT,
)
"""Kinds of actions that may have failed."""


class ExampleExtractor:
    """Plays one task, and extracts a group of examples."""

    def __init__(self, episode: Episode, job: ExtractionJob) -> None:
        """Extract from `episode`, which is at the start of the task of `job`."""
        self._job = job
        self._rng = job.rng
        self._writer = ExampleWriter(job)
        self._solution = Solution(episode, job.template, job.rng)
        self._groups = MomentGroups(job, self._writer, job.least(episode.now.observation))

    def pieces(self, plan: Sequence[Action]) -> Iterator[Piece]:
        """The examples of the group, or the rejections, after the expert's plan from the start."""
        with closing(self._solution):
            yield from self._pieces(plan)

    def films(self, plan: Sequence[Action]) -> Iterator[Draft]:
        """The examples of the transitions of an episode; none if there are too few."""
        with closing(self._solution):
            yield from self._group("recognition", self._solution.moments(plan))

    def _pieces(self, plan: Sequence[Action]) -> Iterator[Piece]:
        own = self._solution.moments(plan)
        for action, feedback in self._solution.failed:
            why = f"The expert's own step failed: {action.text!r}: {feedback}"
            yield Refused(Rejection.UNSOLVABLE, why)
        moments = [moment for moment in own if self._groups.soundness.shows_target(moment)]
        self._groups.fillers = own
        needed = self._job.settings.candidates + 1
        detours = self._solution.detours(own)
        if self._rng.random() < _CLOSE or self._groups.answers(moments) < needed:
            self._take(detours, moments, needed)
        kinds = self._kinds()
        for kind in kinds:
            if group := self._group(kind, moments):
                yield from group
                return
        # The rest of the detours, which costs less than another task.
        known = len(moments)
        if not self._is_written:
            self._take(detours, moments, needed=_ALL)
        if len(moments) > known and (group := self._group(kinds[-1], moments)):
            yield from group
            return
        yield from self._groups.soundness.refused.values()
        yield Refused(
            Rejection.AMBIGUOUS, "The task has too few moments that only their images tell apart."
        )

    @property
    def _is_written(self) -> bool:
        """Whether the author has written more than a goal."""
        said = self._job.origin.proposal
        return said is not None and bool(said.question or said.reason or said.key_concepts)

    def _take(
        self, detours: Iterator[AskedMoment], moments: list[AskedMoment], needed: int
    ) -> None:
        """Add moments one detour away, until there are more than `needed` answers."""
        for moment in detours:
            if self._groups.soundness.shows_target(moment):
                moments.append(moment)
            if self._groups.answers(moments) > needed:
                break

    def _kinds(self) -> list[Kind]:
        """The kinds of examples to try, in order; the first is drawn."""
        settings, number = self._job.settings, self._rng.random()
        kinds: list[Kind] = ["decision"]
        if self._is_written:
            return kinds  # The author has written about a decision.
        shares: list[tuple[Kind, float]] = [
            ("trajectory", settings.trajectories),
            ("recovery", settings.recoveries),
            ("recognition", FILMS * settings.recognition),
        ]
        for kind, share in shares:
            if 0 <= number < share:
                kinds.insert(0, kind)
            number -= share
        return kinds

    def _group(self, kind: Kind, moments: Sequence[AskedMoment]) -> list[Draft]:
        """A group of this kind; empty if there is none."""
        try:
            match kind:
                case "recognition":
                    found = FilmGroups(self._job, self._writer).choose(
                        [*transitions(moments, self._job.template)]
                    )
                    return self._writer.recognitions(found) if found else []
                case "recovery":
                    return self._recovery(moments)
                case "trajectory":
                    return self._trajectory(moments)
                case _:
                    chosen = self._groups.choose(moments)
                    return self._writer.decisions(kind, *chosen, ()) if chosen else []
        except RejectedError as error:
            self._groups.soundness.refuse(error)
            return []

    def _trajectory(self, moments: Sequence[AskedMoment]) -> list[Draft]:
        """Moments with the same view and the same told past."""
        views = sorted({m.view for m in moments if m.on_the_way})
        for view in self._rng.sample(views, len(views)):
            here = [m for m in moments if m.view == view]
            chosen = self._groups.choose(here)
            if chosen is None:
                continue
            count = min(m.on_the_way for m in here)
            told = here[0].context.done[:count]
            past = [self._solution.step(step, number) for number, step in enumerate(told)]
            return self._writer.decisions("trajectory", *chosen, past)
        return []

    def _recovery(self, moments: Sequence[AskedMoment]) -> list[Draft]:
        """Moments after the same action failed, each for its own visible cause."""
        chosen = self._groups.choose(moments)
        if chosen is None:
            return []
        members, options = chosen
        said = {m.said for m in members}
        tried = [
            m.answer
            for m in moments
            if m.said not in said and self._job.template.action_kind(m.answer) in _FAILURES
        ]
        for action in self._rng.sample(tried, min(len(tried), _TRIED_FAILURES)):
            after = [m for m in (self._solution.failed_at(m, action) for m in members) if m]
            if len(after) == len(members):
                failed = after[0].context.done[-1]
                return self._writer.decisions("recovery", after, options, [failed])
        return self._writer.decisions("decision", members, options, ())
