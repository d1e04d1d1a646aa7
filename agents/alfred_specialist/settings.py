"""Settings of the planner and of its model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from inhabit.envs.marks import Device
from inhabit.envs.settings import SettingsModel


class PlannerSettings(SettingsModel):
    """How the planner chooses."""

    gone: ClassVar[Mapping[str, object]] = {"skills": True}

    width: int = Field(default=4, ge=0)
    """Beam width when ranking the words of candidates; 0 scores every candidate, which takes twice
    as long."""
    unread: Literal["try", "stop"] = "try"
    """What to do where the goal names no object or no place that can be read, or where the reading
    is a guess: try the likeliest reading, or stop."""


class RankerSettings(SettingsModel):
    """How its model is run, on the CPU."""

    threads: Annotated[int | None, Device()] = Field(default=None, ge=1)
    """CPU threads. By default torch decides."""
