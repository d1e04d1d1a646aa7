"""Settings of `--ray`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, field_validator

from inhabit.envs.marks import NoEffect, Place, Words
from inhabit.envs.settings import SettingsModel


class ClusterSettings(SettingsModel):
    """Which Ray cluster is used, and what each worker reserves on its node."""

    ray_address: Annotated[str, Place(), NoEffect()] = ""
    """Address of the Ray cluster, HOST:PORT. By default the cluster that this machine belongs to,
    or else a new one on it."""
    ray_cpus: Annotated[float, NoEffect()] = Field(default=1.0, ge=0)
    """CPUs that each worker reserves on its node."""
    ray_gpus: Annotated[float, NoEffect()] = Field(default=0.0, ge=0)
    """GPUs that each worker reserves on its node."""
    ray_resources: Annotated[Mapping[str, float], Words(), NoEffect()] = Field(default_factory=dict)
    """Custom resources that each worker reserves, as named by `ray start --resources`, such as
    `unity=1,display=1`."""

    @field_validator("ray_resources", mode="before")
    @classmethod
    def _from_text(cls, given: object) -> object:
        if not isinstance(given, str):
            return given
        parts = [part.partition("=") for part in given.split(",") if part.strip()]
        return {name.strip(): amount or "1" for name, _, amount in parts}
