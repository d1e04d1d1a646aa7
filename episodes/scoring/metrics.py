"""Rates over episodes. Every episode that ended counts, however it ended."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from pydantic import BaseModel, ConfigDict

from inhabit.envs.core import Task
from inhabit.episodes.recording.index import Index
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import Choice, Ending, EndLine, Seconds, TokenCounts
from inhabit.episodes.scoring.benchmark import BenchmarkScores, benchmark_scores
from inhabit.episodes.scoring.bootstrap import clustered

_Z95 = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""


class KindScores(BaseModel):
    """Metrics of the tasks of one type."""

    model_config = ConfigDict(frozen=True)

    episodes: int
    success_rate: float
    success_interval: tuple[float, float]
    """Wilson, 95 %."""
    goal_condition_rate: float


class Scores(BaseModel):
    """Metrics of a run. As JSON, these are the keys of `inhabit run --json`."""

    model_config = ConfigDict(frozen=True)

    run: str
    env: str
    backend: str
    agent: str
    model: str | None
    candidates: Choice
    grants: tuple[str, ...]
    episodes: int
    """That ended."""
    planned: int
    """That there are: more than `episodes` where a run was interrupted."""
    faults: int
    """Of `episodes`: those that a fault ended, or for which no budget was left. They say nothing of
    the agent, and count as unsolved."""
    success_rate: float
    """0 where no episode has ended, as all rates are."""
    success_interval: tuple[float, float]
    """Wilson, 95 %."""
    goal_condition_rate: float
    """Mean over episodes of the share of goal conditions that held at the end."""
    goal_condition_interval: tuple[float, float]
    """Of that mean, 95 %, by bootstrap over episodes; all of [0, 1] where none has ended."""
    plw_success_rate: float | None
    """Path-length weighted, as ALFRED's released evaluation has it: the mean of
    s * L / max(L, t), every episode counting L times. None where no task has a reference."""
    plw_goal_condition_rate: float | None
    plw_episodes: int
    """Over how many episodes the two are: those whose tasks have a reference."""
    invalid_action_rate: float
    """Actions that could not be carried out, among all that were tried."""
    unmatched_rate: float
    """Answers that fit no action, among the same: part of the rate above."""
    replans: int
    endings: Mapping[Ending, int]
    attempts: int
    """Of the episodes that ended: more than `episodes` where simulators failed or the run was
    cut off, and episodes were tried again."""
    steps: int
    seconds: Seconds
    overhead_ms_p50: float | None
    """Median over all steps of the time in neither simulator nor model; None without steps."""
    tokens: TokenCounts
    tokens_per_success: float | None
    """Read and written by models, over all episodes, for each that was solved; None for none."""
    seconds_per_success: float | None
    """The same of the time in simulator, model, record and all else."""
    benchmark: BenchmarkScores | None = None
    """By the metrics of the installed benchmark whose tasks these are; None where there is none."""
    kinds: Mapping[str, KindScores]
    """The same tasks by their kind."""

    def __repr__(self) -> str:
        low, high = self.success_interval
        faults = f" ({self.faults} ended by a fault)" if self.faults else ""
        return (
            f"{self.episodes} of {self.planned} episodes{faults}, "
            f"success rate {self.success_rate:.3f} ({low:.3f} to {high:.3f}), "
            f"goal conditions {self.goal_condition_rate:.3f}"
        )

    __str__ = __repr__


@dataclass(frozen=True, slots=True)
class Scored:
    """A task and how it ended."""

    task: Task
    end: EndLine


def score(run: Run, index: Index | None = None) -> Scores:
    """The figures of all episodes of `run` that have ended.

    Args:
        run: which.
        index: of it, where somebody has read it already.

    Raises:
        RecordError: the record of an episode is broken.
    """
    header = run.header
    endings = zip(run.tasks, (index or Index(run)).ends(), strict=True)
    ended = [Scored(task, end) for task, end in endings if end is not None]
    ends = [scored.end for scored in ended]
    solved = sum(end.success for end in ends)
    steps = sum(end.steps for end in ends)
    weighted = [s for s in ended if s.task.reference_cost is not None]
    overhead = [ms for end in ends for ms in end.overhead_ms]
    return Scores(
        run=str(run.folder),
        env=header.env,
        backend=header.backend,
        agent=header.agent,
        model=header.model,
        candidates=header.candidates,
        grants=tuple(grant.value for grant in header.grants),
        episodes=len(ended),
        planned=len(run.tasks),
        faults=sum(end.is_fault for end in ends),
        success_rate=_mean([float(end.success) for end in ends]),
        success_interval=wilson(solved, len(ended)),
        goal_condition_rate=_mean([_conditions(end) for end in ends]),
        goal_condition_interval=_interval([_conditions(end) for end in ends]),
        plw_success_rate=_path_mean(weighted, lambda end: float(end.success)),
        plw_goal_condition_rate=_path_mean(weighted, _conditions),
        plw_episodes=len(weighted),
        invalid_action_rate=_share(sum(end.invalid for end in ends), steps),
        unmatched_rate=_share(sum(end.unmatched for end in ends), steps),
        replans=sum(end.replans for end in ends),
        endings={ending: sum(end.ending is ending for end in ends) for ending in Ending},
        attempts=sum(end.attempt for end in ends),
        steps=steps,
        seconds=_sum_seconds(end.seconds for end in ends),
        overhead_ms_p50=round(median(overhead), 3) if overhead else None,
        tokens=TokenCounts(
            read=sum(end.tokens.read for end in ends),
            written=sum(end.tokens.written for end in ends),
        ),
        tokens_per_success=_each(sum(e.tokens.read + e.tokens.written for e in ends), solved),
        seconds_per_success=_each(
            sum(getattr(e.seconds, part) for e in ends for part in Seconds.model_fields), solved
        ),
        benchmark=benchmark_scores(run, [scored.end for scored in ended]),
        kinds=_kinds(ended),
    )


def _kinds(ended: Sequence[Scored]) -> Mapping[str, KindScores]:
    found: dict[str, list[EndLine]] = {}
    for scored in ended:
        found.setdefault(scored.task.kind, []).append(scored.end)
    return {
        kind: KindScores(
            episodes=len(ends),
            success_rate=_mean([float(end.success) for end in ends]),
            success_interval=wilson(sum(end.success for end in ends), len(ends)),
            goal_condition_rate=_mean([_conditions(end) for end in ends]),
        )
        for kind, ends in sorted(found.items())
    }


def _interval(values: Sequence[float]) -> tuple[float, float]:
    if not values:
        return 0.0, 1.0
    estimate = clustered([[value] for value in values])
    return estimate.low, estimate.high


def _each(amount: float, successes: int) -> float | None:
    return round(amount / successes, 6) if successes else None


def path_weight(scored: Scored) -> float:
    """How directly an episode went, from 0 to 1: L / max(L, t).

    L is the low-level steps of the reference and t those that the agent took. This is p_s = s * L /
    max(L, t) of ALFRED (Shridhar et al. 2020, section 5) for s = 1, as in SPL (Anderson et al.
    2018). Where no path was needed and none taken it is 1.
    """
    reference, taken = scored.task.reference_cost, scored.end.cost
    if reference is None:
        raise ValueError(f"The task {scored.task.id!r} has no reference to weigh a path by.")
    longer = max(reference, taken)
    return reference / longer if longer else 1.0


def _path_mean(weighted: Sequence[Scored], of: Callable[[EndLine], float]) -> float | None:
    """Mean over episodes of what they reached times `path_weight`, each weighing its reference."""
    total = sum(scored.task.reference_cost or 0 for scored in weighted)
    if not total:
        return None
    parts = (of(s.end) * path_weight(s) * (s.task.reference_cost or 0) for s in weighted)
    return sum(parts) / total


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % score interval of a rate (Wilson 1927), within [0, 1]; all of it for no trials."""
    if trials == 0:
        return 0.0, 1.0
    rate, z2 = successes / trials, _Z95**2
    middle = (rate + z2 / (2 * trials)) / (1 + z2 / trials)
    half = _Z95 / (1 + z2 / trials) * math.sqrt(rate * (1 - rate) / trials + z2 / (4 * trials**2))
    # At the ends the interval touches 0 or 1 exactly; rounding must not miss that.
    low = 0.0 if successes == 0 else max(0.0, middle - half)
    high = 1.0 if successes == trials else min(1.0, middle + half)
    return low, high


def _conditions(end: EndLine) -> float:
    return end.met / end.total if end.total else 0.0


def _share(some: int, whole: int) -> float:
    return some / whole if whole else 0.0


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0


def _sum_seconds(all_seconds: Iterable[Seconds]) -> Seconds:
    rows = list(all_seconds)
    return Seconds(
        **{part: round(sum(getattr(s, part) for s in rows), 6) for part in Seconds.model_fields}
    )
