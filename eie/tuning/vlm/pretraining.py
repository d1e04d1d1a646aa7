"""Language modelling on the texts of a set: a decoder from nothing learns words before answers.

The loss is on the steps so far and on the answer, not on the answer alone: a prompt tells an
episode, in which the nouns of the goal come again. That teaches a decoder to take nouns from its
context with a fraction of the examples which answers alone would need. Goals and lists of what is
in view have no loss, because nothing before them predicts them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field
from torch.nn import functional
from transformers import LlavaForConditionalGeneration

from inhabit.agents.models.local.encoder import Encoder
from inhabit.eie.tuning import checkpoint
from inhabit.eie.tuning.checkpoint import Checkpoint, CheckpointState
from inhabit.eie.tuning.samples import Sample, Wording
from inhabit.eie.tuning.schedule import cosine_rate
from inhabit.eie.tuning.settings import TuneError, TuneSettings
from inhabit.eie.tuning.vlm.model import processor_of

_UNREAD = -100
_DONE, _NOW = " done", " now"
"""Words of the prompt before the steps so far, and after them."""


class Pretraining(BaseModel):
    """Hyperparameters."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    steps: int = Field(default=2400, ge=1)
    batch: int = Field(default=12, ge=1)
    """Texts per step, of similar length."""
    rate: float = Field(default=3e-3, gt=0)
    decay: float = Field(default=0.05, ge=0)
    warmup: int = Field(default=60, ge=1)
    save_every: int = Field(default=100, ge=1)


def pretrain(
    model: LlavaForConditionalGeneration,
    encoder: Encoder,
    samples: Sequence[Sample],
    settings: Pretraining,
    *,
    prompt: Path,
    out: Path,
    seed: int,
    tell: Callable[[str], None],
) -> None:
    """Train the decoder of `model` in place on prompts and answers of `samples`, without images.

    Args:
        model: to train.
        encoder: of the model.
        samples: to learn from.
        settings: hyperparameters.
        prompt: template of the prompts.
        out: folder for checkpoints; a rerun resumes.
        seed: of the order.
        tell: called with lines about the progress.

    Raises:
        TuneError: a loss is not finite, or the checkpoints are of another training.
    """
    torch.manual_seed(seed)
    wording = Wording(TuneSettings(history=60, prompt=prompt), sees=False)
    model.requires_grad_(False)
    model.model.language_model.requires_grad_(True)
    decoder = {n: p for n, p in model.named_parameters() if p.requires_grad}
    optimizer = torch.optim.AdamW(
        list(decoder.values()), lr=settings.rate, betas=(0.9, 0.98), weight_decay=settings.decay
    )
    asked = f"pretraining {len(samples)} {seed} {settings.model_dump_json()}"
    done = _resume(decoder, optimizer, out, asked)
    model.train()
    total = 0.0
    batches = islice(_batches(samples, settings, seed), done, None)
    for step, batch in zip(range(done, settings.steps), batches, strict=False):
        texts = [_tokens(sample, wording, encoder) for sample in batch]
        loss = _loss(model, texts, encoder.end)
        if not torch.isfinite(loss):
            raise TuneError(f"The loss of step {step + 1} is not a finite number.")
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(list(decoder.values()), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = cosine_rate(
                step, peak=settings.rate, warmup=settings.warmup, steps=settings.steps, least=0.05
            )
        optimizer.step()
        optimizer.zero_grad()
        total += loss.item()
        if (step + 1) % settings.save_every == 0 or step + 1 == settings.steps:
            _save(decoder, optimizer, out, asked, step + 1)
            tell(f"step {step + 1} of {settings.steps}: loss {total / settings.save_every:.3f}")
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
    begin, end = _steps_so_far(prompt, encoder)
    read = [_UNREAD] * begin + prompt[begin:end] + [_UNREAD] * (len(prompt) - end)
    return prompt + answer, read + answer


def _steps_so_far(prompt: Sequence[int], encoder: Encoder) -> tuple[int, int]:
    """Where the steps so far begin and end in a prompt; all of it is none if they are not found."""
    read = encoder.tokenizer
    done, now = (read(word, add_special_tokens=False)["input_ids"] for word in (_DONE, _NOW))
    places = range(len(prompt))
    begins = [i for i in places if prompt[i : i + len(done)] == done]
    ends = [i + len(now) for i in places if prompt[i : i + len(now)] == now]
    return (begins[0], ends[-1]) if begins and ends else (len(prompt), len(prompt))


def _loss(
    model: LlavaForConditionalGeneration, texts: Sequence[tuple[list[int], list[int]]], pad: int
) -> torch.Tensor:
    longest = max(len(text) for text, _ in texts)
    ids = torch.tensor([text + [pad] * (longest - len(text)) for text, _ in texts])
    said = torch.tensor([labels + [_UNREAD] * (longest - len(labels)) for _, labels in texts])
    # Weights stay in float32; matrix products in bfloat16 are several times as fast.
    with torch.autocast(model.device.type, torch.bfloat16):
        logits = model(input_ids=ids.to(model.device), use_cache=False).logits[:, :-1].float()
    return functional.cross_entropy(
        logits.flatten(0, 1), said[:, 1:].flatten().to(model.device), ignore_index=_UNREAD
    )


def _save(
    decoder: Mapping[str, torch.nn.Parameter], optimizer: Any, out: Path, asked: str, step: int
) -> None:
    moments = {name: optimizer.state[p] for name, p in decoder.items() if p in optimizer.state}
    checkpoint.save(
        out,
        Checkpoint(
            CheckpointState(step=step, asked=asked),
            decoder,
            {name: moment["exp_avg"] for name, moment in moments.items()},
            {name: moment["exp_avg_sq"] for name, moment in moments.items()},
        ),
    )


@torch.no_grad()
def _resume(
    decoder: Mapping[str, torch.nn.Parameter], optimizer: Any, out: Path, asked: str
) -> int:
    found, _ = checkpoint.newest(out)
    if found is None:
        return 0
    if found.state.asked != asked:
        raise TuneError(f"{out} holds another pretraining: name another folder.")
    for name, parameter in decoder.items():
        parameter.copy_(found.weights[name])
        optimizer.state[parameter] = {
            "step": torch.tensor(float(found.state.step)),
            "exp_avg": found.first[name].to(parameter.device),
            "exp_avg_sq": found.second[name].to(parameter.device),
        }
    return found.state.step
