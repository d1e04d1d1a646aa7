"""MineDojo keeps what every environment promises."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from luanti_for_tests import needs_luanti

from inhabit.envs.contract import EnvContract
from inhabit.envs.core import Env, Task
from inhabit.envs.minedojo.env import MineDojo
from inhabit.envs.minedojo.world.settings import MineDojoSettings


@pytest.mark.slow  # thirty starts of Luanti
@needs_luanti
class TestMineDojo(EnvContract):
    steps = 5

    def make(self) -> Env:
        return MineDojo(MineDojoSettings())

    def tasks(self) -> Sequence[Task]:
        wood = {"task": "harvest", "target_names": ["planks"], "target_quantities": 4,
                "specified_biome": "forest", "world_seed": 3, "allow_mob_spawn": False}  # fmt: skip
        pig = {"task": "combat", "target_names": ["pig"], "initial_mobs": ["pig"],
               "initial_mob_spawn_range_low": [-5, 1, -5], "world_seed": 3,
               "initial_mob_spawn_range_high": [5, 1, 5], "specified_biome": "plains",
               "allow_mob_spawn": False}  # fmt: skip
        return [
            Task(id="wood", env="minedojo", kind="harvest", goal="Obtain 4 planks.", scene=wood),
            Task(id="pig", env="minedojo", kind="combat", goal="Hunt a pig.", scene=pig),
        ]
