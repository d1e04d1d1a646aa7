"""PCA-Bench: a picture, a question, one decision (Chen et al. 2023 and 2024), from its files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from inhabit.envs.core import Env, Task
from inhabit.envs.registry import Registration


class PcaSettings(BaseModel):
    """What `--set` may say of PCA-Bench."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    images: Path | None = None
    """Folder of the pictures, where that is not beside the file or in its `imgs` or `images`."""
    expert: Literal["answers", "recipes"] = "answers"
    """What the expert goes by: the released answers, or, in the game, recipes alone, from what is
    in the inventory and which creatures are near."""


def _make(backend: str, settings: PcaSettings) -> Env:
    from inhabit.envs.pca_bench.env import PcaBench

    return PcaBench(settings)


def _sample(n: int, seed: int, settings: PcaSettings) -> Iterable[Task]:
    from inhabit.envs.pca_bench.made import sample

    return sample(n, seed)


def _read(source: str, settings: PcaSettings) -> Iterable[Task]:
    from inhabit.envs.pca_bench.tasks import read

    return read(Path(source), settings.images)


REGISTRATION = Registration(
    name="pca_bench",
    summary="PCA-Bench: decisions in traffic, at home and in a game; --tasks FOLDER of its files",
    backends=("files",),
    settings=PcaSettings,
    make=_make,
    sample=_sample,
    read=_read,
)
