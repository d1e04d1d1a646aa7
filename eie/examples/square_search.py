"""Finds squares: every goal is asked of every picture, over one list of options.

No two answers of a row (one goal) or of a column (one picture) are equal. So neither the goals nor
the pictures alone tell an answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice

from inhabit.eie.examples.checks import check_name
from inhabit.eie.examples.context import FAILS, Trials, without_numbers
from inhabit.eie.examples.draft import ExtractionJob
from inhabit.eie.examples.moments import AskedMoment
from inhabit.eie.examples.soundness import Soundness, differ
from inhabit.eie.examples.states import SceneState, States
from inhabit.eie.examples.topology import kind_of
from inhabit.eie.examples.writing import ExampleWriter
from inhabit.envs.core import Action, Redirectable, Task
from inhabit.envs.template import ActionKind, Crossing

SHAPES = ((2, 4), (3, 3))
"""Goals and pictures of a square."""
_COMMON = (ActionKind.GO, ActionKind.PUT)
"""Kinds of actions that are the answer most often."""
_ASIDE = 2
"""Places that no goal is about where states are looked for."""
_TRIALS = 160
"""Options that are tried in the states of one crossing, for one goal each."""
_LOOKS = 8
"""Sets of pictures of one crossing that are looked at."""
_STANDING = 15
"""How many times more of furniture has to be seen than of other things."""
_TRIED = (ActionKind.TAKE, ActionKind.OPEN)
"""Kinds of actions that may have failed."""
_EACH = 2
"""States with equal answers that are tried of each."""

Said = tuple[str, ...]
"""An action without the numbers of objects."""


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A state in which every goal of a crossing has another answer."""

    state: SceneState
    plans: tuple[tuple[Action, ...], ...]
    """Plan for each goal."""

    @property
    def said(self) -> tuple[Said, ...]:
        """The answer to each goal."""
        return tuple(without_numbers(plan[0]) for plan in self.plans)


@dataclass(frozen=True, slots=True, eq=False)
class Square:
    """Cells that passed every check: for each goal, one for each picture."""

    cells: tuple[tuple[AskedMoment, ...], ...]
    options: tuple[Action, ...]
    states: tuple[SceneState, ...]
    """State of each column."""


