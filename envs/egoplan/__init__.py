"""EgoPlan-Bench: choose the next of four actions from video clips and an image (Chen et al.
2023).
"""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from inhabit.envs.entries import lazy
from inhabit.envs.registry import Registration
from inhabit.envs.settings import SettingsModel


class EgoPlanSettings(SettingsModel):
    """What `--set` may say of EgoPlan-Bench. The defaults are the paper's."""

    videos: Path | None = None
    """Folder of the videos, or of folders of frames, named by video_id, at any depth. By default
    the folder of the task file."""
    clips: int = Field(default=4, ge=0, le=64)
    """Number of past actions that are shown as video clips."""
    keyframes: int = Field(default=8, ge=1, le=64)
    """Frames of each clip, evenly spaced."""
    pixels: int = Field(default=448, ge=16, le=4096)
    """Longest side of a frame, in pixels; larger frames are scaled down."""
    narrations: bool = False
    """Add the narration of each clip to the prompt, which the paper does not."""


REGISTRATION = Registration(
    name="egoplan",
    summary="EgoPlan-Bench: the next action in egocentric videos; needs --tasks FILE",
    backends=("files",),
    settings=EgoPlanSettings,
    make=lazy("inhabit.envs.egoplan.env:make"),
    sample=lazy("inhabit.envs.egoplan.tasks:sample"),
    read=lazy("inhabit.envs.egoplan.tasks:read"),
    scene_places=("video",),
    packages=("av",),
)
