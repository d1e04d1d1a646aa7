"""Trains the vision model on labelled frames, and measures it over whole images.

An interrupted training resumes at a checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, Field
from torch.nn import functional

from alfred_training.shards import FrameShard
from inhabit.agents.models.eyes.network import Eyes, EyesConfig, normalised
from inhabit.agents.models.local.precision import cpu_has_bfloat16
from inhabit.eie.tuning.batches import cosine_rate
from inhabit.eie.tuning.checkpoint import CheckpointState, resume_training, save_training
from inhabit.eie.tuning.settings import TuneError

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


class EyesTraining(BaseModel, frozen=True, extra="forbid"):
    """Hyperparameters of the vision model's training."""

    steps: int = Field(default=2000, ge=1)
    batch: int = Field(default=32, ge=1)
    rate: float = Field(default=2e-3, gt=0)
    decay: float = Field(default=0.02, ge=0)
    warmup: int = Field(default=100, ge=1)
    favour: float = Field(default=3.0, gt=0)
    """Weight of positive cells, which are rare, relative to negative ones."""
    save_every: int = Field(default=50, ge=1)
    judge_every: int = Field(default=400, ge=1)


def train_eyes(
    train: FrameShard,
    judged: FrameShard,
    *,
    out: Path,
    settings: EyesTraining,
    seed: int,
    tell: Callable[[str], None],
    start: Eyes | None = None,
) -> Eyes:
    """Train a vision model on `train`, evaluated on `judged`; a rerun resumes.

    Weights are the same only on CPUs that both have bfloat16, or both have not.

    `start` may be a model for smaller images or of other classes.

    Raises:
        TuneError: a loss is not finite; the last checkpoint is kept.
    """
    torch.manual_seed(seed)
    side = train.rgb.shape[1]
    eyes = Eyes(EyesConfig(image_size=side, names=train.classes))
    if start is not None:
        _copy(start.float(), eyes)
    eyes.to(memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(eyes.parameters(), lr=settings.rate, weight_decay=settings.decay)
    asked = f"eyes {side} {len(train.rgb)} {seed} {settings.model_dump_json(exclude={'steps'})}"
    asked += "" if start is None else f" from {start.config.image_size}"
    done = resume_training(out, eyes, optimizer, asked)
    weight = torch.tensor(settings.favour)
    total = 0.0
    for step in range(done, settings.steps):
        rgb, shown = batch_of(train, step, settings.batch, seed)
        eyes.train()
        with _mixed_precision():
            _, sure = eyes.cells(normalised(rgb))
        loss = functional.binary_cross_entropy_with_logits(
            sure.float(), shown, pos_weight=weight, reduction="sum"
        ) / len(rgb)
        if not torch.isfinite(loss):
            raise TuneError(
                f"The loss in step {step + 1} is not a finite number: try a lower learning rate."
            )
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(eyes.parameters(), 100.0)
        for group in optimizer.param_groups:
            group["lr"] = cosine_rate(
                step, settings.steps, peak=settings.rate, warmup=settings.warmup
            )
        optimizer.step()
        optimizer.zero_grad()
        total += loss.item()
        if (step + 1) % settings.save_every == 0 or step + 1 == settings.steps:
            save_training(out, eyes, optimizer, CheckpointState(step=step + 1, asked=asked))
            tell(f"step {step + 1} of {settings.steps}: loss {total / settings.save_every:.2f}")
            total = 0.0
        if (step + 1) % settings.judge_every == 0 or step + 1 == settings.steps:
            tell(f"step {step + 1}: mAP {mean_precision(look(eyes, judged.rgb), judged)[0]:.3f}")
    eyes.eval()
    return eyes


@torch.no_grad()
def _copy(source: Eyes, target: Eyes) -> None:
    """Copy the weights of the body, and of the classes that both have."""
    target.body.load_state_dict(source.body.state_dict())
    number = {name: i for i, name in enumerate(source.config.names)}
    assert source.classify.bias is not None and target.classify.bias is not None, "As made."
    for i, name in enumerate(target.config.names):
        if name in number:
            target.classify.weight[i] = source.classify.weight[number[name]]
            target.classify.bias[i] = source.classify.bias[number[name]]


def _mixed_precision() -> AbstractContextManager[object]:
    """bfloat16 where the CPU has instructions for it: where not, it takes 12 times as long."""
    return torch.autocast("cpu", torch.bfloat16, enabled=cpu_has_bfloat16())


@torch.inference_mode()
def look(eyes: Eyes, rgb: NDArray[np.uint8], batch: int = 64) -> NDArray[np.float32]:
    """Confidence of each class in each image, 0..1, (images, classes)."""
    eyes.eval()
    found = []
    for first in range(0, len(rgb), batch):
        with _mixed_precision():
            _, sure = eyes.cells(normalised(torch.from_numpy(rgb[first : first + batch])))
        found.append(sure.float().sigmoid().amax((2, 3)).numpy())
    return np.concatenate(found)


def batch_of(
    frames: FrameShard, step: int, size: int, seed: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Images (n, H, W, 3) and labels (n, classes, cells, cells): mirrored and tinted at random."""
    rng = np.random.default_rng((seed, step))
    epoch, place = divmod(step * size, max(1, len(frames.rgb) - size))
    order = np.random.default_rng((seed, epoch)).permutation(len(frames.rgb))
    chosen = np.sort(order[place : place + size])
    rgb = torch.from_numpy(frames.rgb[chosen]).float()
    shown = torch.from_numpy(frames.shown[chosen]).float()
    mirrored = torch.from_numpy(rng.random(len(chosen)) < 0.5)
    rgb[mirrored], shown[mirrored] = rgb[mirrored].flip(2), shown[mirrored].flip(3)
    gain = torch.from_numpy(rng.uniform(0.75, 1.25, (len(chosen), 1, 1, 3))).float()
    tint = gain.mean(3, keepdim=True) * 0.7 + gain * 0.3
    return (rgb * tint).clamp(0, 255), shown
