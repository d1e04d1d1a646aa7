"""Squares of goals and pictures: every goal is asked of every picture, over one list of options.

No two answers of a row (one goal) or of a column (one picture) are equal. So neither the goals nor
the pictures alone tell an answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice

from inhabit.agents.core import Decision
from inhabit.eie.examples.checks import check_name
from inhabit.eie.examples.context import FAILS, Trials, without_numbers
from inhabit.eie.examples.draft import Draft, ExtractionJob, Refused, RejectedError
from inhabit.eie.examples.example import Rejection
from inhabit.eie.examples.moments import AskedMoment
from inhabit.eie.examples.soundness import Soundness, differ
from inhabit.eie.examples.states import State, States, expert_plan
from inhabit.eie.examples.topology import kind_of
from inhabit.eie.examples.writing import ExampleWriter, Kind, SquareWriter
from inhabit.envs.core import Action
from inhabit.envs.template import ActionKind, CrossesGoals, Crossing
from inhabit.episodes.episode import Episode

SHAPES = ((2, 4), (3, 3))
"""Goals and pictures of a square."""
_COMMON = (ActionKind.GO, ActionKind.PUT)
"""Kinds of actions that are the answer most often."""
_LONG, _WIDE = 0.75, 0.25
"""Shares of scenes in which the first of these is tried first, and of those of them in which the
second is tried after it.
"""
_MIXED = 0.8
"""Share of scenes in which half of the answers at most may be of the common kinds."""
_ASIDE = 2
"""Places that no goal is about where states are looked for."""
_TRIED = 8
"""Sets of answers that are tried of one crossing."""
_EACH = 2
"""States with equal answers that are tried of each."""
_FAILURES = (ActionKind.PUT, ActionKind.TAKE, ActionKind.OPEN, ActionKind.CUT)
"""Kinds of actions that may have failed."""

Said = tuple[str, ...]
"""An action without the numbers of objects."""


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A state in which every goal of a crossing has another answer."""

    state: State
    plans: tuple[tuple[Action, ...], ...]
    """Of each goal."""

    @property
    def said(self) -> tuple[Said, ...]:
        """The answer to each goal."""
        return tuple(without_numbers(plan[0]) for plan in self.plans)


@dataclass(frozen=True, slots=True, eq=False)
class Square:
    """Cells that passed every check: for each goal, one for each picture."""

    cells: tuple[tuple[AskedMoment, ...], ...]
    options: tuple[Action, ...]
    states: tuple[State, ...]
    """Of the columns."""


