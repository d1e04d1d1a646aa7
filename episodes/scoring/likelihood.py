"""What ranked candidates look like to people: shares of the probability they have together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from inhabit.agents.core import Ranked


@dataclass(frozen=True, slots=True)
class Share:
    """A candidate beside those that were recorded with it."""

    text: str
    share: float
    """Of the probability that the recorded candidates have together, in [0, 1]."""
    logprob: float
    """Sum over its tokens, in nats."""
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
