"""The image tower: a hybrid vision transformer (ResNet and attention) of transformers' own classes.

It learns which classes of objects each of 5x5 cells of an image shows, from labels of a simulator
(`eie/tuning/vision/frames.py`). Layers that have the same shape in the vision model of the built-in
planner start from its weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional
from transformers import AutoModel, DPTConfig, ResNetConfig

from inhabit.agents.models.ranker.eyes import Eyes, normalised
from inhabit.eie.tuning.checkpoint import CheckpointState, resume_training, save_training
from inhabit.eie.tuning.schedule import cosine_rate
from inhabit.eie.tuning.settings import TuneError
from inhabit.eie.tuning.vision.metrics import mean_precision
from inhabit.eie.tuning.vision.shards import FrameShard
from inhabit.eie.tuning.vision.train import batch_of

SIDE, PATCH = 160, 32
"""Pixels along the side of an image, and of a cell; each cell is one token."""
CELLS = SIDE // PATCH
WIDTH = 256
"""Size of a token."""
HEAD = "head.safetensors"


class TowerTraining(BaseModel):
    """Hyperparameters of the image tower's training."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    steps: int = Field(default=900, ge=1)
    batch: int = Field(default=32, ge=1)
    rate: float = Field(default=1.5e-3, gt=0)
    decay: float = Field(default=0.02, ge=0)
    warmup: int = Field(default=60, ge=1)
    favour: float = Field(default=3.0, gt=0)
    """Weight of positive cells, which are rare, relative to negative ones."""
    save_every: int = Field(default=100, ge=1)


class LabelledTower(nn.Module):
    """A tower and a linear layer that scores the classes of each cell."""

    def __init__(self, classes: tuple[str, ...], seed: int) -> None:
        """An untrained tower, initialized from `seed`."""
        super().__init__()
        torch.manual_seed(seed)
        self.classes = classes
        self.tower: Any = AutoModel.from_config(tower_config(), add_pooling_layer=False)
        self.head = nn.Linear(WIDTH, len(classes))
        nn.init.constant_(self.head.bias, -4.0)  # most cells show none of most classes

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        """Class logits (images, cells, classes) of normalized images (images, 3, side, side)."""
        found = self.tower(pixels, output_hidden_states=True)
        logits: torch.Tensor = self.head(found.hidden_states[-1][:, 1:])
        return logits


def tower_config() -> DPTConfig:
    """The configuration of the tower, for `AutoModel` and for LLaVA's `vision_config`."""
    backbone = ResNetConfig(
        embedding_size=32,
        hidden_sizes=[48, 96, 160, WIDTH],
        depths=[1, 2, 2, 2],
        layer_type="basic",
        out_features=["stage2", "stage3", "stage4"],
    )
    return DPTConfig(
        is_hybrid=True,
        backbone_config=backbone,
        backbone_featmap_shape=[1, WIDTH, CELLS, CELLS],
        image_size=SIDE,
        patch_size=PATCH,
        hidden_size=WIDTH,
        num_hidden_layers=1,
        num_attention_heads=4,
        intermediate_size=2 * WIDTH,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        neck_ignore_stages=[0, 1],
        readout_type="project",
        backbone_out_indices=[0, 0, 0, 0],
    )


@torch.no_grad()
def start_from_eyes(model: LabelledTower, eyes: Eyes) -> int:
    """Copy the weights of each residual block of `eyes`; returns the number of copied tensors.

    The stems differ. The last stage of `eyes` keeps its resolution and ours halves it, so its
    weights are only a start.
    """
    blocks: list[Any] = [block for block in eyes.body if hasattr(block, "around")]
    stages: Any = model.tower.embeddings.backbone.encoder.stages
    layers = [layer for stage in stages for layer in stage.layers]
    copied = 0
    for block, layer in zip(blocks, layers, strict=True):
        pairs = [(block.first, layer.layer[0]), (block.second, layer.layer[1])]
        if not isinstance(block.around, nn.Identity):
            pairs.append((block.around, layer.shortcut))
        for (convolution, norm), ours in pairs:
            for source, target in (
                (convolution, ours.convolution),
                (norm, ours.normalization),
            ):
                target.load_state_dict(source.state_dict())
                copied += len(source.state_dict())
    return copied


