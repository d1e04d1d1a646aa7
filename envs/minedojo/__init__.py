"""MineDojo: its tasks in a voxel world under Luanti, or in its own Minecraft."""

from __future__ import annotations

from inhabit.envs.entries import lazy
from inhabit.envs.minedojo.world.settings import MineDojoSettings
from inhabit.envs.registry import Registration, scene_field

REGISTRATION = Registration(
    name="minedojo",
    summary="Minecraft with MineDojo's tasks: harvest, combat, tech tree, survival",
    backends=("luanti", "minedojo"),
    domain="Open-World Game",
    settings=MineDojoSettings,
    make=lazy("inhabit.envs.minedojo.env:make"),
    sample=lazy("inhabit.envs.minedojo.tasks.sampling:sample"),
    read=lazy("inhabit.envs.minedojo.tasks.official:read"),
    needs=lazy("inhabit.envs.minedojo.setup:needs"),
    packages=("minecraft-data",),
    prepare=lazy("inhabit.envs.minedojo.setup:prepare"),
    kinds=lazy("inhabit.envs.minedojo.tasks.sampling:kinds"),
    rooms=lazy("inhabit.envs.minedojo.tasks.sampling:rooms"),
    room_of=scene_field("specified_biome"),
    template=lazy("inhabit.envs.minedojo.evolution.template:MineDojoTemplate"),
)
