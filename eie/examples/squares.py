"""Extracts a square of examples from a scene."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from inhabit.eie.examples.draft import Draft, ExtractionJob, RejectedError
from inhabit.eie.examples.example import Refused, Rejection
from inhabit.eie.examples.square_search import SHAPES, SquareSearch
from inhabit.eie.examples.square_writing import SquareWriter
from inhabit.eie.examples.states import SceneState, States
from inhabit.eie.examples.writing import Kind
from inhabit.envs.template import CrossesGoals, Crossing
from inhabit.episodes.episode import Episode

_LONG, _WIDE = 0.8, 0.07
"""Shares of scenes in which the first of these is tried first, and of those of them in which the
second is tried after it.
"""
_MIXED = 0.95
"""Share of scenes in which half of the answers at most may be of the common kinds."""


class SquareExtractor:
    """Extracts one square from a scene."""

    def __init__(self, episode: Episode, job: ExtractionJob) -> None:
        """Extract from `episode`, which is at the start of the scene of the task of `job`."""
        self._job = job
        self._states = States(episode, job.template)
        self._mixed = job.rng.random() < _MIXED
        self._refused: dict[str, Refused] = {}

    def pieces(self) -> Iterator[Draft | Refused]:
        """The examples of the square, or the rejections."""
        try:
            kind = self._kind()
            long, wide = SHAPES
            shapes = [long] if self._job.rng.random() < _LONG else [wide, long]
            shapes += [wide] if self._job.rng.random() < _WIDE and wide not in shapes else []
            for rows, columns in shapes:
                if drafts := self._drafts(kind, rows, columns):
                    yield from drafts
                    return
            yield from self._refused.values()
            yield Refused(Rejection.AMBIGUOUS, "No goals and pictures of the scene make a square.")
        finally:
            self._states.close()

    def _kind(self) -> Kind:
        settings, number = self._job.settings, self._job.rng.random()
        if number < settings.trajectories:
            return "trajectory"
        return "recovery" if number < settings.trajectories + settings.recoveries else "decision"

    def _drafts(self, kind: Kind, rows: int, columns: int) -> Sequence[Draft]:
        """The examples of a square, of this kind if any of the crossings has such a square."""
        job, template = self._job, self._job.template
        assert isinstance(template, CrossesGoals)
        task, things = job.origin.task, self._states.start.things
        spare: Sequence[Draft] = ()
        for crossing in template.crossings(task, rows, things, job.rng, kind == "recovery"):
            most_common = self._most_common(columns)
            search = SquareSearch(self._states, crossing, columns, job, most_common)
            base = self._base(crossing) if kind == "trajectory" else self._states.start
            try:
                drafts = self._written(kind, search, base)
                if drafts and drafts[0].example.kind == kind:
                    return drafts
                spare = spare or drafts
            except RejectedError as error:
                search.soundness[0].refuse(error)
            for sound in search.soundness:
                self._refused |= sound.refused
        return spare

    def _most_common(self, columns: int) -> int:
        """The number of answers of a square that may go somewhere or put something down."""
        return columns // 2 if self._mixed and columns == SHAPES[0][1] else columns

    def _base(self, crossing: Crossing) -> SceneState:
        """A state on the way to a part, so that there is a past to tell of."""
        part = self._job.rng.choice(crossing.parts)
        passed = [state for _, state in self._states.towards(self._states.start, part)]
        return self._job.rng.choice(passed) if passed else self._states.start

    def _written(self, kind: Kind, search: SquareSearch, base: SceneState) -> Sequence[Draft]:
        """The examples of a square of one crossing; none if it has no square."""
        squares = search.squares(base)
        if (square := next(squares, None)) is None:
            return ()
        past = base.past() if kind == "trajectory" else []
        if kind == "recovery":
            tried = (search.failed(one) for one in chain([square], squares))
            if (failed := next(filter(None, tried), None)) is not None:
                square, past = failed, [failed.states[0].done[-1]]
        kind = kind if past else "decision"
        writer = SquareWriter(search.writers, self._job)
        return writer.drafts(kind, square.cells, square.options, past)
