"""Settings of MineDojo, as `--set KEY=VALUE` changes them."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class MineDojoSettings(BaseModel):
    """What `--set` may say of MineDojo."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    width: int = Field(default=256, ge=64, le=3840)
    """Pixels; a scene's `image_size` goes before."""
    height: int = Field(default=160, ge=64, le=2160)
    """Pixels."""
    deadline: int = Field(default=2400, ge=20, le=100_000)
    """Ticks (1/20 s of the game) that one action may take."""
    tasks: str | None = None
    """A `minedojo` wheel, or the folder of an installed one, that its tasks are read from; None
    looks where `inhabit setup minedojo` puts it."""
    python: str | None = None
    """Backend minedojo: an interpreter that can import it; None takes the one that `inhabit setup
    minedojo --backend minedojo` makes."""
    launch: float = Field(default=900.0, gt=0, le=7200)
    """Backend minedojo: seconds that Minecraft may take to start. The first time it is built."""
