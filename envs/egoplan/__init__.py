"""EgoPlan-Bench: choose the next of four actions from video clips and an image (Chen et al.
2023).
"""

from __future__ import annotations

from inhabit.envs.egoplan.settings import EgoPlanSettings
from inhabit.envs.lazy import lazy
from inhabit.envs.registry import Registration

REGISTRATION = Registration(
    name="egoplan",
    summary="EgoPlan-Bench: the next action in egocentric videos; needs --tasks FILE",
    backends=("files",),
    settings=EgoPlanSettings,
    make=lazy("inhabit.envs.egoplan.env:make"),
    sample=lazy("inhabit.envs.egoplan.tasks:sample"),
    read=lazy("inhabit.envs.egoplan.tasks:read"),
    scene_places=("video",),
    packages=("av",),
)