def train_tower(
    train: FrameShard,
    judged: FrameShard,
    *,
    out: Path,
    settings: TowerTraining,
    seed: int,
    tell: Callable[[str], None],
    eyes: Eyes | None = None,
    device: str = "cpu",
) -> LabelledTower:
    """Train a tower on `train`, evaluated on `judged` at the end; a rerun resumes.

    Args:
        train: training frames.
        judged: frames of other rooms, with the same classes.
        out: folder for checkpoints.
        settings: hyperparameters.
        seed: of the initial weights, the order and the augmentation.
        tell: called with lines about the progress.
        eyes: vision model to start from.
        device: to train on.

    Raises:
        TuneError: a loss is not finite; the last checkpoint is kept.
    """
    model = LabelledTower(train.classes, seed)
    if eyes is not None:
        start_from_eyes(model, eyes.float())
    model.to(device).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.rate, weight_decay=settings.decay)
    asked = f"tower {len(train.rgb)} {seed} {eyes is None} {settings.model_dump_json()}"
    total = 0.0
    for step in range(
        resume_training(out, model, optimizer, asked, "another tower"), settings.steps
    ):
        total += _step(model, optimizer, train, step, settings, seed)
        if not math.isfinite(total):
            raise TuneError(
                f"The loss in step {step + 1} is not a finite number: try a lower learning rate."
            )
        if (step + 1) % settings.save_every == 0 or step + 1 == settings.steps:
            save_training(out, model, optimizer, CheckpointState(step=step + 1, asked=asked))
            tell(f"step {step + 1} of {settings.steps}: loss {total / settings.save_every:.2f}")
            total = 0.0
    precision = mean_precision(_looked(model, judged), judged)[0]
    tell(f"image tower: mean average precision {precision:.3f} on {len(judged.rgb)} images")
    return model.eval()


def save_tower(model: LabelledTower, folder: Path) -> None:
    """Write the tower as transformers saves it, and its class head."""
    model.tower.save_pretrained(folder)
    save_file(
        {"weight": model.head.weight.detach().cpu(), "bias": model.head.bias.detach().cpu()},
        folder / HEAD,
        {"classes": "\n".join(model.classes)},
    )


def load_head(folder: Path) -> tuple[tuple[str, ...], torch.Tensor, torch.Tensor]:
    """Classes, weight (classes, width) and bias (classes,) of the class head in `folder`."""
    with safe_open(folder / HEAD, "pt") as found:
        classes = tuple(found.metadata()["classes"].split("\n"))
        return classes, found.get_tensor("weight"), found.get_tensor("bias")


def _step(
    model: LabelledTower,
    optimizer: torch.optim.Optimizer,
    train: FrameShard,
    step: int,
    settings: TowerTraining,
    seed: int,
) -> float:
    rgb, shown = batch_of(train, step, settings.batch, seed)
    # A cell shows what any of the label's 2x2 cells shows.
    shown = functional.max_pool2d(shown, shown.shape[-1] // CELLS).flatten(2).transpose(1, 2)
    model.train()
    device = model.head.weight.device
    pixels = normalised(rgb).to(device, memory_format=torch.channels_last)
    with torch.autocast(device.type, torch.bfloat16):
        logits = model(pixels)
    loss = functional.binary_cross_entropy_with_logits(
        logits.float(),
        shown.to(device),
        pos_weight=torch.tensor(settings.favour, device=device),
        reduction="sum",
    ) / len(rgb)
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(model.parameters(), 50.0)
    for group in optimizer.param_groups:
        group["lr"] = cosine_rate(
            step, peak=settings.rate, warmup=settings.warmup, steps=settings.steps
        )
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


@torch.inference_mode()
def _looked(model: LabelledTower, judged: FrameShard) -> Any:
    """Confidence of each class in each image, 0..1, (images, classes)."""
    model.eval()
    device = model.head.weight.device

    def batches() -> Iterator[Any]:
        for first in range(0, len(judged.rgb), 64):
            rgb = torch.from_numpy(judged.rgb[first : first + 64])
            with torch.autocast(device.type, torch.bfloat16):
                logits = model(normalised(rgb).to(device))
            yield logits.float().sigmoid().amax(1).cpu().numpy()

    return np.concatenate(list(batches()))
