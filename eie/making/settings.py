"""What `--set KEY=VALUE` may say of a set in the making."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from inhabit.eie.checking.splits import By
from inhabit.envs.marks import NoEffect


class SynthSettings(BaseModel):
    """How examples are cut, and what is asked of them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    candidates: int = Field(default=4, ge=2, le=8)
    """Answers to choose from, the right one among them."""
    trajectories: float = Field(default=0.5, ge=0.0, le=1.0)
    """The share of tasks that are cut into whole trajectories with their history; of the others
    single moments are asked about."""
    recoveries: float = Field(default=0.15, ge=0.0, le=1.0)
    """At which share of the moments a failing action is tried first, to ask how to go on."""
    recognition: bool = True
    """Whether a step of a trajectory comes with its twin, which asks what was done."""
    history: int = Field(default=4, ge=0, le=50)
    """Past steps that are shown in pictures; older ones are told in words alone."""
    visible: float = Field(default=0.0015, ge=0.0, le=1.0)
    """The share of the picture that a key concept has to take up."""
    split_by: By = "room"
    """What is never shared between training, validation and test."""
    attempts: int | None = Field(default=None, ge=1)
    """Tasks that are tried at the most; by default ten for each example that is wanted, and a
    hundred more."""
    deadline: Annotated[float, NoEffect()] = Field(default=60.0, gt=0, le=86_400)
    """Seconds that a simulator may take to answer before it is given up."""
    in_process: Annotated[bool, NoEffect()] = False
    """Have the environment in this very process: nothing protects the work from it."""
