"""Statistics of a set: splits, kinds, verbs, objects, rooms, answer positions, rejections."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scipy.special import chdtrc

from inhabit.eie.examples.example import Example, Rejection
from inhabit.eie.sets.folder import SetFolder

SAMPLES = 8
"""Number of sample sentences per reason for rejection."""


@dataclass(slots=True)
class Coverage:
    """Counts over a set; memory grows with its variety, and by a number for each example."""

    examples: int = 0
    attempts: int = 0
    splits: Counter[str] = field(default_factory=Counter)
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(kind, split) -> examples."""
    verbs: Counter[str] = field(default_factory=Counter)
    objects: Counter[str] = field(default_factory=Counter)
    actions: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(object, verb) -> examples."""
    places: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    """(object, verb) -> the rooms it is done in."""
    rooms: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(room, split) -> examples."""
    difficulty: Counter[int] = field(default_factory=Counter)
    positions: Counter[tuple[int, int]] = field(default_factory=Counter)
    """(candidates, place of the answer) -> examples."""
    rejected: Counter[Rejection] = field(default_factory=Counter)
    samples: dict[Rejection, list[str]] = field(default_factory=dict)
    tokens: Counter[str] = field(default_factory=Counter)
    twins: Counter[str] = field(default_factory=Counter)
    """Group of twins -> examples."""
    in_squares: int = 0
    """Examples in squares."""
    squares: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Square -> its number of goals and of pictures."""
    moments: Counter[tuple[str, int]] = field(default_factory=Counter)
    """(edge of the topology graph, subtasks done) -> examples, such as ("take → place", 1)."""
    alike: int = 0
    """Examples with the images, goal and question of an earlier one."""
    _rows: set[int] = field(default_factory=set)

    def add(self, example: Example) -> None:
        """Count one example."""
        self.examples += 1
        self.splits[example.split] += 1
        self.kinds[example.kind, example.split] += 1
        self.verbs[example.verb] += 1
        self.rooms[example.room, example.split] += 1
        self.difficulty[example.difficulty] += 1
        self.positions[len(example.candidates), example.answer] += 1
        if example.square:
            self.in_squares += 1
            shape = self.squares.setdefault(example.square, (0, 0))
            self.squares[example.square] = (
                max(shape[0], example.row + 1),
                max(shape[1], example.column + 1),
            )
        if example.twins:
            self.twins[example.twins] += 1
        if (moment := _moment(example)) is not None:
            self.moments[moment] += 1
        images = (example.image, *(past.image for past in example.history))
        row = hash((images, example.goal, example.question))
        self.alike += row in self._rows
        self._rows.add(row)
        for thing in dict.fromkeys(example.objects):
            self.objects[thing] += 1
            self.actions[thing, example.verb] += 1
            self.places.setdefault((thing, example.verb), set()).add(example.room)

    @property
    def shapes(self) -> Sequence[tuple[str, int]]:
        """Shapes of squares, such as "2 goals x 4 pictures", with their number."""
        found = Counter(
            f"{rows} goals x {columns} pictures" for rows, columns in self.squares.values()
        )
        return sorted(found.items())

    @property
    def edges(self) -> Sequence[str]:
        """The edges of topology graphs, the most frequent first."""
        found: Counter[str] = Counter()
        for (edge, _), count in self.moments.items():
            found[edge] += count
        return [edge for edge, _ in found.most_common()]

    @property
    def deepest(self) -> int:
        """The largest number of subtasks that are done."""
        return max((done for _, done in self.moments), default=0)

    @property
    def funnel(self) -> Sequence[tuple[Rejection, int]]:
        """Reasons for rejection, the most frequent first."""
        return sorted(self.rejected.items(), key=lambda item: (-item[1], item[0]))


def _moment(example: Example) -> tuple[str, int] | None:
    """The edge that leads to the next subtask, and how many are done; None if none is next."""
    graph = example.lineage.topology if example.lineage is not None else ()
    following = next((one for one in graph if one.state == "next"), None)
    if following is None:
        return None
    ends = (" and ".join(following.needs), following.name)
    edge = " → ".join(re.sub(r"[ _]\d+", "", end) for end in ends if end)
    return edge, sum(one.state == "done" for one in graph)


def cover(opened: SetFolder) -> Coverage:
    """Count everything in a set.

    Raises:
        SetError: it can't be read.
    """
    found = Coverage()
    for example in opened.examples():
        found.add(example)
    for attempt in opened.attempts():
        found.attempts += 1
        found.tokens.update(attempt.tokens)
        for refused in attempt.rejected:
            found.rejected[refused.rejection] += 1
            samples = found.samples.setdefault(refused.rejection, [])
            if len(samples) < SAMPLES and refused.sentence not in samples:
                samples.append(refused.sentence)
    return found


@dataclass(frozen=True, slots=True)
class ChiSquare:
    """Pearson's chi-square test that all answer positions are equally frequent."""

    statistic: float
    freedom: int
    """Degrees of freedom."""

    @property
    def p(self) -> float:
        """The p-value; small means that positions are skewed."""
        return float(chdtrc(self.freedom, self.statistic)) if self.freedom else 1.0


