"""The settings of EgoPlan-Bench, and the scene parameters of a question."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, model_validator

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


class Stretch(BaseModel):
    """An action done before, where it is to be seen in the video."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    narration: str
    start: int = Field(ge=0)
    """First frame."""
    stop: int = Field(ge=0)
    """Last frame."""

    @model_validator(mode="after")
    def _forwards(self) -> Stretch:
        if self.stop < self.start:
            raise ValueError(f"it ends at frame {self.stop}, before its start at {self.start}")
        return self


class EgoPlanScene(BaseModel):
    """A video, a moment, and the options. Which is right an agent doesn't see."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    actions: tuple[str, ...] = Field(min_length=2)
    """The options, all different."""
    answer: int = Field(ge=0)
    """Index of the right one."""
    source: str = ""
    """Where the video is from, such as "Ego4D"."""
    done: tuple[Stretch, ...] = ()
    """The task's progress, oldest first."""
    moment: int = Field(default=0, ge=0)
    """Frame of the current observation."""
    video: Path | None = None
    """A video, or a folder of numbered frames; None to go without images."""

    @model_validator(mode="after")
    def _answer_is_an_option(self) -> EgoPlanScene:
        if self.answer >= len(self.actions):
            raise ValueError(f"the answer {self.answer} is none of {len(self.actions)} options")
        if len(set(self.actions)) < len(self.actions):
            raise ValueError("two of the options are the same")
        return self
