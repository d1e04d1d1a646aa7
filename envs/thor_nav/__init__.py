"""Object navigation in AI2-THOR's rooms, as EmbodiedBench's EB-Navigation and VAGEN have it.

Eight actions, success within a metre of the target; played on the embedded household.
"""

from __future__ import annotations

from inhabit.envs.lazy import lazy
from inhabit.envs.registry import Registration, scene_field
from inhabit.envs.simulators import render
from inhabit.envs.thor_nav.settings import ThorNavSettings

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