def evenness(positions: Mapping[tuple[int, int], int]) -> ChiSquare:
    """Test `positions`, (candidates, place) -> examples, pooled over numbers of candidates."""
    statistic, freedom = 0.0, 0
    for candidates in sorted({candidates for candidates, _ in positions}):
        counts = [positions.get((candidates, place), 0) for place in range(candidates)]
        expected = sum(counts) / candidates
        statistic += sum((count - expected) ** 2 / expected for count in counts)
        freedom += candidates - 1
    return ChiSquare(statistic, freedom)


NONE = "none: a seed task"


@dataclass(slots=True)
class ChangeEffect:
    """The effect of one change on the tasks of a set."""

    change: str
    tasks: int = 0
    """Tasks that the author proposed."""
    kept: int = 0
    """Tasks that gave examples."""
    examples: int = 0
    before: list[int] = field(default_factory=list)
    """Actions of the expert's plan for the parent, of kept tasks."""
    after: list[int] = field(default_factory=list)
    """Actions of the expert's plan for the task itself, of kept tasks."""

    @property
    def mean_before(self) -> float | None:
        """Mean plan length of the parents; None where it is not known."""
        return sum(self.before) / len(self.before) if self.before else None

    @property
    def mean_after(self) -> float | None:
        """Mean plan length of the tasks."""
        return sum(self.after) / len(self.after) if self.after else None


def effects(opened: SetFolder) -> Sequence[ChangeEffect]:
    """The changes of a set by number of tasks, seed tasks first.

    Sets made by earlier versions lack plan lengths, and the tasks of which nothing was kept.

    Raises:
        SetError: the set can't be read.
    """
    found: dict[str, ChangeEffect] = {}
    tasks, goals = set[str](), set[str]()
    for example in opened.examples():
        if (lineage := example.lineage) is None:
            continue
        effect = found.setdefault(lineage.change, ChangeEffect(lineage.change or NONE))
        effect.examples += 1
        if (task := example.group or lineage.seed_task) not in tasks:
            tasks.add(task)
            effect.kept += 1
        if lineage.seed_task in goals:
            continue
        goals.add(lineage.seed_task)
        if lineage.steps is not None:
            effect.after.append(lineage.steps)
        if lineage.parent_steps is not None:
            effect.before.append(lineage.parent_steps)
    tried = Counter(attempt.change for attempt in opened.attempts() if attempt.change is not None)
    for change, effect in found.items():
        effect.tasks = max(tried[change], effect.kept)
    for change in tried.keys() - found.keys():
        found[change] = ChangeEffect(change or NONE, tried[change])
    return sorted(found.values(), key=lambda e: (e.change != NONE, -e.tasks, e.change))