class SquareSearch:
    """Finds squares of one crossing of goals."""

    def __init__(
        self, states: States, crossing: Crossing, columns: int, job: ExtractionJob, most_common: int
    ) -> None:
        """Search for squares of so many `columns`, with at most `most_common` answers that go
        somewhere or put something down.
        """
        self._states = states
        self._rows = crossing.rows
        self._parts = crossing.parts
        self._columns = columns
        self._most_common = most_common
        self._template = job.template
        self._rng = job.rng
        jobs = [job.of_task(row, len(states.start.plan(row)) or None) for row in crossing.rows]
        self.writers = [ExampleWriter(one) for one in jobs]
        least = job.least(states.start.episode.now.observation)
        self.soundness = [Soundness(one, least, _STANDING) for one in jobs]
        self._elsewhere: Sequence[Action] | None = None
        self._lengths: dict[tuple[int, str, int], float] = {}
        self._cells: dict[tuple[int, int], AskedMoment | None] = {}
        self._trials, self._looks = _TRIALS, _LOOKS

    def squares(self, base: SceneState) -> Iterator[Square]:
        """Squares of states after `base`."""
        if any(self._to_do(self._states.start, row) == FAILS for row in self._rows):
            return
        asked: dict[tuple[Said, ...], list[Asked]] = {}
        tried: set[tuple[tuple[Said, ...], ...]] = set()
        ends: list[tuple[str, SceneState]] = []
        passed: set[int] = set()
        for found in (self._first(base, ends), self._second(ends, near=True), self._second(ends)):
            for state in found:
                if id(state) not in passed and (one := self._asked(state)) is not None:
                    asked.setdefault(one.said, []).append(one)
                passed.add(id(state))
            for chosen in self._latin(asked):
                if chosen in tried:
                    continue
                if self._trials <= 0 or self._looks <= 0:
                    return
                tried.add(chosen)
                if (square := self._of([asked[said] for said in chosen])) is not None:
                    yield square
            if len(self._rows) > SHAPES[0][0]:
                break

    def _of(self, columns: Sequence[Sequence[Asked]]) -> Square | None:
        """A square with one of the states of each column."""
        options = [some[0].plans[0][0] for some in columns]
        chosen: list[Asked] = []
        for some in columns:
            fit = (
                one
                for one in islice(filter(self._is_sound, some), _EACH)
                if self._is_best(one, options) and _looks_new(one, chosen)
            )
            if (one := next(fit, None)) is None:
                return None
            chosen.append(one)
        self._looks -= 1
        return self._checked(chosen, options)

    def _is_sound(self, one: Asked) -> bool:
        """Whether a state's picture shows what the answer to each goal depends on."""
        return all(self._cell(one, row) is not None for row in range(len(self._rows)))

    def _first(self, base: SceneState, ends: list[tuple[str, SceneState]]) -> Iterator[SceneState]:
        """States on the ways to the parts, from where something was taken; and where they end,
        with the place.
        """
        for part in self._parts:
            kind, state, taken = ActionKind.OTHER, base, False
            for kind, state in self._states.towards(base, part):
                taken = taken or kind is ActionKind.TAKE
                if taken:
                    yield state
                if kind is ActionKind.TAKE:
                    yield from self._aside(state)
            if kind in (ActionKind.PUT, ActionKind.CLOSE):
                ends.append((self._place(part), state))

    def _second(
        self, ends: Sequence[tuple[str, SceneState]], near: bool = False
    ) -> Iterator[SceneState]:
        """States on the ways to a second part: to one at the same place, if `near`; else to the
        others.
        """
        for place, end in ends:
            for part in self._parts:
                if (self._place(part) == place) is not near:
                    continue
                yield from (state for _, state in self._states.towards(end, part))

    def _place(self, part: Task) -> str:
        """Where the plan for a part puts something first."""
        plan = self._states.start.plan(part)
        puts = (a for a in plan if self._template.action_kind(a) is ActionKind.PUT)
        return next((kind_of(action.arguments[-1]) for action in puts), "")

    def _aside(self, state: SceneState) -> Iterator[SceneState]:
        """The state elsewhere: at furniture that no goal is about."""
        if self._elsewhere is None:
            self._elsewhere = self._ways_aside(state)
        for action in self._elsewhere:
            if (found := self._states.after(state, action)) is not None:
                yield found

    def _ways_aside(self, state: SceneState) -> Sequence[Action]:
        """Ways to things in view that no goal is about, and of which there is one of a kind."""
        ways = [
            action
            for part in self._parts
            for action in self._states.start.plan(part)
            if self._template.action_kind(action) is ActionKind.GO
        ]
        verbs = {action.verb for action in ways}
        others = {
            kind_of(action.arguments[-1]): action
            for action in state.episode.env.actions()
            if action.verb in verbs
        }
        for action in ways:
            others.pop(kind_of(action.arguments[-1]), None)
        known = Counter(kind_of(thing.name) for thing in state.things)
        seen = {kind_of(thing.name) for thing in state.things if thing.pixels}
        fit = sorted(name for name in others if name in seen and known[name] == 1)
        return [others[name] for name in self._rng.sample(fit, min(_ASIDE, len(fit)))]

    def _asked(self, state: SceneState) -> Asked | None:
        """The state with its answers, if they differ, and nothing has to be searched for."""
        plans = []
        for row in self._rows:
            plan = state.plan(row)
            kinds = [self._template.action_kind(action) for action in plan]
            if not plan or ActionKind.SEARCH in kinds or not plan[0].arguments:
                return None
            plans.append(plan)
        one = Asked(state, tuple(plans))
        return one if len(set(one.said)) == len(plans) else None

    def _latin(
        self, asked: Mapping[tuple[Said, ...], Sequence[Asked]]
    ) -> Iterator[tuple[tuple[Said, ...], ...]]:
        """Columns of answers that make a square: few of the common kinds first."""
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

    def _is_best(self, one: Asked, options: Sequence[Action]) -> bool:
        """Whether every goal's answer leaves less to do than any other option."""
        for row, plan in enumerate(one.plans):
            answer = without_numbers(plan[0])
            others = (option for option in options if without_numbers(option) != answer)
            best = self._left(one.state, plan[0], row)
            if best == FAILS or not all(best < self._left(one.state, o, row) for o in others):
                return False
        return True

    def _checked(self, columns: Sequence[Asked], options: Sequence[Action]) -> Square | None:
        """The square, if every cell has one right answer, which its picture shows."""
        cells: list[list[AskedMoment]] = [[] for _ in self._rows]
        for one in columns:
            for row, sound in enumerate(self.soundness):
                cell = self._cell(one, row)
                if (
                    cell is None
                    or not all(sound.passes(check_name, cell.context, o) for o in options)
                    or not all(sound.looks_nearer(cell, other) for other in cells[row])
                ):
                    return None
                cells[row].append(cell)
        if len({self.writers[0].told(cell)[0] for row in cells for cell in row}) > 1:
            return None
        return Square(tuple(map(tuple, cells)), tuple(options), tuple(one.state for one in columns))

    def _cell(self, one: Asked, row: int) -> AskedMoment | None:
        """A cell, if its picture shows what its answer depends on."""
        key = (id(one.state), row)
        if key not in self._cells:
            context = one.state.context(one.plans[row])
            after = self._states.after(one.state, context.answer)
            trial = after.episode if after is not None else None
            cell = AskedMoment(
                one.state.episode, context, Trials(one.state.episode), 0, 0, trial, meant=False
            )
            sound = self.soundness[row]
            fit = sound.is_sound(cell) and sound.shows_state(cell)
            self._cells[key] = cell if fit else None
        return self._cells[key]

    def _left(self, state: SceneState, option: Action, row: int) -> float:
        """The option itself and the expert's plan after it; `FAILS` if it can't be done."""
        key = (id(state), option.text, row)
        if key not in self._lengths:
            self._trials -= 1
            after = self._states.after(state, option)
            left = FAILS if after is None else self._to_do(after, self._rows[row])
            self._lengths[key] = 1 + left
        return self._lengths[key]

    def _to_do(self, state: SceneState, goal: Task) -> float:
        """The length of the expert's plan for a goal; `FAILS` if there is none."""
        if plan := state.plan(goal):
            return len(plan)
        env = state.episode.env
        assert isinstance(env, Redirectable)
        env.pursue(goal)
        met, total = env.progress()
        return 0 if met == total else FAILS

    def failed(self, square: Square) -> Square | None:
        """The same square after an action that fails in all pictures, and changes nothing.

        It comes later in the plan for every goal in every picture, so somebody may have tried it.
        """
        offered = {without_numbers(option) for option in square.options}
        plans = [cell.context.plan for row in square.cells for cell in row]
        later = [
            action
            for action in plans[0]
            if self._template.action_kind(action) in _TRIED
            and without_numbers(action) not in offered
            and all(action in plan for plan in plans)
        ]
        for action in self._rng.sample(later, len(later)):
            after = [self._states.failed(state, action) for state in square.states]
            states = [state for state in after if state is not None]
            if len(states) == len(after):
                cells = tuple(
                    tuple(_in(cell, state) for cell, state in zip(row, states, strict=True))
                    for row in square.cells
                )
                return replace(square, cells=cells, states=tuple(states))
        return None


def _looks_new(one: Asked, others: Sequence[Asked]) -> bool:
    """Whether a picture is unlike all others."""
    seen = one.state.episode.now.observation
    return all(differ(seen, other.state.episode.now.observation) for other in others)


def _in(cell: AskedMoment, state: SceneState) -> AskedMoment:
    """The same cell in another state that looks the same."""
    seen = state.episode.now.observation
    context = replace(cell.context, done=state.done, observation=seen)
    return replace(cell, episode=state.episode, context=context)
