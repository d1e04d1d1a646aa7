"""Whether a planner is as often right as it is sure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from episodes.drawing import plot

_BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """Decisions that were about equally sure."""

    low: float
    high: float
    decisions: int
    confidence: float
    """Mean; 0 where there are none."""
    accuracy: float
    """The share of them that were right; 0 where there are none."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Confidence against accuracy."""

    error: float
    """Expected calibration error: the mean distance between the two, in [0, 1]."""
    bins: tuple[Bin, ...]

    def svg(self) -> str:
        """The reliability plot."""
        points = [(b.confidence, b.accuracy, b.decisions) for b in self.bins if b.decisions]
        return plot(points, x="confidence", y="accuracy")


def calibrate(decisions: Sequence[tuple[float, bool]]) -> Calibration:
    """Hold confidences in [0, 1] against whether they were right.

    The error is the mean over ten equally wide bins of |accuracy - confidence|, each weighing its
    decisions (Guo et al. 2017, "On Calibration of Modern Neural Networks", section 2).

    Raises:
        ValueError: there is no decision, or a confidence is no probability.
    """
    if not decisions or not all(0.0 <= sure <= 1.0 for sure, _ in decisions):
        raise ValueError("Confidences in [0, 1] are needed, and one at least.")
    found: list[list[tuple[float, bool]]] = [[] for _ in range(_BINS)]
    for sure, right in decisions:
        found[min(_BINS - 1, int(sure * _BINS))].append((sure, right))
    bins = tuple(
        Bin(
            i / _BINS,
            (i + 1) / _BINS,
            len(some),
            sum(sure for sure, _ in some) / len(some) if some else 0.0,
            sum(right for _, right in some) / len(some) if some else 0.0,
        )
        for i, some in enumerate(found)
    )
    error = sum(b.decisions * abs(b.accuracy - b.confidence) for b in bins) / len(decisions)
    return Calibration(error, bins)