class SquareSearch:
    """Finds a square of one crossing of goals."""

    def __init__(
        self,
        states: States,
        crossing: Crossing,
        columns: int,
        job: ExtractionJob,
        least: int,
        most_common: int,
    ) -> None:
        """Search.

        Args:
            states: of the scene.
            crossing: the goals.
            columns: number of pictures.
            job: template, settings and source of randomness.
            least: number of pixels from which on a thing can be seen.
            most_common: number of answers that may go somewhere or put something down.
        """
        self._states = states
        self._rows = crossing.rows
        self._parts = crossing.parts
        self._columns = columns
        self._most_common = most_common
        self._template = job.template
        self._rng = job.rng
        steps = [len(states.start.plan(row)) or None for row in crossing.rows]
        origins = [
            replace(job.origin, task=row, steps=count)
            for row, count in zip(crossing.rows, steps, strict=True)
        ]
        jobs = [replace(job, origin=origin) for origin in origins]
        self.writers = [ExampleWriter(one) for one in jobs]
        self.soundness = [Soundness(one, least) for one in jobs]
        self._trials: dict[tuple[int, str], Episode | None] = {}
        self._elsewhere: Sequence[str] | None = None
        self._lengths: dict[tuple[int, str, int], float] = {}

    def square(self, base: State) -> Square | None:
        """A square of states after `base`; None if there is none."""
        asked: dict[tuple[Said, ...], list[Asked]] = {}
        ends: list[State] = []
        for found in (self._first(base, ends), self._second(ends, near=True), self._second(ends)):
            for state in found:
                if (one := self._asked(state)) is not None:
                    asked.setdefault(one.said, []).append(one)
            for chosen in islice(self._best(asked), _TRIED):
                columns: list[Asked] = []
                for some in chosen:
                    columns += self._fitting(some, columns)
                if len(columns) == self._columns and (square := self._checked(columns)):
                    return square
            if len(self._rows) > SHAPES[0][0]:
                break
        return None

    def _first(self, base: State, ends: list[State]) -> Iterator[State]:
        """States on the ways to the parts; where they end is added to `ends`."""
        for part in self._parts:
            kind, state, taken = ActionKind.OTHER, base, False
            for kind, state in self._states.towards(base, part):
                taken = taken or kind is ActionKind.TAKE
                if taken:
                    yield state
                if kind is ActionKind.TAKE:
                    yield from self._aside(state)
            if kind in (ActionKind.PUT, ActionKind.CLOSE):
                ends.append(state)

    def _second(self, ends: Sequence[State], near: bool = False) -> Iterator[State]:
        """States on the ways to a second part: to one at the same place, if `near`; else to the
        others.
        """
        for end in ends:
            place = kind_of(end.done[-1].action.arguments[-1])
            for part in self._parts:
                plan = expert_plan(end.episode, part)
                puts = (a for a in plan if self._template.action_kind(a) is ActionKind.PUT)
                first = next(puts, None)
                if first is None or (kind_of(first.arguments[-1]) == place) is not near:
                    continue
                for kind, state in self._states.towards(end, part):
                    yield state
                    if kind is ActionKind.TAKE and not near:
                        yield from self._aside(state)

    def _aside(self, state: State) -> Iterator[State]:
        """The state elsewhere: at furniture that no goal is about."""
        ways = [
            action
            for part in self._parts
            for action in expert_plan(state.episode, part)
            if self._template.action_kind(action) is ActionKind.GO
        ]
        verbs = {action.verb for action in ways}
        known = Counter(kind_of(thing.name) for thing in state.things)
        seen = {kind_of(t.name) for t in state.things if t.pixels and known[kind_of(t.name)] == 1}
        others = {
            kind_of(action.arguments[-1]): action
            for action in state.episode.env.actions()
            if action.verb in verbs and kind_of(action.arguments[-1]) in seen
        }
        for action in ways:
            others.pop(kind_of(action.arguments[-1]), None)
        if self._elsewhere is None:
            self._elsewhere = self._rng.sample(sorted(others), min(_ASIDE, len(others)))
        for name in self._elsewhere:
            if name in others and (found := self._states.after(state, others[name])) is not None:
                yield found

    def _asked(self, state: State) -> Asked | None:
        """The state with its answers, if they differ, and nothing has to be searched for."""
        plans = tuple(state.plan(row) for row in self._rows)
        for plan in plans:
            kinds = [self._template.action_kind(action) for action in plan]
            if not plan or ActionKind.SEARCH in kinds or not plan[0].arguments:
                return None
        one = Asked(state, plans)
        return one if len(set(one.said)) == len(plans) else None

    def _latin(
        self, asked: Mapping[tuple[Said, ...], Sequence[Asked]]
    ) -> Iterator[tuple[tuple[Said, ...], ...]]:
        """Columns of answers that make a square, those with the rarer kinds of actions first."""
        kinds = {
            said: self._template.action_kind(plan[0])
            for some in asked.values()
            for said, plan in zip(some[0].said, some[0].plans, strict=True)
        }
        found = []
        for columns in combinations(self._rng.sample(list(asked), len(asked)), self._columns):
            rows = [set(row) for row in zip(*columns, strict=True)]
            if all(len(row) == self._columns and row == rows[0] for row in rows):
                common = sum(kinds[said] in _COMMON for said in rows[0])
                if common <= self._most_common:
                    found.append((common + self._rng.random(), columns))
        yield from (columns for _, columns in sorted(found, key=lambda one: one[0]))

    def _best(
        self, asked: Mapping[tuple[Said, ...], Sequence[Asked]]
    ) -> Iterator[list[list[Asked]]]:
        """For each column of a square, the states in which all its answers are best."""
        for chosen in self._latin(asked):
            options = [asked[said][0].plans[0][0] for said in chosen]
            columns = [
                [one for one in asked[said][:_EACH] if self._is_best(one, options)]
                for said in chosen
            ]
            if all(columns):
                yield columns

    def _is_best(self, one: Asked, options: Sequence[Action]) -> bool:
        """Whether every goal's answer leaves less to do than any other option."""
        for row, plan in enumerate(one.plans):
            answer = without_numbers(plan[0])
            others = [option for option in options if without_numbers(option) != answer]
            best = self._left(one.state, plan[0], row)
            if best == FAILS or not all(best < self._left(one.state, o, row) for o in others):
                return False
        return True

    def _fitting(self, some: Sequence[Asked], columns: Sequence[Asked]) -> list[Asked]:
        """One of some states whose picture is unlike all others; empty if there is none."""
        for one in some:
            seen = one.state.episode.now.observation
            if all(differ(seen, other.state.episode.now.observation) for other in columns):
                return [one]
        return []

    def _checked(self, columns: Sequence[Asked]) -> Square | None:
        """The square, if every cell has one right answer, which its picture shows."""
        options = tuple(one.plans[0][0] for one in columns)
        cells: list[list[AskedMoment]] = [[] for _ in self._rows]
        for number, one in enumerate(columns):
            for row in range(len(self._rows)):
                cell = self._cell(one, row, number, options)
                if cell is None or not all(
                    self.soundness[row].looks_nearer(cell, other) for other in cells[row]
                ):
                    return None
                cells[row].append(cell)
        if len({self.writers[0].told(cell)[0] for row in cells for cell in row}) > 1:
            return None
        return Square(tuple(map(tuple, cells)), options, tuple(one.state for one in columns))

    def _cell(
        self, one: Asked, row: int, number: int, options: Sequence[Action]
    ) -> AskedMoment | None:
        """A cell, if its picture shows what its answer depends on."""
        episode, context = one.state.episode, one.state.context(one.plans[row])
        after = self._after(one.state, context.answer)
        cell = AskedMoment(episode, context, Trials(episode), number, 0, after, meant=False)
        sound = self.soundness[row]
        try:
            for option in options:
                check_name(context, option)
        except RejectedError as error:
            sound.refuse(error)
            return None
        return cell if sound.is_sound(cell) and sound.shows_state(cell) else None

    def _left(self, state: State, option: Action, row: int) -> float:
        """The option itself and the expert's plan after it; `FAILS` if it can't be done."""
        key = (id(state), option.text, row)
        if key not in self._lengths:
            copy = self._after(state, option)
            plan = expert_plan(copy, self._rows[row]) if copy is not None else ()
            met, total = copy.env.progress() if copy is not None else (0, 1)
            self._lengths[key] = 1 if met == total else 1 + len(plan) if plan else FAILS
        return self._lengths[key]

    def _after(self, state: State, option: Action) -> Episode | None:
        """A copy of a state after an option; None if that fails."""
        key = (id(state), option.text)
        if key not in self._trials:
            copy = self._states.copy(state)
            self._trials[key] = copy if copy.act(Decision(option)).reason is None else None
        return self._trials[key]

    def failed(self, square: Square) -> tuple[Square, Action] | None:
        """The same square after an action that fails in all pictures, and changes nothing."""
        offered = {without_numbers(option) for option in square.options}
        later = {
            without_numbers(action): action
            for row in square.cells
            for cell in row
            for action in cell.context.plan
            if self._template.action_kind(action) in _FAILURES
            and without_numbers(action) not in offered
        }
        for action in self._rng.sample([*later.values()], len(later)):
            after = [self._states.failed(state, action) for state in square.states]
            states = [state for state in after if state is not None]
            if len(states) == len(after):
                cells = tuple(
                    tuple(_in(cell, state) for cell, state in zip(row, states, strict=True))
                    for row in square.cells
                )
                return replace(square, cells=cells, states=tuple(states)), action
        return None


