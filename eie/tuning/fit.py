"""Fast fitting of short answers to short prompts: several at once, the loss on the answer alone.

`inhabit tune` scores every candidate of a moment, one moment at a time. Here an answer is learnt as
it stands, with the end of the turn after it, and many moments make a batch: ten times as many in
the same time, which is what a small planner needs most.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from inhabit.eie.tuning.base import Base
from inhabit.eie.tuning.practice import LabelledPrompt
from inhabit.eie.tuning.settings import TuneError

_WINDOW = 16
"""Batches that are sorted by length together, so that little of them is padding."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A prompt and its answer, in tokens."""

    prompt: tuple[int, ...]
    answer: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Fitting:
    """How long, and how fast."""

    rate: float = 5e-4
    last: float = 5e-5
    """The rate falls to this."""
    batch: int = 8
    epochs: float = 1.0


def paired(base: Base, moments: Sequence[LabelledPrompt]) -> list[Pair]:
    """The moments in the model's own tokens."""
    end = (int(base.encoder.end),)
    return [
        Pair(base.encoder.prompt(m.prompt).ids, base.encoder.candidate(m.best.text) + end)
        for m in moments
    ]


def fit(
    base: Base,
    pairs: Sequence[Pair],
    how: Fitting,
    *,
    seed: int,
    tell: Callable[[str], None],
    keep: Callable[[], None] | None = None,
) -> None:
    """Train the adapters of `base` on `pairs`.

    Args:
        base: with adapters.
        pairs: to learn.
        how: settings.
        seed: of the order.
        tell: hears the loss now and then.
        keep: is called now and then, to save.

    Raises:
        TuneError: a loss is no number.
    """
    parameters = list(base.trained.values())
    optimizer = torch.optim.AdamW(parameters, lr=how.rate, weight_decay=0.0)
    batches = list(_batches(pairs, how, seed))
    base.wrapped.train()
    total = 0.0
    for step, chosen in enumerate(batches):
        share = step / max(1, len(batches))
        rate = how.last + (how.rate - how.last) * 0.5 * (1 + math.cos(math.pi * share))
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1.0, (step + 1) / 20)
        loss = _loss(base.model, [pairs[i] for i in chosen])
        if not torch.isfinite(loss):
            raise TuneError(f"The loss of step {step + 1} is no number: try a lower rate.")
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        total += loss.item()
        if (step + 1) % 25 == 0 or step + 1 == len(batches):
            tell(f"step {step + 1} of {len(batches)}: loss {total / (step % 25 + 1):.3f}")
            total = 0.0
        if keep is not None and (step + 1) % 100 == 0:
            keep()
    base.wrapped.eval()


def _batches(pairs: Sequence[Pair], how: Fitting, seed: int) -> Iterator[Sequence[int]]:
    """Numbers of pairs; every epoch in an order of its own, those of like length together."""
    rng = np.random.default_rng(seed)
    left = round(how.epochs * len(pairs))
    while left > 0:
        order = rng.permutation(len(pairs))[:left].tolist()
        left -= len(order)
        for first in range(0, len(order), how.batch * _WINDOW):
            window = order[first : first + how.batch * _WINDOW]
            window.sort(key=lambda i: len(pairs[i].prompt))
            groups = [window[k : k + how.batch] for k in range(0, len(window), how.batch)]
            yield from (groups[k] for k in rng.permutation(len(groups)))


def _loss(model: Any, pairs: Sequence[Pair]) -> torch.Tensor:
    """Minus the mean log-probability of the answers' tokens. Padding comes last: nobody sees it."""
    longest = max(len(p.prompt) + len(p.answer) for p in pairs) - 1
    ids = torch.zeros(len(pairs), longest, dtype=torch.long)
    labels = torch.full((len(pairs), longest), -100)
    for i, pair in enumerate(pairs):
        whole = torch.tensor(pair.prompt + pair.answer)
        ids[i, : len(whole) - 1] = whole[:-1]
        labels[i, len(pair.prompt) - 1 : len(whole) - 1] = whole[len(pair.prompt) :]
    with torch.autocast("cpu", torch.bfloat16):
        hidden = model.model(input_ids=ids, use_cache=False).last_hidden_state
        logits = model.lm_head(hidden[labels != -100])
    return functional.cross_entropy(logits.float(), labels[labels != -100])
