"""Checks what only squares promise: goals and pictures that are crossed, over one list of options.

Written apart from what makes them. Sets without squares pass.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from check_stage import Stage
from check_texts import NUMBERS, STUFF, Reader, singulars, squeeze
from inhabit.eie.examples.example import Example
from inhabit.envs.core import Forkable, SceneObject

LEAST = ((2, 4), (3, 3))
"""Goals and pictures that a square has at least."""
_ASKS = re.compile(
    r"(?:goal (?:asks|wants) you|task is|asked of you is|been asked) to ([^,;:.]+)", re.IGNORECASE
)
_OTHERS = re.compile(
    r"(?:goal were to|if you were to|does not ask you to|task is not to|"
    r"wrong to) ([^,;:.]+)|To ([^,;:.]+)(?: is not what|, you would)"
)
_AWAY = re.compile(
    r"\bthe (?:open |closed )?((?:(?!\bthe\b)[a-z ])+?) (?:is|are) "
    r"(not in view|in view, but out of reach|in view|within reach)"
)
_NONE = re.compile(r"\bthere is no ([a-z ]+?) in view")
_LACK = re.compile(r"made of ([^;:.]+); you carry (\w+),")
_AMOUNT = re.compile(r"(?:(an?|some|[a-z]+) )?(?:pieces? of )?(.+)")
_TOLD = re.compile(r"Within reach: ([^.]*)\.")

Finding = tuple[str, str, str]
"""Id of the example, cause, sentence."""


def check_squares(examples: Sequence[Example]) -> Iterator[Finding]:
    """What is wrong with the squares among examples."""
    squares: dict[str, list[Example]] = defaultdict(list)
    for example in examples:
        if example.square:
            squares[example.square].append(example)
    for name, cells in squares.items():
        for sentence in _faults(cells):
            yield cells[0].id, "square", f"{name}: {sentence}"


def _faults(cells: Sequence[Example]) -> Iterator[str]:
    grid = {(cell.row, cell.column): cell for cell in cells}
    rows, columns = sorted({row for row, _ in grid}), sorted({column for _, column in grid})
    if (len(rows), len(columns)) not in LEAST or len(grid) != len(rows) * len(columns):
        yield f"{len(cells)} cells are no square of {len(rows)} goals and {len(columns)} pictures."
        return
    if {cell.answer for cell in cells} != set(range(len(cells[0].candidates))):
        yield "An option is never right."
    if len(cells) > len(grid):
        yield "Two examples are in one cell."
    if len({(cell.candidates, cell.kind, cell.text, cell.split) for cell in cells}) > 1:
        yield "Its cells differ in more than goal, picture and answer."
    if len({cell.question.replace(cell.goal, "") for cell in cells}) > 1:
        yield "Its questions differ in more than the goal."
    if len({tuple((p.action, p.image, p.failed) for p in cell.history) for cell in cells}) > 1:
        yield "Its cells tell of different pasts."
    for row in rows:
        line = [grid[row, column] for column in columns]
        if len({cell.goal for cell in line}) > 1:
            yield f"Row {row} has several goals."
        if len({cell.answer for cell in line}) < len(line):
            yield f"Row {row} has one answer for two pictures."
    for column in columns:
        line = [grid[row, column] for row in rows]
        if len({cell.image for cell in line}) > 1:
            yield f"Column {column} has several pictures."
        if len({cell.answer for cell in line}) < len(line):
            yield f"Column {column} has one answer for two goals."
        if len({_start(cell) for cell in line}) > 1:
            yield f"Column {column} has several states."
    if len({grid[row, 0].goal for row in rows}) < len(rows):
        yield "Two rows have the same goal."
    if len({grid[0, column].image for column in columns}) < len(columns):
        yield "Two columns have the same picture."


def _start(cell: Example) -> tuple[object, ...]:
    return () if cell.lineage is None else (cell.lineage.actions, cell.lineage.seed)


@dataclass(frozen=True)
class Sight:
    """What is there at the moment of an example."""

    things: Sequence[SceneObject]
    reached: frozenset[str]
    """Kinds of what is within reach, without spaces."""


class SquareReasons:
    """Holds the reasons of squares against the goals, and against the neighbouring cells."""

    def __init__(self, examples: Sequence[Example]) -> None:
        """Know all cells of the squares among examples."""
        self._cells = {(e.square, e.row, e.column): e for e in examples if e.square}
        self._sights: dict[str, Sight] = {}
        """Example -> what was there; it is built anew once, and asked again by its neighbours."""

    def wrong(self, example: Example, stage: Stage) -> Iterator[tuple[str, str]]:
        """What a reason says of its goal, and of what is within reach, that is not so.

        Args:
            example: of a square.
            stage: brought to it.
        """
        if not example.square:
            return
        wishes = stage.wishes(example)
        asked, others = _ASKS.findall(example.reason), _found(_OTHERS, example.reason)
        if len(asked) != 1 or not example.reason.startswith(example.seen) or not example.seen:
            yield "order", "Its reason does not tell what is seen, and then what is asked."
        for wish in asked:
            if squeeze(wish) not in wishes:
                yield "wish", f"Its goal does not ask to {wish!r}."
        for wish in others:
            if squeeze(wish) in wishes:
                yield "wish", f"Its goal does ask to {wish!r}."
        yield from (("carried", said) for said in _amounts(example))
        sight = self._sights[example.id] = _sight(stage)
        yield from (("seen", said) for said in _sights(example.seen, sight))

    def true_elsewhere(self, example: Example, stage: Stage) -> Iterator[str]:
        """The neighbouring cells for which the reason would hold as well.

        Args:
            example: of a square whose cells were all held against their goals.
            stage: of the environment, wherever it is.
        """
        rows = 1 + max(row for square, row, _ in self._cells if square == example.square)
        columns = 1 + max(column for square, _, column in self._cells if square == example.square)
        below = self._cells.get((example.square, (example.row + 1) % rows, example.column))
        beside = self._cells.get((example.square, example.row, (example.column + 1) % columns))
        if below is not None:
            wishes = stage.wishes(below)
            asked = {squeeze(wish) for wish in _ASKS.findall(example.reason)}
            others = {squeeze(wish) for wish in _found(_OTHERS, example.reason)}
            if asked <= wishes and not others & wishes:
                yield f"Its reason would hold for the goal of {below.id}."
        sight = self._sights.get(beside.id) if beside is not None else None
        if beside is not None and sight is not None:
            kinds = [*stage.kinds, *(thing.kind for thing in sight.things)]
            reader = Reader(kinds, stage.products, stage.synonyms)
            if not [*reader.wrong(example.seen, sight.things), *_sights(example.seen, sight)]:
                yield f"What its reason tells of the picture is so in that of {beside.id}."


def _found(pattern: re.Pattern[str], text: str) -> list[str]:
    return [found for groups in pattern.findall(text) for found in groups if found]


def _amounts(example: Example) -> Iterator[str]:
    """Amounts that a reason says are carried, against those that the text tells."""
    told = re.search(r"You carry: ([^.]*)\.", example.text)
    carried = dict[str, int]()
    for one in told[1].split(", ") if told is not None else ():
        name, _, count = one.partition(" x")
        carried[squeeze(name)] = int(count or 1)
    for said in STUFF.findall(example.reason):
        for one in re.split(r", | and ", said):
            count, name = _amount(one.removesuffix(" to burn"))
            if _held(name, carried) < count:
                yield f"{one!r} is not carried."
    for needed, has in _LACK.findall(example.reason):
        count, name = _amount(needed)
        if _held(name, carried) != NUMBERS.get(has, int(has == "one")) or count < NUMBERS["two"]:
            yield f"It says that {has} of {needed} is carried."


def _amount(said: str) -> tuple[int, str]:
    match = _AMOUNT.fullmatch(said.strip())
    assert match is not None
    count = NUMBERS.get(match[1] or "", 0)
    return (count or 1, squeeze(match[2] if count or match[1] in ("a", "an", "some") else said))


def _held(name: str, carried: Mapping[str, int]) -> int:
    return next((carried[one] for one in singulars(name) if one in carried), 0)


def _sight(stage: Stage) -> Sight:
    reached = {squeeze(a.arguments[-1]) for a in stage.env.actions() if stage.reaches(a)}
    if not isinstance(stage.env, Forkable):
        # Far things are offered as well, and what is within reach is told.
        told = " and ".join(_TOLD.findall(stage.seen[-1].text))
        reached = {squeeze(kind) for kind in told.split(" and ")}
    return Sight(stage.things(), frozenset(reached))


def _sights(text: str, sight: Sight) -> Iterator[str]:
    """Claims on what is in view and within reach that do not hold."""
    none = [(said, "not in view") for said in _NONE.findall(text.lower())]
    for said, where in [*_AWAY.findall(text.lower()), *none]:
        kind = squeeze(said)
        seen = any(squeeze(t.kind) == kind and t.pixels for t in sight.things)
        if where == "not in view" and seen:
            yield f"The {said} is in view."
        elif where != "not in view" and not seen:
            yield f"The {said} is not in view."
        elif where == "within reach" and kind not in sight.reached:
            yield f"The {said} is out of reach."
        elif where == "in view, but out of reach" and kind in sight.reached:
            yield f"The {said} is within reach."
