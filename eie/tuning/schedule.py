"""The learning rate of a training step."""

from __future__ import annotations

import math


def cosine_rate(step: int, *, peak: float, warmup: int, steps: int, least: float = 0.0) -> float:
    """Linear warmup, then cosine decay (Loshchilov and Hutter 2017, without restarts).

    Args:
        step: number of completed steps.
        peak: the highest rate.
        warmup: steps in which the rate rises.
        steps: of the whole training; later ones have the lowest rate.
        least: the lowest rate, in parts of `peak`.
    """
    if step < warmup:
        return peak * (step + 1) / warmup
    share = min(1.0, (step - warmup) / max(1, steps - warmup))
    return peak * (least + (1.0 - least) * 0.5 * (1.0 + math.cos(math.pi * share)))
