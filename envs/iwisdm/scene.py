"""The scene parameters of an iWISDM trial."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from inhabit.envs.iwisdm.settings import Join, Level


class IwisdmScene(BaseModel):
    """A level, a way of joining tasks, and the seed that the library draws from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    level: Level = "low"
    join: Join = "none"
    seed: int = Field(default=0, ge=0, lt=2**32)
