"""The settings of PCA-Bench, and the scene parameters of an instance."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from inhabit.envs.settings import SettingsModel


class PcaSettings(SettingsModel):
    """What `--set` may say of PCA-Bench."""

    images: Path | None = None
    """Folder of the images, unless they lie beside the task file or in its imgs or images folder.
    """
    expert: Literal["answers", "recipes"] = "answers"
    """What the expert follows: the released answers; or, in the game, recipes alone, from the
    inventory and the creatures nearby."""


class Domain(StrEnum):
    """Where the decision is made."""

    DRIVING = "autonomous_driving"
    HOME = "domestic_robot"
    GAME = "open_world_game"


class PcaScene(BaseModel):
    """An image, the options, and the right one with its reason. Of all this an agent sees the
    image, the options and the facts; a text-only model may ask for the cached results.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    domain: Domain
    actions: tuple[str, ...] = Field(min_length=2)
    """The options, all different."""
    answer: int = Field(ge=0)
    """Index of the right one."""
    reason: str = ""
    key_concepts: tuple[str, ...] = ()
    facts: str = ""
    """What an image can't show, in a sentence: hands and inventory."""
    results: Mapping[str, JsonValue] = Field(default_factory=dict)
    """Function -> its cached result (HOLMES)."""
    image: Path | None = None
    """The image, or the parquet file that holds it; None where there is none."""
    row: int | None = Field(default=None, ge=0)
    """In a parquet file: the row of the image."""

    @model_validator(mode="after")
    def _answer_is_an_option(self) -> PcaScene:
        if self.answer >= len(self.actions):
            raise ValueError(f"the answer {self.answer} is none of {len(self.actions)} options")
        if len(set(self.actions)) < len(self.actions):
            raise ValueError("two of the options are the same")
        return self
