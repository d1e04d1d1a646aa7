"""Ranked candidates for people: shares of the probability they have together, and whether they are
as often right as likely.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from inhabit.agents.core import Ranked


@dataclass(frozen=True, slots=True)
class Share:
    """A candidate beside those that were recorded with it."""

    text: str
    share: float
    """Share of the probability that the recorded candidates have together, in [0, 1]."""
    logprob: float
    """Log-probability: the sum over the candidate's tokens, in nats."""
    mean: float
    """`logprob` per token, in nats."""


def shares(ranked: Sequence[Ranked]) -> tuple[Share, ...]:
    """The share of each, in the order given; all alike where none is possible at all."""
    best = max((r.logprob for r in ranked if math.isfinite(r.logprob)), default=0.0)
    weights = [_weight(r.logprob - best) for r in ranked]
    total = sum(weights)
    return tuple(
        Share(
            text=r.text,
            share=weight / total if total else 1 / len(ranked),
            logprob=r.logprob,
            mean=r.logprob / max(1, r.tokens),
        )
        for r, weight in zip(ranked, weights, strict=True)
    )


def _weight(difference: float) -> float:
    return math.exp(min(0.0, difference)) if not math.isnan(difference) else 0.0


_SIDE, _EDGE = 320, 44
"""Pixels: of the square, and of the margin for its labels."""


def plot(points: Sequence[tuple[float, float, int]], *, x: str, y: str) -> str:
    """Points (x, y, weight) in the unit square, the axes labelled; a dot's area is its weight."""
    heaviest = max((weight for _, _, weight in points), default=1)
    parts = [_frame(x, y)]
    line = " ".join(f"{_x(a):.1f},{_y(b):.1f}" for a, b, _ in points)
    parts.append(f'<polyline points="{line}" fill="none" stroke="#2a6f97" stroke-width="1.5"/>')
    for a, b, weight in points:
        radius = 3 + 9 * (weight / heaviest) ** 0.5
        parts.append(
            f'<circle cx="{_x(a):.1f}" cy="{_y(b):.1f}" r="{radius:.1f}" fill="#2a6f97" '
            f'fill-opacity="0.55"><title>{a:.2f}, {b:.2f}: {weight}</title></circle>'
        )
    size = _SIDE + 2 * _EDGE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size}" '
        f'viewBox="0 0 {size} {size}" font-family="sans-serif" font-size="12">'
        f"{''.join(parts)}</svg>\n"
    )


def _frame(x: str, y: str) -> str:
    ticks = "".join(
        f'<line x1="{_x(t)}" y1="{_y(0)}" x2="{_x(t)}" y2="{_y(1)}" stroke="#e3e6e8"/>'
        f'<line x1="{_x(0)}" y1="{_y(t)}" x2="{_x(1)}" y2="{_y(t)}" stroke="#e3e6e8"/>'
        f'<text x="{_x(t)}" y="{_y(0) + 16}" text-anchor="middle" fill="#445">{t:g}</text>'
        f'<text x="{_x(0) - 7}" y="{_y(t) + 4}" text-anchor="end" fill="#445">{t:g}</text>'
        for t in (0, 0.2, 0.4, 0.6, 0.8, 1)
    )
    middle = _EDGE + _SIDE / 2
    return (
        f'<rect width="100%" height="100%" fill="white"/>{ticks}'
        f'<line x1="{_x(0)}" y1="{_y(0)}" x2="{_x(1)}" y2="{_y(1)}" stroke="#99a" '
        'stroke-dasharray="4 4"/>'
        f'<text x="{middle}" y="{_y(0) + 34}" text-anchor="middle">{escape(x)}</text>'
        f'<text x="12" y="{middle}" text-anchor="middle" '
        f'transform="rotate(-90 12 {middle})">{escape(y)}</text>'
    )


def _x(share: float) -> float:
    return _EDGE + _SIDE * share


def _y(share: float) -> float:
    return _EDGE + _SIDE * (1 - share)


_BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """Decisions of similar confidence."""

    low: float
    high: float
    decisions: int
    confidence: float
    """Mean confidence; 0 where there are no decisions."""
    accuracy: float
    """Share of the decisions that were right; 0 where there are none."""


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
    """Compare confidences in [0, 1] with correctness.

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
