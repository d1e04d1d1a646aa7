"""Confidence intervals of means over clustered values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_DRAWS = 2000
"""Resamples of the bootstrap."""


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
    evaluations).

    Args:
        clusters: the values of each cluster; empty ones are passed over.
        seed: of the draws, so that the same values give the same interval.

    Raises:
        ValueError: there is no value.
    """
    kept = [np.asarray(cluster, float) for cluster in clusters if len(cluster)]
    if not kept:
        raise ValueError("There is no value to take the mean of.")
    sums = np.array([cluster.sum() for cluster in kept])
    sizes = np.array([len(cluster) for cluster in kept])
    draws = np.random.default_rng(seed).integers(0, len(kept), (_DRAWS, len(kept)))
    means = sums[draws].sum(axis=1) / sizes[draws].sum(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return Estimate(float(sums.sum() / sizes.sum()), float(low), float(high))
