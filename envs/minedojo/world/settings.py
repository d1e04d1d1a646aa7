"""Settings of MineDojo, as `--set KEY=VALUE` changes them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from inhabit.envs.marks import NoEffect, Place
from inhabit.envs.settings import SettingsModel


class MineDojoSettings(SettingsModel):
    """What `--set` may say of MineDojo."""

    width: int = Field(default=256, ge=64, le=3840)
    """Width of the image, in pixels. A scene's image_size takes precedence."""
    height: int = Field(default=160, ge=64, le=2160)
    """Height of the image, in pixels."""
    deadline: int = Field(default=2400, ge=20, le=100_000)
    """Game ticks (1/20 s) that one action may take."""
    tasks: Annotated[str | None, Place(), NoEffect()] = None
    """Wheel or installed folder of the minedojo package to read tasks from. By default the one that
    `inhabit setup minedojo` installed."""
    python: Annotated[str | None, Place()] = None
    """Backend minedojo: Python interpreter that can import minedojo. By default the one that
    `inhabit setup minedojo --backend minedojo` installed."""
    launch: Annotated[float, NoEffect()] = Field(default=900.0, gt=0, le=7200)
    """Backend minedojo: seconds that Minecraft may take to start. The first start compiles it."""
