"""VirtualHome: its own evolving graph, embedded, or Unity, behind one environment."""

from __future__ import annotations

from inhabit.envs.entries import lazy
from inhabit.envs.registry import Registration, scene_field
from inhabit.envs.simulators import render
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings, video_settings

REGISTRATION = Registration(
    name="virtualhome",
    summary="household tasks in seven flats, on VirtualHome's evolving graph or in Unity",
    backends=("embedded", "unity"),
    settings=VirtualHomeSettings,
    make=lazy("inhabit.envs.virtualhome.env:make"),
    sample=lazy("inhabit.envs.virtualhome.tasks.sampling:sample"),
    read=lazy("inhabit.envs.virtualhome.tasks.scene:read"),
    needs=lazy("inhabit.envs.virtualhome.setup:needs"),
    missing_task_data=lazy("inhabit.envs.virtualhome.setup:missing_task_data"),
    domain="Domestic Robot",
    packages=("numba",),
    renderer=render.VERSION,
    prepare=lazy("inhabit.envs.virtualhome.setup:prepare"),
    video_settings=video_settings,
    kinds=lazy("inhabit.envs.virtualhome.tasks.sampling:kinds"),
    scene_plan=lazy("inhabit.envs.virtualhome.plan_view:scene_plan"),
    rooms=lazy("inhabit.envs.virtualhome.tasks.sampling:rooms"),
    room_of=scene_field("room"),
    template=lazy("inhabit.envs.virtualhome.evolution.template:VirtualHomeTemplate"),
)
