"""How well eyes see: average precision, as detection is measured, over whole pictures."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from inhabit.eie.tuning.sight.shards import FrameShard

_LEAST = 5
"""Pictures that have to show a class for it to be measured."""


def mean_precision(
    sure: NDArray[np.float32], frames: FrameShard
) -> tuple[float, Mapping[str, float]]:
    """The mean over the classes, and each of them.

    Args:
        sure: (pictures, classes), how sure it is that a picture shows a class.
        frames: what they show.
    """
    truth: NDArray[np.bool_] = np.any(frames.shown, axis=(2, 3))
    found = {
        name: average_precision(sure[:, i], truth[:, i])
        for i, name in enumerate(frames.classes)
        if truth[:, i].sum() >= _LEAST
    }
    return (float(np.mean(list(found.values()))) if found else 0.0), found


def average_precision(sure: NDArray[np.float32], truth: NDArray[np.bool_]) -> float:
    """The mean of the precisions at each picture that shows it, the surest first."""
    hits = truth[np.argsort(-sure, kind="stable")]
    precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    return float(precision[hits].mean())
