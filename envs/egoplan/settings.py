"""Settings of EgoPlan-Bench, as `--set KEY=VALUE` changes them."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field


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
