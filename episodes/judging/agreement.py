"""How far two judges, or a judge and people, agree beyond chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_DRAWS = 2000
"""Resamples of the bootstrap."""


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa of two lists of labels (Cohen 1960)."""

    value: float
    """1 where they agree throughout, 0 where as often as chance would have it; NaN where both
    always say the same one thing, so that there is nothing to agree on."""
    low: float
    """The bounds of its 95 % interval, by bootstrap over the items; NaN with `value`."""
    high: float
    items: int
    agreeing: float
    """The share on which they agree."""


def kappa(one: Sequence[int], other: Sequence[int], *, seed: int = 0) -> Kappa:
    """The agreement of two lists of labels about the same items.

    Raises:
        ValueError: the lists differ in length, or are empty.
    """
    if len(one) != len(other) or not one:
        raise ValueError(
            f"Two lists of the same items are needed, not {len(one)} and {len(other)}."
        )
    a, b = np.asarray(one), np.asarray(other)
    value = _kappa(a, b)
    draws = np.random.default_rng(seed).integers(0, len(a), (_DRAWS, len(a)))
    values = [k for draw in draws if not math.isnan(k := _kappa(a[draw], b[draw]))]
    low, high = np.quantile(values, (0.025, 0.975)) if values else (math.nan, math.nan)
    return Kappa(value, float(low), float(high), len(a), float(np.mean(a == b)))


def _kappa(a: np.ndarray, b: np.ndarray) -> float:
    observed = float(np.mean(a == b))
    labels = set(a.tolist()) | set(b.tolist())
    expected = sum(float(np.mean(a == label)) * float(np.mean(b == label)) for label in labels)
    return math.nan if expected == 1.0 else (observed - expected) / (1.0 - expected)