def _in(cell: AskedMoment, state: State) -> AskedMoment:
    """The same cell in another state that looks the same."""
    seen = state.episode.now.observation
    context = replace(cell.context, done=state.done, observation=seen)
    return replace(cell, episode=state.episode, context=context)


class SquareExtractor:
    """Extracts one square from a scene."""

    def __init__(self, episode: Episode, job: ExtractionJob) -> None:
        """Extract from `episode`, which is at the start of the scene of the task of `job`."""
        self._job = job
        self._states = States(episode, job.template)
        rgb = episode.now.observation.rgb
        area = 0 if rgb is None else rgb.shape[0] * rgb.shape[1]
        self._least = max(1, round(job.settings.visible * area))
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
        job, template = self._job, self._job.template
        assert isinstance(template, CrossesGoals)
        task, things = job.origin.task, self._states.start.things
        for crossing in template.crossings(task, rows, things, job.rng):
            search = SquareSearch(
                self._states, crossing, columns, job, self._least, self._most_common(columns)
            )
            base = self._base(crossing) if kind == "trajectory" else self._states.start
            square = search.square(base)
            if square is not None:
                try:
                    return self._written(kind, search, square, base)
                except RejectedError as error:
                    search.soundness[0].refuse(error)
            for sound in search.soundness:
                self._refused |= sound.refused
        return ()

    def _most_common(self, columns: int) -> int:
        """The number of answers of a square that may go somewhere or put something down."""
        return columns // 2 if self._mixed and columns == SHAPES[0][1] else columns

    def _base(self, crossing: Crossing) -> State:
        """A state on the way to a part, so that there is a past to tell of."""
        part = self._job.rng.choice(crossing.parts)
        passed = [state for _, state in self._states.towards(self._states.start, part)]
        return self._job.rng.choice(passed) if passed else self._states.start

    def _written(
        self, kind: Kind, search: SquareSearch, square: Square, base: State
    ) -> Sequence[Draft]:
        past = base.past() if kind == "trajectory" else []
        if kind == "recovery" and (failed := search.failed(square)) is not None:
            square, past = failed[0], [failed[0].states[0].done[-1]]
        kind = kind if past else "decision"
        writer = SquareWriter(search.writers, self._job)
        return writer.drafts(kind, square.cells, square.options, past)
