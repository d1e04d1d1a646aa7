"""Object navigation in AI2-THOR's rooms, as EmbodiedBench's EB-Navigation and VAGEN have it.

Eight actions, success within a metre of the target; played on the embedded household.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from inhabit.envs.entries import lazy
from inhabit.envs.registry import Registration, scene_field
from inhabit.envs.settings import SettingsModel
from inhabit.envs.simulators import render


class ThorNavSettings(SettingsModel):
    """What `--set` may say of `thor_nav`."""

    step: float = Field(default=0.25, ge=0.05, le=1.0)
    """Length of a step, in metres: 0.25 in EB-Navigation, 0.3 in VAGEN."""
    limit: int = Field(default=20, ge=1, le=1000)
    """Maximum number of actions of a task that is read or sampled: 20 in EB-Navigation, 30 in
    VAGEN."""
    success: float = Field(default=1.0, gt=0.0, le=10.0)
    """Distance to the target within which a task is solved, in metres, as seen from above."""
    cells: Literal["computed", "recorded"] = "computed"
    """Where the agent can stand: computed from boxes, or recorded in THOR (`inhabit setup
    alfred`)."""
    width: int = Field(default=300, ge=64, le=2048)
    """Width of the image, in pixels."""
    height: int = Field(default=300, ge=64, le=2048)
    """Height of the image, in pixels."""
    field_of_view: int = Field(default=100, ge=30, le=150)
    """Vertical field of view, in degrees."""


REGISTRATION = Registration(
    name="thor_nav",
    summary="navigation to an object in AI2-THOR's rooms; EB-Navigation's and VAGEN's task files",
    backends=("embedded",),
    domain="Domestic Robot",
    settings=ThorNavSettings,
    make=lazy("inhabit.envs.thor_nav.env:make"),
    sample=lazy("inhabit.envs.thor_nav.tasks:sample"),
    read=lazy("inhabit.envs.thor_nav.tasks:read"),
    kinds=lazy("inhabit.envs.thor_nav.tasks:kinds"),
    scene_plan=lazy("inhabit.envs.thor_nav.tasks:scene_plan"),
    rooms=lazy("inhabit.envs.thor_nav.tasks:rooms"),
    room_of=scene_field("room"),
    packages=("procthor",),
    renderer=render.VERSION,
)
