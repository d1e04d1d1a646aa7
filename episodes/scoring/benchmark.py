"""The metrics of a benchmark, for a run of all its tasks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from inhabit.envs.core import Task, TaskError
from inhabit.envs.entries import raised
from inhabit.envs.tasksets import BENCHMARKS, Benchmark, EpisodeResult, Metric
from inhabit.episodes.recording.reader import Run, read_tasks
from inhabit.episodes.recording.schema import EndLine


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
