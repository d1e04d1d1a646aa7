"""How well a vision model detects classes in whole images, and from which score on it counts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from inhabit.eie.tuning.vision.shards import FrameShard

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


_LOWEST, _HIGHEST = 0.1, 0.9


def best_thresholds(sure: NDArray[np.float32], frames: FrameShard) -> tuple[float, ...]:
    """For each class the certainty at which its F1 is best, within 0.1..0.9.

    Args:
        sure: (pictures, classes), how sure eyes are of each class.
        frames: what the pictures show.
    """
    truth: NDArray[np.bool_] = np.any(frames.shown, axis=(2, 3))
    return tuple(_best(sure[:, i], truth[:, i]) for i in range(len(frames.classes)))


def _best(sure: NDArray[np.float32], truth: NDArray[np.bool_]) -> float:
    order = np.argsort(-sure, kind="stable")
    hits = np.cumsum(truth[order])
    if not truth.any():
        return _HIGHEST
    f1 = 2 * hits / (np.arange(1, len(order) + 1) + truth.sum())
    return float(np.clip(sure[order[int(f1.argmax())]], _LOWEST, _HIGHEST))
