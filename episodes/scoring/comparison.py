"""Paired comparison of two runs of the same tasks."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
from pydantic import BaseModel

from inhabit.envs.core import Task, UnknownNameError
from inhabit.envs.errors import UserError
from inhabit.envs.marks import as_recorded, portable
from inhabit.envs.registry import find
from inhabit.episodes.episode import MAX_INVALID
from inhabit.episodes.recording.index import Index
from inhabit.episodes.recording.reader import EpisodeRecord, Run
from inhabit.episodes.recording.schema import EndLine, RunHeader
from inhabit.episodes.scoring.builtin_metrics import (
    conditions_met,
    hierarchical,
    none_differs,
    path_weight,
    wilson,
)
from inhabit.episodes.scoring.metric import Scored

_SAME = ("backend", "candidates", "grants", "image", "max_steps")
"""What has to be the same for a fair comparison of agents."""


class MixedError(UserError, ValueError):
    """Two runs were made under different conditions, or share no task."""


@dataclass(frozen=True, slots=True)
class PairedTask:
    """A task and how it ended in either run."""

    task: Task
    first: EndLine
    second: EndLine


class Difference(BaseModel, frozen=True):
    """How far a figure of the second run lies above that of the first, on the same tasks."""

    value: float
    interval: tuple[float, float]
    """95 % interval: Newcombe's method 10 for success; else percentiles of 2,000 resamples of the
    tasks, from a fixed seed, or `none_differs` where all tasks have equal shares."""
    p_value: float
    """P-value of an exact two-sided sign test on tasks that differ; for success, McNemar's."""

    def short(self, name: str) -> str:
        """The difference for people, by its name in `DIFFERENCES`: a rate in percentage points."""
        return _signed(self.value, name)

    def between(self, name: str) -> str:
        """The interval for people."""
        return " to ".join(_signed(end, name) for end in self.interval)

    def text(self, name: str) -> str:
        """The difference with interval and p-value, for people."""
        unit = "" if name == "regret" else " percentage points"
        interval = f"(95 % interval: {self.between(name)})"
        return f"{self.short(name)}{unit} {interval}, p = {self.p_value:.3g}"

    @property
    def disagrees(self) -> bool:
        """Whether interval and test, at 95 %, say different things."""
        low, high = self.interval
        return (low > 0 or high < 0) != (self.p_value < 0.05)


DIFFERENCES: Mapping[str, str] = {
    "success_rate": "success rate",
    "goal_condition_rate": "goal-condition success",
    "plw_success_rate": "path-length weighted success",
    "regret": "regret, actions",
}
"""What is compared, and its name for people; `regret` is a number, the others are rates."""


def _signed(value: float, name: str) -> str:
    return f"{value:+.1f}" if name == "regret" else f"{100 * value:+.1f}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What became of the tasks that ended in both runs. Differences are second minus first."""

    tasks: int
    only_first: int
    """Tasks that ended in the first run alone, and are left out."""
    only_second: int
    both_solved: int
    first_solved: int
    """Tasks that the first run alone has solved."""
    second_solved: int
    neither_solved: int
    differences: Mapping[str, Difference]
    """Differences by the names of `DIFFERENCES`; no weighted success where no task has a reference.

    The regret of an episode is the number of its actions beyond the expert's plan; one that is not
    solved counts as all the steps that it might have done. The plan of a task is the same in both
    runs, so the difference needs no expert.
    """
    paired: Mapping[str, PairedTask]
    """Every task that ended in both runs, by id, in the order of the first run."""

    @property
    def faults(self) -> tuple[int, int]:
        """How many of them a fault ended in the first run, and in the second."""
        pairs = self.paired.values()
        return sum(p.first.is_fault for p in pairs), sum(p.second.is_fault for p in pairs)

    @property
    def changed(self) -> tuple[PairedTask, ...]:
        """Tasks that one run has solved and the other has not, in the order of the first run."""
        pairs = self.paired.values()
        return tuple(p for p in pairs if p.first.success != p.second.success)


