"""Extracts a square of examples from a scene: equal words but for the goal, which each row has one
of.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from itertools import chain

from inhabit.eie.examples.context import StepContext, TakenStep
from inhabit.eie.examples.draft import Draft, ExtractionJob, RejectedError
from inhabit.eie.examples.example import Kind, Refused, Rejection
from inhabit.eie.examples.moments import AskedMoment
from inhabit.eie.examples.reasons import Instead, where
from inhabit.eie.examples.square_search import SHAPES, SquareSearch
from inhabit.eie.examples.states import SceneState, States
from inhabit.eie.examples.topology import kind_of
from inhabit.eie.examples.writing import ExampleWords, ExampleWriter
from inhabit.envs.core import Action
from inhabit.envs.template import ActionKind, CrossesGoals, Crossing
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


_WENT_ON = (
    "You have gone on since then.",
    "Some steps later, this is what you see.",
    "You have done more after that.",
    "Later on, you see this picture.",
)
"""What squares with a history are told: it was followed in different ways."""

Cells = Sequence[Sequence[AskedMoment]]
"""Moments of a square: for each goal, one for each picture."""


class SquareWriter:
    """Writes squares: equal words but for the goal, which each row has one of."""

    def __init__(self, writers: Sequence[ExampleWriter], job: ExtractionJob) -> None:
        """Write for the goals of `writers`, which are of one scene."""
        self._writers, self._template = writers, job.template
        self._square = job.origin.task.id
        self._rng = job.rng

    def drafts(
        self, kind: Kind, cells: Cells, options: Sequence[Action], past: Sequence[TakenStep]
    ) -> list[Draft]:
        """The examples of a square, row by row.

        `cells` has a moment for each goal and picture; what is told of them is equal.

        Raises:
            RejectedError: they must not be kept.
        """
        first = self._writers[0]
        text = first.told(cells[0][0])[0]
        texts = first.shuffled(options)
        wording = self._rng.random()
        tried = past[-1].action if kind == "recovery" else None
        made = []
        for row, writer in enumerate(self._writers):
            asked = writer.asked(kind, text, (), past, random.Random(wording), _WENT_ON)
            for column, cell in enumerate(cells[row]):
                others = [other.context for other in cells[row] if other is not cell]
                instead = self._instead(cells, row, column)
                why = writer.why(cell.context, instead, others, tried)
                words = ExampleWords(asked, text, texts, why)
                shown = past if kind == "trajectory" else ()
                draft = writer.draft(kind, column, cell.context, cell.answer, words, shown)
                place = {"square": self._square, "twins": "", "row": row, "column": column}
                made.append(replace(draft, example=draft.example.model_copy(update=place)))
        return made

    def _instead(self, cells: Cells, row: int, column: int) -> Instead | None:
        """What another goal would have one do in this picture, and what for; best something that
        serves this goal neither now nor later.
        """
        others = [self._contrast(cells, row, column, n) for n in range(len(cells)) if n != row]
        found = [other for other in others if other is not None]
        best = min((rank for rank, _ in found), default=0)
        fit = [instead for rank, instead in found if rank == best]
        return self._rng.choice(fit) if fit else None

    def _contrast(
        self, cells: Cells, row: int, column: int, other: int
    ) -> tuple[int, Instead] | None:
        """What one other goal would have one do, with its rank; the lowest is best."""
        here, cell, goal = cells[row][column], cells[other][column], self._writers[row]
        plan = {action.text for action in here.context.plan}
        kind = self._template.action_kind(cell.answer)
        wish = self._writers[other].purpose(cell.context)
        asks_not = wish if wish and not goal.wishes(wish) else ""
        # "Put it in the sink" is about what is held then: perhaps another thing.
        if cell.answer.text in plan and kind is not ActionKind.PUT:
            now = asks_not if self._carries_other(here.context, cell.answer) else ""
            return 2, Instead(cell.answer, now, later=True)
        thing = cell.context.target(cell.answer) if kind is ActionKind.TAKE else None
        if thing and goal.wishes(f"put the {thing.kind} {where(thing, cell.context)}"):
            return 0, Instead(cell.answer, taken=thing)
        # What is gathered ready-made may be made as well, which other pictures of this goal show.
        if self._template.action_kind(here.answer) is ActionKind.GATHER:
            ways = [one.said for one in cells[row] if not _shares_step(one, plan)]
            if cell.said in ways:
                return 2, Instead(cell.answer, plan=cell.context.plan)
        return (1, Instead(cell.answer, wish, plan=cell.context.plan)) if asks_not else None

    def _carries_other(self, context: StepContext, later: Action) -> bool:
        """Whether the plan comes to this action with another thing in hand than is held now."""
        held = carried = next((thing.kind for thing in context.held), "")
        for action in context.plan:
            if action.text == later.text:
                break
            if self._template.action_kind(action) is ActionKind.TAKE:
                target = context.target(action)
                carried = target.kind if target is not None else kind_of(action.arguments[-1])
        return carried != held


def _shares_step(moment: AskedMoment, plan: Set[str]) -> bool:
    return any(action.text in plan for action in moment.context.plan)
