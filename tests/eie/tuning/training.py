"""A short training as `inhabit tune` does it."""

from __future__ import annotations

from pathlib import Path

import torch

from inhabit.eie.tuning import checkpoint
from inhabit.eie.tuning.log import LogLine
from inhabit.eie.tuning.samples import read
from inhabit.eie.tuning.settings import TuneSettings
from inhabit.eie.tuning.tune import Tuning, tune

QUICK = {"device": "cpu", "dtype": "float32", "batch": 4, "rate": 0.01, "judge_every": 1000}


def train(
    made: Path, base: Path, out: Path, warned: list[str] | None = None, **said: object
) -> tuple[Tuning, list[LogLine]]:
    """Train on the set `made` with the settings `QUICK` and `said`; what was told of it."""
    heard: list[LogLine] = []
    result = tune(
        read(made, "train"),
        read(made, "val"),
        base=f"local:{base}",
        out=out,
        settings=TuneSettings.model_validate(QUICK | said),
        seed=0,
        tell=lambda line, steps: heard.append(line),
        warn=[].append if warned is None else warned.append,
    )
    return result, heard


def weights(out: Path) -> dict[str, torch.Tensor]:
    """The trained weights of the newest checkpoint."""
    found, _ = checkpoint.newest(out / "checkpoints")
    assert found is not None
    return dict(found.weights)
