"""Settings of `inhabit synth`, for `--set KEY=VALUE`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from inhabit.eie.checking.splits import By
from inhabit.envs.marks import NoEffect
from inhabit.envs.settings import SettingsModel


class SynthSettings(SettingsModel):
    """How examples are extracted and checked."""

    groups: Literal["squares", "twins"] = "squares"
    """What an example is grouped with: "squares" cross goals with pictures; "twins" have one goal.
    Environments whose goals can't be exchanged have twins alone."""
    candidates: int = Field(default=4, ge=2, le=8)
    """Number of answer options, including the correct one."""
    trajectories: float = Field(default=0.3, ge=0.0, le=1.0)
    """Share of tasks that are asked about with their history, after which something changed."""
    recoveries: float = Field(default=0.15, ge=0.0, le=1.0)
    """Share of tasks that are asked about after an action that failed."""
    recognition: bool = True
    """Ask at a quarter of the tasks which action was done between two images."""
    history: int = Field(default=4, ge=0, le=50)
    """Past steps given with images; older ones are given as text."""
    visible: float = Field(default=0.002, gt=0.0, le=1.0)
    """Minimum share of the image area that a key concept has to cover."""
    longest: int = Field(default=20, ge=1)
    """Maximum number of actions of the expert's plan from the start, exploration not counted."""
    split_by: By = "room"
    """What training, validation and test never share."""
    attempts: int | None = Field(default=None, ge=1)
    """Maximum number of tasks to try. By default ten per example, plus a hundred."""
    deadline: Annotated[float, NoEffect()] = Field(default=60.0, gt=0, le=86_400)
    """Seconds that a simulator may take for one call before it counts as failed."""
    in_process: Annotated[bool, NoEffect()] = False
    """Run the environment in the same process; a crash of the simulator then ends the command."""