def compare(first: Run, second: Run, *, mixed: bool = False) -> Comparison:
    """Compare `second` with `first`, over the tasks that ended in both.

    Args:
        first: the run that differences are counted from.
        second: the other one.
        mixed: compare even if they were made under different conditions.

    Raises:
        MixedError: they were, or have no task in common.
        RecordError: a record can't be read.
    """
    if not mixed:
        _check_same(first.header, second.header)
    paired, only_first, only_second = _pair(first, second)
    if not paired:
        raise MixedError(
            f"{first.folder} and {second.folder} have no task in common that has ended in both: "
            "run both with the same tasks."
        )
    both, one, other, neither = _table(paired)
    shares = [conditions_met(p.second) - conditions_met(p.first) for p in paired]
    limits = first.header.max_steps, second.header.max_steps
    regrets = [
        actions_spent(p.task, p.second, limits[1]) - actions_spent(p.task, p.first, limits[0])
        for p in paired
    ]
    return Comparison(
        tasks=len(paired),
        only_first=only_first,
        only_second=only_second,
        both_solved=both,
        first_solved=one,
        second_solved=other,
        neither_solved=neither,
        differences={
            "success_rate": Difference(
                value=(other - one) / len(paired),
                interval=newcombe(both, other, one, neither),
                p_value=sign_test(one, other),
            ),
            "goal_condition_rate": _resampled(shares, shares=True),
            **_weighted(paired),
            "regret": _resampled(regrets),
        },
        paired={pair.task.id: pair for pair in paired},
    )


def _weighted(paired: Sequence[PairedTask]) -> Mapping[str, Difference]:
    """The difference of path-length weighted success, over the tasks with a reference."""
    found = [p for p in paired if p.task.reference_cost]
    if not found:
        return {}
    gains = [directness(p.task, p.second) - directness(p.task, p.first) for p in found]
    weights = [float(p.task.reference_cost or 0) for p in found]
    return {"plw_success_rate": _resampled(gains, weights, shares=True)}


def directness(task: Task, end: EndLine) -> float:
    """Path-length weighted success of an episode, from 0 to 1; 0 without a reference."""
    if task.reference_cost is None:
        return 0.0
    return path_weight(Scored(task, end)) if end.success else 0.0


def actions_spent(task: Task, end: EndLine, most: int | None) -> int:
    """Actions of an episode; all that it might have done where it was not solved."""
    return end.steps if end.success else max(end.steps, most or task.max_steps)


def parting(first: EpisodeRecord, second: EpisodeRecord) -> tuple[int, str, str] | None:
    """The first step at which two episodes of a task decide differently, and both decisions.

    Raises:
        RecordError: a record can't be read.
    """
    ways = [[step.decide.said for step in one.steps() if step.decide] for one in (first, second)]
    for number, (one, other) in enumerate(zip_longest(*ways, fillvalue="(over)")):
        if one != other:
            return number, one, other
    return None


def sign_test(one: int, other: int) -> float:
    """The exact two-sided p-value of `one` against `other` under even odds; 1 for none at all.

    On discordant pairs this is McNemar's test in its exact form.
    """
    tosses, tail, ways = one + other, 0, 1
    for k in range(min(one, other) + 1):
        tail += ways
        ways = ways * (tosses - k) // (k + 1)  # of choosing k + 1 of them
    return min(1.0, float(2 * tail / 2**tosses)) if tosses else 1.0


def newcombe(both: int, first: int, second: int, neither: int) -> tuple[float, float]:
    """The 95 % interval of the difference of two paired rates, first minus second.

    Args:
        both: pairs in which both succeed.
        first: pairs in which the first alone does.
        second: pairs in which the second alone does.
        neither: the rest; there is at least one pair in all.

    Returns:
        Its ends, within [-1, 1]. Newcombe 1998, "Improved confidence intervals for the difference
        between binomial proportions based on paired data", method 10: the two Wilson intervals,
        with the correlation of the pairs corrected for continuity.
    """
    n = both + first + second + neither
    one, other = (both + first) / n, (both + second) / n
    (low1, high1), (low2, high2) = wilson(both + first, n), wilson(both + second, n)
    phi = _correlation(both, first, second, neither)
    down = _joined(one - low1, high2 - other, phi)
    up = _joined(high1 - one, other - low2, phi)
    return max(-1.0, one - other - down), min(1.0, one - other + up)


