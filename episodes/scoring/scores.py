"""The scores of a run. Every episode that ended counts, however it ended."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any
from warnings import warn

from pydantic import BaseModel

from inhabit.envs.core import Task, TaskError
from inhabit.envs.entries import raised
from inhabit.envs.tasksets import BENCHMARKS, Benchmark, EpisodeResult, Metric
from inhabit.episodes.recording.index import Index
from inhabit.episodes.recording.reader import Run, read_tasks
from inhabit.episodes.recording.schema import Choice, Ending, EndLine, Seconds, Sight, TokenCounts
from inhabit.episodes.scoring.builtin_metrics import conditions, success, success_interval
from inhabit.episodes.scoring.metric import METRICS, Interval, RunMetric, Scored
from inhabit.episodes.scoring.sight import Worth, worth


class KindScores(BaseModel, frozen=True):
    """Metrics of the tasks of one type."""

    episodes: int
    success_rate: float
    success_interval: tuple[float, float]
    """95 % Wilson interval of `success_rate`."""
    goal_condition_rate: float


class Scores(BaseModel, frozen=True, extra="allow"):
    """Metrics of a run. As JSON, these are the keys of `inhabit run --json`.

    Metrics that other packages add are attributes and keys, too.
    """

    run: str
    env: str
    backend: str
    agent: str
    model: str | None
    candidates: Choice
    grants: tuple[str, ...]
    """What the agent has beyond seeing and acting; candidates are among them where they tell what
    the simulator knows."""
    episodes: int
    """Number of episodes that ended."""
    planned: int
    """Number of tasks; more than `episodes` where a run was interrupted."""
    faults: int
    """Episodes that a fault ended, or for which no budget was left. They say nothing of the agent,
    and count as unsolved."""
    success_rate: float
    """Share of solved episodes; 0 where no episode has ended, as all rates are."""
    success_interval: tuple[float, float]
    """95 % Wilson interval of `success_rate`."""
    goal_condition_rate: float
    """Mean over episodes of the share of goal conditions that held at the end."""
    goal_condition_interval: tuple[float, float]
    """95 % interval of `goal_condition_rate`, by bootstrap over episodes; [0, 1] without any."""
    plw_success_rate: float | None
    """Path-length weighted rate, as ALFRED's released evaluation has it: the mean of s * L / max(L,
    t), every episode counting L times. None where no task has a reference."""
    plw_goal_condition_rate: float | None
    plw_episodes: int
    """Episodes that the two weighted rates are over: those whose tasks have a reference."""
    invalid_action_rate: float
    """Actions that could not be carried out, among all that were tried."""
    unmatched_rate: float
    """Answers that fit no action, among all that were tried: part of `invalid_action_rate`."""
    replans: int
    endings: Mapping[Ending, int]
    attempts: int
    """Attempts at the episodes that ended: more than `episodes` where simulators failed or the run
    was cut off, and episodes were tried again."""
    steps: int
    seconds: Seconds
    overhead_ms_p50: float | None
    """Median over all steps of the time in neither simulator nor model; None without steps."""
    tokens: TokenCounts
    tokens_per_success: float | None
    """Tokens of models, over all episodes, for each that was solved; None for none."""
    seconds_per_success: float | None
    """Seconds in simulator, model, record and all else, for each episode solved; None for none."""
    benchmark: BenchmarkScores | None = None
    """Metrics of the installed benchmark whose tasks these are; None where there is none."""
    sight: Mapping[Sight, Worth] | None
    """What the run's pictures are worth to the agent, by what it was shown instead; empty where
    that was not measured, None for a run without its own pictures."""
    kinds: Mapping[str, KindScores]
    """Scores of the tasks by their kind."""

    def measured(self) -> Iterator[Measured]:
        """Every metric that has a figure, in the order of `METRICS`."""
        for metric in METRICS.usable()[0]:
            if (value := getattr(self, metric.name, None)) is not None:
                yield Measured(metric, value, getattr(self, metric.interval_name, None))

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
class Measured:
    """The figure of a run by one metric."""

    metric: RunMetric
    value: float
    interval: Interval | None

    @property
    def text(self) -> str:
        """The figure for people."""
        return self.metric.text(self.value)

    def __str__(self) -> str:
        if self.interval is None:
            return self.text
        low, high = map(self.metric.text, self.interval)
        return f"{self.text} (95 % CI {low} to {high})"


def score(run: Run, index: Index | None = None, others: Iterable[Run] = ()) -> Scores:
    """The figures of all episodes of `run` that have ended.

    Args:
        run: which.
        index: of it, where somebody has read it already.
        others: runs that may show what its pictures are worth.

    Raises:
        RecordError: the record of an episode is broken.
    """
    header = run.header
    endings = zip(run.tasks, (index or Index(run)).ends(), strict=True)
    ended = [Scored(task, end) for task, end in endings if end is not None]
    ends = [scored.end for scored in ended]
    overhead = [ms for end in ends for ms in end.overhead_ms]
    return Scores(
        run=str(run.folder),
        env=header.env,
        backend=header.backend,
        agent=header.agent,
        model=header.model,
        candidates=header.candidates,
        grants=header.told,
        episodes=len(ended),
        planned=len(run.tasks),
        faults=sum(end.is_fault for end in ends),
        plw_episodes=sum(task.reference_cost is not None for task in (s.task for s in ended)),
        replans=sum(end.replans for end in ends),
        endings={ending: sum(end.ending is ending for end in ends) for ending in Ending},
        attempts=sum(end.attempt for end in ends),
        steps=sum(end.steps for end in ends),
        seconds=_sum_seconds(end.seconds for end in ends),
        overhead_ms_p50=round(median(overhead), 3) if overhead else None,
        tokens=TokenCounts(
            read=sum(end.tokens.read for end in ends),
            written=sum(end.tokens.written for end in ends),
        ),
        benchmark=benchmark_scores(run, ends),
        sight=worth(run, others) if header.image is Sight.SHOWN else None,
        kinds=_kinds(ended),
        **_figures(ended),
    )


def _figures(ended: Sequence[Scored]) -> Mapping[str, Any]:
    """Every metric and interval by its key."""
    found: dict[str, Any] = {}
    usable, broken = METRICS.usable()
    for problem in broken:
        warn(str(problem), stacklevel=2)
    for metric in usable:
        found[metric.name] = figure(metric, ended)
        if metric.interval is not None:
            try:
                low, high = map(float, metric.interval(ended))
                if not (math.isfinite(low) and math.isfinite(high)):
                    raise ValueError(f"{low} to {high} is no interval")
                found[metric.interval_name] = low, high
            except Exception as error:  # noqa: BLE001 - code of others may raise anything
                warn(f"The interval of the metric {metric.name!r} {raised(error)}.", stacklevel=2)
    return found


def figure(metric: RunMetric, ended: Sequence[Scored]) -> float | None:
    """What a metric comes to; None if there is no figure, or, with a warning, if it fails."""
    try:
        if (value := metric.of(ended)) is None or math.isfinite(value := float(value)):
            return value
        why = f"gave {value}"
    except Exception as error:  # noqa: BLE001 - code of others may raise anything
        why = raised(error)
    warn(f"The metric {metric.name!r} {why}.", stacklevel=2)
    return None


def _kinds(ended: Sequence[Scored]) -> Mapping[str, KindScores]:
    found: dict[str, list[Scored]] = {}
    for scored in ended:
        found.setdefault(scored.task.kind, []).append(scored)
    return {
        kind: KindScores(
            episodes=len(those),
            success_rate=success(those),
            success_interval=success_interval(those),
            goal_condition_rate=conditions(those),
        )
        for kind, those in sorted(found.items())
    }


def _sum_seconds(all_seconds: Iterable[Seconds]) -> Seconds:
    rows = list(all_seconds)
    return Seconds(
        **{part: round(sum(getattr(s, part) for s in rows), 6) for part in Seconds.model_fields}
    )


class BenchmarkScores(BaseModel, frozen=True):
    """What a run came to by the metrics of its benchmark."""

    name: str
    version: str
    metrics: Mapping[str, float]
    failed: Mapping[str, str]
    """Metrics that gave no finite number, and why."""


def benchmark_scores(run: Run, ends: Sequence[EndLine | None]) -> BenchmarkScores | None:
    """The figures of the benchmark whose tasks are those of `run`; None if there is none, or while
    an episode has not ended.
    """
    ended = [end for end in ends if end is not None]
    if len(ended) < len(run.tasks) or (found := _benchmark_of(run)) is None:
        return None
    results = [_result(task, end) for task, end in zip(run.tasks, ended, strict=True)]
    values, failed = {}, {}
    for name, metric in found.metrics.items():
        value = _value(metric, results)
        if isinstance(value, float):
            values[name] = value
        else:
            failed[name] = value
    return BenchmarkScores(name=found.name, version=found.version, metrics=values, failed=failed)


def _benchmark_of(run: Run) -> Benchmark | None:
    """By its tasks, and not by a name: so no record can claim to be of a benchmark."""
    usable, _ = BENCHMARKS.usable()
    return next((one for one in usable if _tasks_are_of(run, one)), None)


def _tasks_are_of(run: Run, benchmark: Benchmark) -> bool:
    if benchmark.env != run.header.env:
        return False
    try:
        return tuple(read_tasks(benchmark.file())) == run.tasks
    except TaskError:
        # A broken benchmark is said where it is run; no run's tasks are its own.
        return False


def _value(metric: Metric, results: Sequence[EpisodeResult]) -> float | str:
    """What a metric comes to, or why it comes to nothing."""
    try:
        value = float(metric(results))
    except Exception as error:  # noqa: BLE001 - code of others may raise anything
        return raised(error)
    return value if math.isfinite(value) else f"gave {value}"


def _result(task: Task, end: EndLine) -> EpisodeResult:
    return EpisodeResult(
        task, end.ending.value, end.success, end.met, end.total, end.steps, end.cost, end.invalid
    )
