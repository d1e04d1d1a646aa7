"""Writes squares of examples: equal words but for the goal, which each row has one of."""

from __future__ import annotations

import random
from collections.abc import Sequence, Set
from dataclasses import replace

from inhabit.eie.examples.context import StepContext, TakenStep
from inhabit.eie.examples.draft import Draft, ExtractionJob
from inhabit.eie.examples.moments import AskedMoment
from inhabit.eie.examples.reasons import Instead, where
from inhabit.eie.examples.topology import kind_of
from inhabit.eie.examples.writing import ExampleWords, ExampleWriter, Kind
from inhabit.envs.core import Action
from inhabit.envs.template import ActionKind

_WENT_ON = (
    "You have gone on since then.",
    "Some steps later, this is what you see.",
    "You have done more after that.",
    "Later on, you see this picture.",
)
"""What squares with a history are told: it was followed in different ways."""

Cells = Sequence[Sequence[AskedMoment]]
"""Of a square: for each goal, a moment for each picture."""


class SquareWriter:
    """Writes squares: equal words but for the goal, which each row has one of."""

    def __init__(self, writers: Sequence[ExampleWriter], job: ExtractionJob) -> None:
        """Write for the goals of `writers`, which are of one scene."""
        self._writers, self._template = writers, job.template
        self._square = job.origin.task.id
        self._rng = job.rng

    def drafts(
        self,
        kind: Kind,
        cells: Cells,
        options: Sequence[Action],
        past: Sequence[TakenStep],
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
