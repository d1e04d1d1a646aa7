"""ALFRED: the seven household tasks of Shridhar et al. (2020) in AI2-THOR's 120 rooms.

Acted live through AI2-THOR's own unmodified client, on the embedded household (the default) or on
a user's own build of Unity.
"""

from __future__ import annotations

from inhabit.envs.alfred.world.settings import (
    AlfredSettings,
    fastest_settings,
    recording_settings,
    video_settings,
)
from inhabit.envs.entries import lazy
from inhabit.envs.registry import Registration, scene_field
from inhabit.envs.simulators import render

REGISTRATION = Registration(
    name="alfred",
    summary="ALFRED's seven household tasks in AI2-THOR's 120 rooms",
    backends=("embedded", "unity"),
    settings=AlfredSettings,
    make=lazy("inhabit.envs.alfred.env:Alfred"),
    sample=lazy("inhabit.envs.alfred.tasks.sampling:sample"),
    read=lazy("inhabit.envs.alfred.tasks.splits:read_folder"),
    needs=lazy("inhabit.envs.alfred.setup:needs"),
    agent="planner",
    domain="Domestic Robot",
    packages=("ai2thor", "procthor", "alfworld", "numba"),
    renderer=render.VERSION,
    prepare=lazy("inhabit.envs.alfred.setup:prepare"),
    fastest_settings=fastest_settings,
    recording_settings=recording_settings,
    video_settings=video_settings,
    kinds=lazy("inhabit.envs.alfred.tasks.sampling:kinds"),
    scene_plan=lazy("inhabit.envs.alfred.scenes.initial_room:scene_plan"),
    rooms=lazy("inhabit.envs.alfred.tasks.sampling:rooms"),
    room_of=scene_field("room"),
    sample_where=lazy("inhabit.envs.alfred.tasks.sampling:sample"),
    template=lazy("inhabit.envs.alfred.evolution.template:AlfredTemplate"),
)
