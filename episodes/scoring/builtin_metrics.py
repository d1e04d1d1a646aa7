"""Our metrics of every run. Every episode that ended counts, however it ended."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from inhabit.episodes.recording.schema import EndLine, Seconds
from inhabit.episodes.scoring.metric import Interval, RunMetric, Scored

_DRAWS = 2000
"""Resamples of the bootstrap."""
_AT_ONCE = 1 << 20
"""Values that are drawn together: all draws of 100,000 episodes take gigabytes."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and its 95 % interval."""

    mean: float
    low: float
    high: float


def clustered(clusters: Sequence[Sequence[float]], *, seed: int = 0) -> Estimate:
    """The mean over all values, with a percentile bootstrap that resamples whole clusters.

    Steps of one episode, and episodes of one task, are correlated: resampling them one by one
    would make the interval too narrow (Efron and Tibshirani 1993, chapter 8; Miller 2024 for
    evaluations). Where all values are 0, or all are 1, every resample is the same: the interval is
    then Wilson's, with a cluster as one trial.

    Args:
        clusters: the values of each cluster, from 0 to 1; empty ones are passed over.
        seed: of the draws, so that the same values give the same interval.

    Raises:
        ValueError: there is no value.
    """
    kept = [np.asarray(cluster, float) for cluster in clusters if len(cluster)]
    if not kept:
        raise ValueError("There is no value to take the mean of.")
    if sure := _all_or_none(np.concatenate(kept), len(kept)):
        return sure
    sums = np.array([cluster.sum() for cluster in kept])
    sizes = np.array([len(cluster) for cluster in kept])
    rng, at_once = np.random.default_rng(seed), max(1, _AT_ONCE // len(kept))
    means: list[float] = []
    while left := _DRAWS - len(means):
        draws = rng.integers(0, len(kept), (min(at_once, left), len(kept)))
        means += (sums[draws].sum(axis=1) / sizes[draws].sum(axis=1)).tolist()
    low, high = np.quantile(means, (0.025, 0.975))
    return Estimate(float(sums.sum() / sizes.sum()), float(low), float(high))


def hierarchical(
    values: NDArray[np.float64],
    weights: NDArray[np.float64],
    *,
    rate: bool = False,
    signed: bool = False,
) -> Estimate:
    """The mean over tasks and seeds, with a percentile bootstrap that resamples tasks, and for each
    drawn task its seeds (Davison and Hinkley 1997, section 3.8).

    Args:
        values: (tasks, seeds).
        weights: (tasks,); how much each task counts. Those of weight 0 are no part of a sample.
        rate: whether the values are shares of something. Where all are then 0, or all are 1, the
            interval is Wilson's, with a task as one trial.
        signed: whether they are differences of shares: see `none_differs`.
    """
    values, weights = values[weights > 0], weights[weights > 0]
    tasks, seeds = values.shape
    if rate and signed and not values.any():
        return Estimate(0.0, *none_differs(tasks))
    if rate and (sure := _all_or_none(values, tasks)):
        return sure
    of_tasks, of_seeds = np.random.default_rng(0), np.random.default_rng(0)
    at_once = max(1, _AT_ONCE // values.size)
    parts = [min(at_once, _DRAWS - begin) for begin in range(0, _DRAWS, at_once)]
    for part in parts:  # Seeds are drawn after all tasks.
        of_seeds.integers(0, tasks, (part, tasks))
    means: list[float] = []
    for part in parts:
        drawn = of_tasks.integers(0, tasks, (part, tasks))
        within = of_seeds.integers(0, seeds, (part, tasks, seeds))
        each, counts = values[drawn[:, :, None], within].mean(axis=2), weights[drawn]
        means += ((each * counts).sum(axis=1) / counts.sum(axis=1)).tolist()
    low, high = np.quantile(means, (0.025, 0.975))
    mean = (values.mean(axis=1) * weights).sum() / weights.sum()
    return Estimate(float(mean), float(low), float(high))


def _all_or_none(values: NDArray[np.float64], trials: int) -> Estimate | None:
    """The rate 0 or 1 of so many `trials`, where all values are equal to it; None elsewhere."""
    for rate in (0, 1):
        if (values == rate).all():
            return Estimate(float(rate), *wilson(rate * trials, trials))
    return None


def none_differs(trials: int) -> Interval:
    """The 95 % interval of the mean difference of two shares that are equal in all of `trials`.

    Every resample is then the same. At most Wilson's upper end of 0 in `trials` differ, by at most
    1 each. For rates of success this is the score interval of Tango 1998.
    """
    most = wilson(0, trials)[1]
    return -most, most


_Z95 = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""


def success(ended: Sequence[Scored]) -> float:
    """The share of episodes whose goal conditions all hold at the end; 0 where none has ended."""
    return _mean([float(one.end.success) for one in ended])


def success_interval(ended: Sequence[Scored]) -> Interval:
    """95 % Wilson interval of the success rate."""
    return wilson(sum(one.end.success for one in ended), len(ended))


def conditions(ended: Sequence[Scored]) -> float:
    """The mean share of goal conditions that hold at the end; 0 where none has ended."""
    return _mean([conditions_met(one.end) for one in ended])


def _conditions_interval(ended: Sequence[Scored]) -> Interval:
    if not ended:
        return 0.0, 1.0
    estimate = clustered([[conditions_met(one.end)] for one in ended])
    return estimate.low, estimate.high


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


def _path_mean(ended: Sequence[Scored], of: Callable[[EndLine], float]) -> float | None:
    """Mean over episodes of what they reached times `path_weight`, each weighing its reference."""
    weighted = [one for one in ended if one.task.reference_cost is not None]
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


def conditions_met(end: EndLine) -> float:
    """The share of goal conditions that hold at the end."""
    return end.met / end.total if end.total else 0.0


def _share(ended: Sequence[Scored], of: Callable[[EndLine], int]) -> float:
    """Of all actions that were tried."""
    steps = sum(one.end.steps for one in ended)
    return sum(of(one.end) for one in ended) / steps if steps else 0.0


def _each(ended: Sequence[Scored], of: Callable[[EndLine], float]) -> float | None:
    """Over all episodes, for each that was solved."""
    solved = sum(one.end.success for one in ended)
    return round(sum(of(one.end) for one in ended) / solved, 6) if solved else None


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0


def _seconds(end: EndLine) -> float:
    return math.fsum(getattr(end.seconds, part) for part in Seconds.model_fields)


SUCCESS = RunMetric("success_rate", "success rate", success, success_interval)
CONDITIONS = RunMetric(
    "goal_condition_rate", "goal-condition success", conditions, _conditions_interval
)
WEIGHTED_SUCCESS = RunMetric(
    "plw_success_rate",
    "path-length weighted success",
    lambda ended: _path_mean(ended, lambda end: float(end.success)),
)
WEIGHTED_CONDITIONS = RunMetric(
    "plw_goal_condition_rate",
    "path-length weighted goal conditions",
    lambda ended: _path_mean(ended, conditions_met),
)
INVALID = RunMetric(
    "invalid_action_rate", "invalid actions", lambda ended: _share(ended, lambda end: end.invalid)
)
UNMATCHED = RunMetric(
    "unmatched_rate",
    "answers without an action",
    lambda ended: _share(ended, lambda end: end.unmatched),
)
TOKENS = RunMetric(
    "tokens_per_success",
    "tokens per success",
    lambda ended: _each(ended, lambda end: end.tokens.read + end.tokens.written),
    rate=False,
)
SECONDS = RunMetric(
    "seconds_per_success", "seconds per success", lambda ended: _each(ended, _seconds), rate=False
)
