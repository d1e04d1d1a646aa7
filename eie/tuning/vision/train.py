"""Trains the vision model on labelled frames; an interrupted training resumes at a checkpoint."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field
from torch.nn import functional

from inhabit.agents.models.ranker.eyes import Eyes, EyesConfig, normalised
from inhabit.eie.tuning import checkpoint
from inhabit.eie.tuning.checkpoint import Checkpoint, CheckpointState
from inhabit.eie.tuning.settings import TuneError
from inhabit.eie.tuning.vision.metrics import mean_precision
from inhabit.eie.tuning.vision.shards import FrameShard


class EyesTraining(BaseModel):
    """Hyperparameters of the vision model's training."""

    model_config = ConfigDict(frozen=True, extra="forbid")

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
) -> Eyes:
    """Train a vision model on `train`, evaluated on `judged`; a rerun resumes.

    Args:
        train: training frames.
        judged: frames of other rooms, with the same classes.
        out: folder for checkpoints.
        settings: hyperparameters.
        seed: of the initial weights, the order and the augmentation.
        tell: called with lines about the progress.

    Raises:
        TuneError: a loss is not finite; the last checkpoint is kept.
    """
    torch.manual_seed(seed)
    side = train.rgb.shape[1]
    eyes = Eyes(EyesConfig(image_size=side, names=train.classes))
    eyes.to(memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(eyes.parameters(), lr=settings.rate, weight_decay=settings.decay)
    asked = f"eyes {side} {len(train.rgb)} {seed} {settings.model_dump_json(exclude={'steps'})}"
    done = _resume(eyes, optimizer, out, asked)
    weight = torch.tensor(settings.favour)
    total = 0.0
    for step in range(done, settings.steps):
        rgb, shown = batch_of(train, step, settings.batch, seed)
        eyes.train()
        with torch.autocast("cpu", torch.bfloat16):
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
            group["lr"] = _rate(step, settings)
        optimizer.step()
        optimizer.zero_grad()
        total += loss.item()
        if (step + 1) % settings.save_every == 0 or step + 1 == settings.steps:
            _save(eyes, optimizer, out, asked, step + 1)
            tell(f"step {step + 1} of {settings.steps}: loss {total / settings.save_every:.2f}")
            total = 0.0
        if (step + 1) % settings.judge_every == 0 or step + 1 == settings.steps:
            tell(f"step {step + 1}: mAP {mean_precision(look(eyes, judged.rgb), judged)[0]:.3f}")
    eyes.eval()
    return eyes


@torch.inference_mode()
def look(eyes: Eyes, rgb: NDArray[np.uint8], batch: int = 64) -> NDArray[np.float32]:
    """Confidence of each class in each image, 0..1, (images, classes)."""
    eyes.eval()
    found = []
    for first in range(0, len(rgb), batch):
        with torch.autocast("cpu", torch.bfloat16):
            _, sure = eyes.cells(normalised(torch.from_numpy(rgb[first : first + batch])))
        found.append(sure.float().sigmoid().amax((2, 3)).numpy())
    return np.concatenate(found)


def batch_of(
    frames: FrameShard, step: int, size: int, seed: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Images (n, H, W, 3) and labels (n, classes, 10, 10): mirrored and tinted at random."""
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


def _rate(step: int, settings: EyesTraining) -> float:
    """Linear warmup, then cosine decay."""
    if step < settings.warmup:
        return settings.rate * (step + 1) / settings.warmup
    share = (step - settings.warmup) / max(1, settings.steps - settings.warmup)
    return settings.rate * 0.5 * (1.0 + math.cos(math.pi * min(1.0, share)))


def _save(eyes: Eyes, optimizer: Any, out: Path, asked: str, step: int) -> None:
    moments: Mapping[str, Any] = {
        name: optimizer.state[parameter] for name, parameter in eyes.named_parameters()
    }
    checkpoint.save(
        out,
        Checkpoint(
            CheckpointState(step=step, asked=asked),
            eyes.state_dict(),
            {name: moment["exp_avg"] for name, moment in moments.items()},
            {name: moment["exp_avg_sq"] for name, moment in moments.items()},
        ),
    )


def _resume(eyes: Eyes, optimizer: Any, out: Path, asked: str) -> int:
    found, _ = checkpoint.newest(out)
    if found is None:
        return 0
    if found.state.asked != asked:
        raise TuneError(f"{out} holds the training of other eyes: name another folder.")
    eyes.load_state_dict(dict(found.weights))
    for name, parameter in eyes.named_parameters():
        optimizer.state[parameter] = {
            "step": torch.tensor(float(found.state.step)),
            "exp_avg": found.first[name],
            "exp_avg_sq": found.second[name],
        }
    return found.state.step
