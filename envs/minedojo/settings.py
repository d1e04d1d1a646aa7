"""Settings of MineDojo, as `--set KEY=VALUE` changes them."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from inhabit.envs.marks import NoEffect, Place


class MineDojoSettings(BaseModel):
    """What `--set` may say of MineDojo."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    width: int = Field(default=256, ge=64, le=3840)
    """Pixels; a scene's `image_size` goes before."""
    height: int = Field(default=160, ge=64, le=2160)
    """Pixels."""
    deadline: int = Field(default=2400, ge=20, le=100_000)
    """Ticks (1/20 s of the game) that one action may take."""
    tasks: Annotated[str | None, Place(), NoEffect()] = None
    """A `minedojo` wheel, or the folder of an installed one, that its tasks are read from; None
    looks where `inhabit setup minedojo` puts it."""
    python: Annotated[str | None, Place()] = None
    """Backend minedojo: an interpreter that can import it; None takes the one that `inhabit setup
    minedojo --backend minedojo` makes."""
    launch: Annotated[float, NoEffect()] = Field(default=900.0, gt=0, le=7200)
    """Backend minedojo: seconds that Minecraft may take to start. The first time it is built."""