def _joined(one: float, other: float, phi: float) -> float:
    return math.sqrt(max(0.0, one * one - 2 * phi * one * other + other * other))


def _correlation(both: int, first: int, second: int, neither: int) -> float:
    margins = (both + first) * (second + neither) * (both + second) * (first + neither)
    if margins == 0:
        return 0.0
    agreement = float(both * neither - first * second)
    if agreement > 0:
        agreement = max(0.0, agreement - (both + first + second + neither) / 2)
    return agreement / math.sqrt(margins)


def changed_settings(header: RunHeader) -> str:
    """The settings of a run's environment that are not the default ones, and that bear on results.

    Places and devices are left out. None are known where the environment is not installed.
    """
    changed: dict[str, object] = {}
    if (most := header.settings.run.get("max_invalid", MAX_INVALID)) != MAX_INVALID:
        changed["max_invalid"] = most
    with contextlib.suppress(UnknownNameError):
        kind = find(header.env).settings
        usual, recorded = kind().model_dump(mode="json"), as_recorded(kind, header.settings.env)
        names = sorted(portable(kind) & recorded.keys())
        changed |= {name: recorded[name] for name in names if recorded[name] != usual[name]}
    return ", ".join(f"{name}={value}" for name, value in changed.items())


def _check_same(first: RunHeader, second: RunHeader) -> None:
    one, other = first.model_dump(mode="json"), second.model_dump(mode="json")
    if first.env != second.env:
        raise MixedError(
            f"The first run is of {first.env} and the second of {second.env}, so they have no task "
            "in common. Compare two runs of one environment."
        )
    for name in _SAME:
        if one[name] != other[name]:
            raise MixedError(
                f"The runs differ in {name}: {one[name]!r} in the first, {other[name]!r} in the "
                "second. Add --mixed to compare them anyway."
            )


def _pair(first: Run, second: Run) -> tuple[list[PairedTask], int, int]:
    others = zip(second.tasks, Index(second).ends(), strict=True)
    ends = {task.id: (task, end) for task, end in others if end is not None}
    of_second = len(ends)
    paired: list[PairedTask] = []
    of_first = 0
    for task, end in zip(first.tasks, Index(first).ends(), strict=True):
        if end is None:
            continue
        of_first += 1
        same, other = ends.get(task.id, (task, None))
        # The same name for another scene or goal is another task; the first run's reference counts.
        same = same.model_copy(update={"reference_cost": task.reference_cost})
        if other is not None and same == task:
            paired.append(PairedTask(task, end, other))
    return paired, of_first - len(paired), of_second - len(paired)


def _table(paired: Sequence[PairedTask]) -> tuple[int, int, int, int]:
    solved = [(p.first.success, p.second.success) for p in paired]
    kinds = ((True, True), (True, False), (False, True), (False, False))
    both, one, other, neither = (solved.count(kind) for kind in kinds)
    return both, one, other, neither


def _resampled(
    values: Sequence[float], weights: Sequence[float] | None = None, *, shares: bool = False
) -> Difference:
    """The mean of differences of tasks, each as often as its weight."""
    gains = np.asarray(values, float)
    if shares and not gains.any():
        return Difference(value=0.0, interval=none_differs(len(gains)), p_value=1.0)
    counts = np.ones(len(values)) if weights is None else np.asarray(weights)
    found = hierarchical(gains[:, None], counts)
    return Difference(
        value=found.mean,
        interval=(found.low, found.high),
        p_value=sign_test(int((gains > 0).sum()), int((gains < 0).sum())),
    )
