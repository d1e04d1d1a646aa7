"""Language modelling on the texts of a set: a decoder from nothing learns words before answers.

The loss is on the steps so far and on the answer, not on the answer alone: a prompt tells an
episode, in which the nouns of the goal come again. That teaches a decoder to take nouns from its
context with a fraction of the examples which answers alone would need. Goals and lists of what is
in view have no loss, because nothing before them predicts them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field
from torch.nn import functional
from transformers import LlavaForConditionalGeneration

from inhabit.agents.models.local.encoder import Encoder
from inhabit.eie.tuning.samples import Sample, Wording
from inhabit.eie.tuning.settings import TuneError, TuneSettings
from inhabit.eie.tuning.vlm.model import processor_of

_UNREAD = -100
_DONE, _NOW = " done", " now"
"""Words of the prompt before the steps so far, and after them."""


class Pretraining(BaseModel):
    """Hyperparameters."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    steps: int = Field(default=800, ge=1)
    batch: int = Field(default=12, ge=1)
    """Texts per step, of similar length."""
    rate: float = Field(default=3e-3, gt=0)
    decay: float = Field(default=0.05, ge=0)
    warmup: int = Field(default=60, ge=1)
    tell_every: int = Field(default=50, ge=1)


def pretrain(
    model: LlavaForConditionalGeneration,
    encoder: Encoder,
    samples: Sequence[Sample],
    settings: Pretraining,
    *,
    prompt: Path,
    seed: int,
    tell: Callable[[str], None],
) -> None:
    """Train the decoder of `model` in place on prompts and answers of `samples`, without images.

    Raises:
        TuneError: a loss is not finite.
    """
    torch.manual_seed(seed)
    wording = Wording(TuneSettings(history=60, prompt=prompt), sees=False)
    model.requires_grad_(False)
    model.model.language_model.requires_grad_(True)
    decoder = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(
        decoder, lr=settings.rate, betas=(0.9, 0.98), weight_decay=settings.decay
    )
    model.train()
    total = 0.0
    for step, batch in zip(range(settings.steps), _batches(samples, settings, seed), strict=False):
        texts = [_tokens(sample, wording, encoder) for sample in batch]
        loss = _loss(model, texts, encoder.end)
        if not torch.isfinite(loss):
            raise TuneError(f"The loss of step {step + 1} is not a finite number.")
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(decoder, 1.0)
        for group in optimizer.param_groups:
            group["lr"] = _rate(step, settings)
        optimizer.step()
        optimizer.zero_grad()
        total += loss.item()
        if (step + 1) % settings.tell_every == 0:
            tell(f"step {step + 1} of {settings.steps}: loss {total / settings.tell_every:.3f}")
            total = 0.0
    model.eval().requires_grad_(True)


def encoder_of(tokenizer: object) -> Encoder:
    """The encoder of a model with this tokenizer."""
    processor = processor_of(tokenizer)
    return Encoder(processor.tokenizer, processor)


def _batches(samples: Sequence[Sample], settings: Pretraining, seed: int) -> Iterator[list[Sample]]:
    """Random batches of samples with about as many past steps, without end."""
    rng = np.random.default_rng(seed)
    lengths = np.array([len(sample.example.history) for sample in samples])
    while True:
        order = np.argsort(lengths + rng.uniform(0, 4, len(samples)), kind="stable")
        firsts = range(0, len(order) - settings.batch + 1, settings.batch)
        for first in rng.permutation(list(firsts)):
            yield [samples[i] for i in order[first : first + settings.batch]]


def _tokens(sample: Sample, wording: Wording, encoder: Encoder) -> tuple[list[int], list[int]]:
    """A prompt with its answer, and the number of each token to predict, or `_UNREAD`."""
    prompt = list(encoder.prompt(wording.messages(sample)).ids)
    answer = [*encoder.candidate(sample.answer), encoder.end]
    [done] = encoder.tokenizer(_DONE, add_special_tokens=False)["input_ids"]
    [now] = encoder.tokenizer(_NOW, add_special_tokens=False)["input_ids"]
    begin = prompt.index(done) if done in prompt else len(prompt)
    end = len(prompt) - prompt[::-1].index(now) if now in prompt else len(prompt)
    read = [_UNREAD] * begin + prompt[begin:end] + [_UNREAD] * (len(prompt) - end)
    return prompt + answer, read + answer


def _loss(
    model: LlavaForConditionalGeneration, texts: Sequence[tuple[list[int], list[int]]], pad: int
) -> torch.Tensor:
    longest = max(len(text) for text, _ in texts)
    ids = torch.tensor([text + [pad] * (longest - len(text)) for text, _ in texts])
    said = torch.tensor([labels + [_UNREAD] * (longest - len(labels)) for _, labels in texts])
    logits = model(input_ids=ids.to(model.device), use_cache=False).logits[:, :-1].float()
    return functional.cross_entropy(
        logits.flatten(0, 1), said[:, 1:].flatten().to(model.device), ignore_index=_UNREAD
    )


def _rate(step: int, settings: Pretraining) -> float:
    """Linear warmup, then cosine decay to a twentieth."""
    if step < settings.warmup:
        return settings.rate * (step + 1) / settings.warmup
    share = (step - settings.warmup) / max(1, settings.steps - settings.warmup)
    return settings.rate * (0.05 + 0.95 * 0.5 * (1.0 + math.cos(math.pi * share)))
