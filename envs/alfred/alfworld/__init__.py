"""ALFWorld's text game (Shridhar et al. 2021) over ALFRED's rooms: its commands, text, and scoring.

Text and image show the same state: what is told is read from the room after every command.
"""

from __future__ import annotations

from typing import Literal

from inhabit.envs.alfred.world.settings import AlfredSettings, fastest_settings
from inhabit.envs.entries import lazy
from inhabit.envs.registry import Registration, scene_field
from inhabit.envs.simulators import render


class AlfworldSettings(AlfredSettings):
    """Settings of ALFRED, but for navigation, which the text game does not spell out."""

    navigation: Literal["walk", "teleport"] = "teleport"
    """How the agent gets to a receptacle: it is placed before it, or walks every low-level step."""


REGISTRATION = Registration(
    name="alfworld",
    summary="ALFWorld's text game in AI2-THOR's rooms, with an image of every state",
    backends=("embedded",),
    settings=AlfworldSettings,
    make=lazy("inhabit.envs.alfred.alfworld.env:Alfworld"),
    sample=lazy("inhabit.envs.alfred.alfworld.tasks:sample"),
    sample_where=lazy("inhabit.envs.alfred.alfworld.tasks:sample"),
    read=lazy("inhabit.envs.alfred.alfworld.tasks:read"),
    needs=lazy("inhabit.envs.alfred.setup:needs"),
    domain="Domestic Robot",
    packages=("ai2thor", "procthor", "numba"),
    renderer=render.VERSION,
    prepare=lazy("inhabit.envs.alfred.setup:prepare"),
    fastest_settings=fastest_settings,
    kinds=lazy("inhabit.envs.alfred.alfworld.tasks:kinds"),
    scene_plan=lazy("inhabit.envs.alfred.scenes.initial_room:scene_plan"),
    rooms=lazy("inhabit.envs.alfred.tasks.sampling:rooms"),
    room_of=scene_field("room"),
)
