"""Settings of the planner and of its model."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from inhabit.envs.marks import Device
from inhabit.envs.settings import SettingsModel


class PlannerSettings(SettingsModel):
    """How it chooses."""

    width: int = Field(default=4, ge=0)
    """Beam width when ranking the words of candidates; 0 scores every candidate, which takes twice
    as long."""
    unread: Literal["try", "stop"] = "try"
    """What to do where the goal names no object or no place that can be read, or where the reading
    is a guess: try the likeliest reading, or stop."""

    @model_validator(mode="before")
    @classmethod
    def _of_earlier_records(cls, given: Any) -> Any:
        """`skills` was a setting once; it follows them as those that were recorded with true."""
        if isinstance(given, dict) and given.get("skills") in (True, "true"):
            return {name: value for name, value in given.items() if name != "skills"}
        return given


class RankerSettings(SettingsModel):
    """How its model is run, on the CPU."""

    threads: Annotated[int | None, Device()] = Field(default=None, ge=1)
    """CPU threads. By default torch decides."""
