"""Settings of PCA-Bench, as `--set KEY=VALUE` changes them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict


class PcaSettings(BaseModel):
    """What `--set` may say of PCA-Bench."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    images: Path | None = None
    """Folder of the pictures, where that is not beside the file or in its `imgs` or `images`."""
    expert: Literal["answers", "recipes"] = "answers"
    """What the expert goes by: the released answers, or, in the game, recipes alone, from what is
    in the inventory and which creatures are near."""
