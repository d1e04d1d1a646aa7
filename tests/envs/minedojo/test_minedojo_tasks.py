"""Tasks of our own, MineDojo's own where they can be had, and what scenes refuse."""

from __future__ import annotations

import itertools
import json
import os
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from luanti_for_tests import needs_luanti

from inhabit.envs.core import SceneError, Task, TaskError
from inhabit.envs.minedojo.env import MineDojo
from inhabit.envs.minedojo.expert.topology import cheapest, costs, graph, ways
from inhabit.envs.minedojo.luanti.content import content
from inhabit.envs.minedojo.tasks.language import names, understand, vocabulary
from inhabit.envs.minedojo.tasks.official import default_package, read
from inhabit.envs.minedojo.tasks.sampling import sample
from inhabit.envs.minedojo.tasks.scene import conditions, read_scene, reward
from inhabit.envs.minedojo.world.catalogue import facts, recipes
from inhabit.envs.minedojo.world.game_state import GameState
from inhabit.envs.minedojo.world.settings import MineDojoSettings
from inhabit.envs.registry import find
from inhabit.episodes.playing.tasks import gather


def official() -> str:
    """The real package, if this machine has it."""
    given = os.environ.get("INHABIT_MINEDOJO")
    package = Path(given) if given else default_package()
    if not package.exists():
        pytest.skip("needs MineDojo's tasks: inhabit setup minedojo, or set INHABIT_MINEDOJO")
    return str(package)


