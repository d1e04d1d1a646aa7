"""From where on eyes are taken at their word: a mark for each class, found on frames not learnt."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from inhabit.eie.tuning.sight.shards import FrameShard

_LOWEST, _HIGHEST = 0.1, 0.9


def marks(sure: NDArray[np.float32], frames: FrameShard) -> tuple[float, ...]:
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
