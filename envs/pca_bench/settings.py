"""Settings of PCA-Bench, as `--set KEY=VALUE` changes them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from inhabit.envs.settings import SettingsModel


class PcaSettings(SettingsModel):
    """What `--set` may say of PCA-Bench."""

    images: Path | None = None
    """Folder of the pictures, where that is not beside the file or in its `imgs` or `images`."""
    expert: Literal["answers", "recipes"] = "answers"
    """What the expert goes by: the released answers, or, in the game, recipes alone, from what is
    in the inventory and which creatures are near."""
