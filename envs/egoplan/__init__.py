"""EgoPlan-Bench: a film of what was done and a moment, and four things to do next (Chen et al.)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from inhabit.envs.core import Env, Task, TaskError
from inhabit.envs.registry import Registration


class EgoPlanSettings(BaseModel):
    """What `--set` may say of EgoPlan-Bench. The defaults are the paper's."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    videos: Path | None = None
    """Folder of the videos, or of folders of frames, named after `video_id` at any depth; None to
    look beside the file."""
    clips: int = Field(default=4, ge=0, le=64)
    """Of the last actions done, so many are shown as films."""
    keyframes: int = Field(default=8, ge=1, le=64)
    """Frames of each film, evenly spaced."""
    pixels: int = Field(default=448, ge=16, le=4096)
    """Longest side of a frame; larger ones are made smaller."""
    narrations: bool = False
    """Tell with each film what is done in it, which the paper doesn't."""


def _make(backend: str, settings: EgoPlanSettings) -> Env:
    from inhabit.envs.egoplan.env import EgoPlan

    return EgoPlan(settings)


def _sample(n: int, seed: int, settings: EgoPlanSettings) -> Iterable[Task]:
    raise TaskError(
        "EgoPlan-Bench has no tasks of its own here: give its JSON with --tasks FILE, and its "
        "videos with --set videos=FOLDER. `inhabit export --format egoplan` makes such files."
    )


def _read(source: str, settings: EgoPlanSettings) -> Iterable[Task]:
    from inhabit.envs.egoplan.tasks import read

    return read(Path(source), settings)


REGISTRATION = Registration(
    name="egoplan",
    summary="EgoPlan-Bench: what to do next in films of chores; --tasks FILE of its questions",
    backends=("files",),
    settings=EgoPlanSettings,
    make=_make,
    sample=_sample,
    read=_read,
    packages=("av",),
)
