"""Mean average precision of a vision model over whole images, and detection thresholds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from inhabit.agents.alfred_specialist.training.vision.shards import FrameShard

_LEAST = 5
"""Minimum number of images that show a class for it to be measured."""


def mean_precision(
    sure: NDArray[np.float32], frames: FrameShard
) -> tuple[float, Mapping[str, float]]:
    """Mean average precision, and the average precision of each class.

    Args:
        sure: (images, classes), confidence that an image shows a class.
        frames: the labelled images.
    """
    truth: NDArray[np.bool_] = np.any(frames.shown, axis=(2, 3))
    found = {
        name: average_precision(sure[:, i], truth[:, i])
        for i, name in enumerate(frames.classes)
        if truth[:, i].sum() >= _LEAST
    }
    return (float(np.mean(list(found.values()))) if found else 0.0), found


def average_precision(sure: NDArray[np.float32], truth: NDArray[np.bool_]) -> float:
    """Mean of the precisions at each positive image, in order of confidence."""
    hits = truth[np.argsort(-sure, kind="stable")]
    precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    return float(precision[hits].mean())


_LOWEST, _HIGHEST = 0.1, 0.9


def best_thresholds(sure: NDArray[np.float32], frames: FrameShard) -> tuple[float, ...]:
    """The confidence threshold with the best F1 of each class, within 0.1..0.9.

    Args:
        sure: (images, classes), confidence of each class.
        frames: the labelled images.
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
