"""Settings of the toy house, as `--set KEY=VALUE` changes them."""

from __future__ import annotations

from pydantic import Field

from inhabit.envs.settings import SettingsModel


class ToySettings(SettingsModel):
    """What `--set` may say of the toy house."""

    pixels: int = Field(default=96, ge=16, le=1024)
    """Side of the square image, in pixels."""
    delay: float = Field(default=0.0, ge=0.0, le=60.0)
    """Seconds that every action takes, to imitate a slow simulator."""
