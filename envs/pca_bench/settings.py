"""Settings of PCA-Bench, as `--set KEY=VALUE` changes them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from inhabit.envs.settings import SettingsModel


class PcaSettings(SettingsModel):
    """What `--set` may say of PCA-Bench."""

    images: Path | None = None
    """Folder of the images, unless they lie beside the task file or in its imgs or images folder.
    """
    expert: Literal["answers", "recipes"] = "answers"
    """What the expert follows: the released answers; or, in the game, recipes alone, from the
    inventory and the creatures nearby."""