def test_without_settings_tasks_are_looked_for_where_setup_puts_them(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(TaskError, match=f"no MineDojo at {tmp_path}"):
        read("harvest_1_log")


def task(**scene: object) -> Task:
    return Task.model_validate(
        {"id": "t", "env": "minedojo", "kind": "k", "goal": "g", "scene": scene}
    )


def test_samples_are_a_prefix_and_valid() -> None:
    many = list(sample(40, seed=5))
    assert list(sample(7, seed=5)) == many[:7]
    for one in many:
        read_scene(one)
    assert {one.kind for one in many} == {"harvest", "combat", "techtree"}
    assert not [
        one.goal for one in many if re.search(r"\ba [aeiou]|\ba shears|[2-9] torch\b", one.goal)
    ]


def test_recipes_need_only_what_an_inventory_can_hold() -> None:
    items = {item["name"] for item in facts("items")}
    assert not {name for recipe in recipes() for name in recipe.needed()} - items


def test_a_repeater_is_made_of_two_redstone_torches() -> None:
    needed = [recipe.needed() for recipe in recipes() if recipe.name == "repeater"]
    assert needed == [{"redstone_torch": 2, "redstone": 1, "stone": 3}]


def frozen_tasks() -> list[Task]:
    registration = find("minedojo")
    return list(gather(registration, registration.settings(), n=None, seed=0, source="minedojo-v1"))


def test_frozen_tasks_leave_no_chance() -> None:
    tasks = frozen_tasks()
    assert all(read_scene(one).world_seed is not None for one in tasks)
    assert len({one.goal for one in tasks}) == len(tasks)


@pytest.mark.slow
@needs_luanti
@pytest.mark.parametrize("kind", ["harvest", "combat", "techtree"])
def test_a_frozen_task_costs_what_it_says(kind: str) -> None:
    """The cheapest task of each kind, whatever the seed of the episode."""
    alike = [one for one in frozen_tasks() if one.kind == kind]
    task = min(alike, key=lambda one: one.reference_cost or 0)
    with MineDojo(MineDojoSettings(width=64, height=64)) as env:
        env.reset(task, seed=99)
        cost = 0
        while plan := env.plan():
            cost += env.act(plan[0]).cost
        met, total = env.progress()
    assert (met, cost) == (total, task.reference_cost), task.id


@pytest.mark.slow
def test_minedojos_tasks_validate() -> None:
    tasks = list(read("programmatic", MineDojoSettings(tasks=official())))
    assert len(tasks) == len({one.id for one in tasks}) == 1572
    for one in tasks:
        read_scene(one)
    assert len(list(read("creative", MineDojoSettings(tasks=official())))) == 1558
    assert [one.id for one in read("harvest_1_log", MineDojoSettings(tasks=official()))] == [
        "harvest_1_log"
    ]


def test_mutants_are_refused_by_field() -> None:
    """50 tasks of MineDojo's, each with one wrong letter in one name."""
    draw = random.Random("mutants")
    tasks = [
        one
        for one in read("programmatic", MineDojoSettings(tasks=official()))
        if one.kind != "survival"
    ]
    for one in draw.sample(tasks, 50):
        field, scene = _mutant(draw, json.loads(json.dumps(dict(one.scene))))
        with pytest.raises(SceneError) as error:
            read_scene(one.model_copy(update={"scene": scene}))
        assert field in str(error.value), f"{one.id}: {error.value}"


def _mutant(draw: random.Random, scene: dict[str, object]) -> tuple[str, dict[str, object]]:
    places = [
        field
        for field in ("target_names", "initial_mobs", "specified_biome", "tech_item", "voxel_size",
                      "initial_inventory", "reward_weights", "use_voxel")
        if scene.get(field)
    ]  # fmt: skip
    field = draw.choice(places)
    value = scene[field]
    if isinstance(value, str):
        scene[field] = _typo(draw, value)
        return field, scene
    if field == "initial_inventory":
        assert isinstance(value, dict)
        slot = draw.choice(sorted(value))
        value[slot]["name"] = _typo(draw, value[slot]["name"])
        return field, scene
    wrong = _typo(draw, field)
    scene[wrong] = scene.pop(field)
    return wrong, scene


def _typo(draw: random.Random, name: str) -> str:
    at = draw.randrange(len(name))
    return name[:at] + ("q" if name[at] != "q" else "z") + name[at + 1 :]


@pytest.mark.parametrize(
    ("scene", "said"),
    [
        ({"specified_biome": "plians"}, "nearest: plains"),
        ({"initial_weather": "rian"}, "rain"),
        ({"initial_mobs": ["cwo"]}, "cow"),
        ({"initial_mobs": ["cow"]}, "initial_mob_spawn_range_low"),
        ({"initial_inventory": [{"slot": 41, "name": "log"}]}, "slot 41"),
        ({"initial_inventory": [{"slot": "hand", "name": "log"}]}, "mainhand"),
        ({"initial_inventory": [{"slot": 0, "name": "wool", "variant": 77}]}, "variant 77"),
        ({"start_time": 24000}, "start_time"),
        ({"blocks": [{"name": "ston", "offset": [0, 0, 3]}]}, "stone"),
        ({"task": "harvest", "target_names": ["logg"]}, "target_names"),
        ({"task": "combat", "target_names": ["{x}"]}, "{x}"),
        ({"lidar_rays": [[0, 9.0, 3.0]]}, "lidar_rays"),
        ({"weather": "rain"}, "initial_weather"),
        ({"use_voxel": True}, "voxel_size"),
        ({"generate_world_type": "from_file"}, "not supported by any backend"),
        ({"initial_inventory": {"mainhand": "log"}}, "initial_inventory"),
        ({"initial_inventory": [{"slot": "²", "name": "log"}]}, "no slot"),
        (
            {"initial_inventory": [{"slot": slot, "name": "log"} for slot in (0, "mainhand")]},
            "slot 0 is given twice",
        ),
        ({"task": "harvest", "target_names": ["log", "log"]}, "log is given twice"),
        ({"reward_weights": float("nan")}, "reward_weights"),
    ],
)
def test_what_scenes_refuse(scene: dict[str, object], said: str) -> None:
    with pytest.raises(SceneError, match=said.replace("{", "[{]")):
        read_scene(task(**scene))


def test_no_package_is_said() -> None:
    with pytest.raises(TaskError, match="inhabit setup minedojo"):
        list(read("programmatic", MineDojoSettings(tasks="/no/such/wheel.whl")))


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"a: [", "tasks.yaml is not valid YAML"), (b"\xff", "is not a MineDojo package")],
)
def test_a_broken_package_is_said_with_its_file(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "tasks" / "description_files" / "programmatic_tasks.yaml"
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    with pytest.raises(TaskError, match=f"{tmp_path}.*{said}"):
        list(read("programmatic", MineDojoSettings(tasks=str(tmp_path))))


def test_every_text_means_its_action() -> None:
    for action in vocabulary():
        assert understand(action.text) == action
    assert understand("Mine the iron ore.") == understand("mine iron_ore")
    assert understand("collect log") == understand("mine log")
    assert understand("fly to the moon") is None


def _craftables() -> Iterator[str]:
    yield from (*names("by_hand"), *names("at_table"))


def test_everything_minedojo_crafts_has_a_recipe() -> None:
    made = {recipe["name"] for recipe in content()["recipes"]}
    assert set(_craftables()) <= made
    assert set(names("in_furnace")) <= {smelt["name"] for smelt in content()["smelts"]}
    assert len(content()["smelts"]) == 51


def test_every_block_that_needs_a_tool_has_one() -> None:
    for block in content()["blocks"]:
        if "harvest" in block:
            assert block["tool"] in ("pickaxe", "shovel", "sword"), block["name"]
    clay = next(one for one in content()["blocks"] if one["name"] == "hardened_clay")
    assert clay["tool"] == "pickaxe"


def test_survival_counts_the_days_that_one_lived() -> None:
    """As MineDojo's `SurvivalMeta`: a point for each day, and their number again at the last."""
    scene = read_scene(task(task="survival", target_days=2))

    def at(ticks: int, days: int) -> GameState:
        return GameState({"ticks": ticks, "days": days}, [], [], {}, {}, {}, {}, {}, [])

    moments = [at(0, 0), at(18_000, 1), at(24_000, 3), at(47_999, 4), at(48_000, 4), at(48_001, 4)]
    assert [conditions(scene, moments[0], now)[0] for now in moments] == [0, 0, 1, 1, 2, 2]
    rewards = [reward(scene, was, now) for was, now in itertools.pairwise(moments)]
    assert rewards == [0, 1, 0, 3, 0]


def test_leaves_come_first() -> None:
    ground = frozenset({"log", "stone", "coal_ore", "iron_ore", "diamond_ore"})
    cost = costs(ground, frozenset())
    best = cheapest(cost, ground, frozenset())
    order = ["planks", "crafting_table", "wooden_pickaxe", "iron_pickaxe", "diamond_pickaxe"]
    assert [cost[item] for item in order] == sorted(cost[item] for item in order)
    tree = graph("wooden_pickaxe", 1, cost, best)
    assert {part.item for part in tree.parts} == {"planks", "stick"}
    assert all(part.parts[0].item in ("log", "planks") for part in tree.parts)
    assert best["planks"].needs == {"log": 1} and best["cobblestone"].tool == "wooden_pickaxe"
    assert "blaze_rod" not in best and set(best) <= set(ways())
