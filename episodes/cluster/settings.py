"""What `--set KEY=VALUE` may say of a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator

from inhabit.envs.marks import NoEffect, Place, Words


class ClusterSettings(BaseModel):
    """Which cluster `--ray` uses, and what a worker takes of its node."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ray_address: Annotated[str, Place(), NoEffect()] = ""
    """Of the cluster that --ray uses; empty for the one that this machine belongs to, or a new one
    on it."""
    ray_cpus: Annotated[float, NoEffect()] = Field(default=1.0, ge=0)
    """Processors that a worker takes of its node."""
    ray_gpus: Annotated[float, NoEffect()] = Field(default=0.0, ge=0)
    ray_resources: Annotated[Mapping[str, float], Words(), NoEffect()] = Field(default_factory=dict)
    """What else it takes, of the resources that nodes were started with: `unity=1,display=1`."""

    @field_validator("ray_resources", mode="before")
    @classmethod
    def _from_text(cls, given: object) -> object:
        if not isinstance(given, str):
            return given
        parts = [part.partition("=") for part in given.split(",") if part.strip()]
        return {name.strip(): amount or "1" for name, _, amount in parts}
