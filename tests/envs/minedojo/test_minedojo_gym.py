"""MineDojo's interface: what is seen and done, beside the real package where there is one."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from luanti_for_tests import needs_luanti
from waiting import PATIENCE

from inhabit.envs.core import Task
from inhabit.envs.minedojo.interface.actions import crafts, decode, fields, nothing, sizes
from inhabit.envs.minedojo.interface.gym import MineDojoGym

OFFICIAL = """
import json, sys
import minedojo
import numpy as np
box = dict(xmin=-1, ymin=-1, zmin=-1, xmax=1, ymax=1, zmax=1)
rays = [(0.0, 0.1, 20.0), (0.1, 0.0, 10.0)]
env = minedojo.make("open-ended", image_size=(160, 256), use_voxel=True, voxel_size=box,
                    use_lidar=True, lidar_rays=rays)
found = {}
def walk(space, path):
    if hasattr(space, "spaces"):
        for name, part in space.spaces.items():
            walk(part, path + [name])
        return
    low, high = getattr(space, "low", None), getattr(space, "high", None)
    kind = type(space).__name__
    if low is not None:
        low, high = float(np.min(low)), float(np.max(high))
    elif kind == "MultiDiscrete":
        low, high = 0.0, float(space.nvec.max() - 1)
    elif kind == "Discrete":
        low, high = 0.0, float(space.n - 1)
    dtype = "str" if kind == "Text" else np.dtype(space.dtype).name
    found["/".join(path)] = [list(space.shape), dtype, repr(low), repr(high)]
walk(env.observation_space, [])
decoded = []
wrapper = env.env
while type(wrapper).__name__ != "NNActionSpaceWrapper":
    wrapper = wrapper.env
wrapper._inventory_names = np.array(["log"] * 36)
for vector in json.loads(sys.stdin.read()):
    asked, gone = wrapper.action(np.array(vector))
    plain = {k: (v.tolist() if hasattr(v, "tolist") else v) for k, v in asked.items()}
    decoded.append([plain, list(gone)])
print("RESULT" + json.dumps([found, env.action_space.nvec.tolist(), decoded], default=int))
"""


def every_value() -> list[tuple[int, ...]]:
    """The idle vector with every value of every number in its turn."""
    idle = nothing()
    vectors = []
    for place, size in enumerate(sizes()):
        for value in range(size):
            vector = list(idle)
            vector[place] = value
            if place == 6:
                vector[5] = 4
            vectors.append(tuple(vector))
    for function, slot in itertools.product((5, 6, 7), range(36)):
        vectors.append((*idle[:5], function, 0, slot))
    return vectors


def test_the_real_package_has_the_same_spaces_and_actions() -> None:
    python = os.environ.get("INHABIT_MINEDOJO_PYTHON")
    if not python:
        pytest.skip("needs an interpreter with minedojo: set INHABIT_MINEDOJO_PYTHON")
    vectors = every_value()
    done = subprocess.run(
        [python, "-c", OFFICIAL], input=json.dumps(vectors), capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    line = next(one for one in done.stdout.splitlines() if one.startswith("RESULT"))
    theirs, sizes_theirs, decoded = json.loads(line.removeprefix("RESULT"))
    assert sizes_theirs == list(sizes())
    ours = {
        "/".join(filter(None, (group, name))): _comparable(field)
        for group, parts in fields(160, 256, (3, 3, 3), 2).items()
        for name, field in parts.items()
    }
    assert ours.keys() == theirs.keys()
    for path, field in ours.items():
        assert field == theirs[path], path
    for vector, (asked, gone) in zip(vectors, decoded, strict=True):
        _same_action(decode(vector), asked, gone)


def _comparable(field: Any) -> list[object]:
    if field.dtype == "str":
        return [list(field.shape), "str", "None", "None"]
    return [list(field.shape), field.dtype, repr(float(field.low)), repr(float(field.high))]


def _same_action(ours: dict[str, Any], theirs: dict[str, Any], gone: list[Any]) -> None:
    assert ours["forward"] == theirs["forward"] - theirs["back"]
    assert ours["side"] == theirs["right"] - theirs["left"]
    for name in ("jump", "sneak", "sprint"):
        assert ours[name] == bool(theirs[name])
    assert [ours["pitch"], ours["yaw"]] == theirs["camera"]
    function = ours["function"]
    for name in ("use", "drop", "attack"):
        assert (function == name) == bool(theirs[name])
    stations = {"by_hand": "craft", "at_table": "craft_with_table", "in_furnace": "smelt"}
    for station, name in stations.items():
        wanted = ours.get("item") if ours.get("station") == station else None
        assert theirs[name] in ((wanted,) if wanted else ("none", 0))
    for name in ("equip", "place"):
        assert theirs[name] in (("log",) if function == name else ("none", 0))
    assert gone[0] == (function == "destroy") and (not gone[0] or gone[1] == ours["slot"])


def test_the_scene_says_what_is_observed() -> None:
    scene = {"image_size": 96, "use_lidar": False, "lidar_rays": [[0.0, 0.1, 10.0]]}
    env = MineDojoGym(Task(id="t", env="minedojo", kind="open-ended", goal="g", scene=scene))
    assert env.observation_space["rgb"].shape == (3, 96, 96)
    assert "rays" not in env.observation_space.spaces


@pytest.mark.parametrize("interval", [15, 7, 0.7, 100])
def test_nothing_turns_no_camera(interval: float) -> None:
    asked = decode(nothing(interval), interval)
    assert (asked["pitch"], asked["yaw"]) == (0, 0)


def test_wrong_actions_are_said() -> None:
    with pytest.raises(ValueError, match=r"action\[5\]"):
        decode((0, 0, 0, 12, 12, 8, 0, 0))
    with pytest.raises(ValueError, match="8 integers"):
        decode((0, 0))


TASK = Task(
    id="t", env="minedojo", kind="harvest", goal="g",
    scene={
        "task": "harvest", "target_names": ["planks"], "target_quantities": 4,
        "generate_world_type": "flat", "allow_mob_spawn": False, "use_voxel": True,
        "voxel_size": {"xmin": -1, "ymin": -1, "zmin": -1, "xmax": 1, "ymax": 1, "zmax": 1},
        "use_lidar": True, "lidar_rays": [[0.6, 0.0, 10.0], [-0.6, 0.0, 10.0]],
        "initial_inventory": [{"slot": 0, "name": "iron_pickaxe"},
                              {"slot": 5, "name": "log", "quantity": 2}],
    },
)  # fmt: skip


@pytest.mark.slow
@needs_luanti
def test_an_episode() -> None:
    env = MineDojoGym(TASK)
    try:
        seen, _ = env.reset(seed=1)
        assert env.observation_space.contains(seen), _faults(env, seen)
        assert seen["inventory"]["name"][[0, 5]].tolist() == ["iron pickaxe", "log"]
        assert seen["inventory"]["max_durability"][0] == 250
        assert seen["voxels"]["block_name"][1].tolist() == [
            ["grass"] * 3, ["air"] * 3, ["air"] * 3,
        ]  # fmt: skip
        assert seen["rays"]["block_name"].tolist() == ["grass", "air"]
        vector = env.nothing.copy()
        vector[0] = 1
        ahead, *_ = env.step(vector)
        moved = ahead["location_stats"]["pos"] - seen["location_stats"]["pos"]
        assert np.linalg.norm(moved) == pytest.approx(0.2159, abs=1e-3)
        turn = env.nothing.copy()
        turn[4] = 13
        turned, *_ = env.step(turn)
        change = turned["location_stats"]["yaw"] - ahead["location_stats"]["yaw"]
        assert change % 360 == pytest.approx(15, abs=1e-3)
        craft = env.nothing.copy()
        craft[5], craft[6] = 4, [name for name, _ in crafts()].index("planks")
        assert seen["masks"]["craft_smelt"][craft[6]]
        made, reward, over, cut, about = env.step(craft)
        assert env.observation_space.contains(made), _faults(env, made)
        assert (reward, over, cut, about["success"]) == (4.0, True, False, True)
        assert made["delta_inv"]["inc_name_by_craft"].tolist() == ["planks"]
    finally:
        env.close()


@pytest.fixture
def flat() -> Iterator[MineDojoGym]:
    """One who carries dirt and tools on flat land, with grass ahead and glass above."""
    scene = {
        "generate_world_type": "flat", "allow_mob_spawn": False, "start_yaw": 0.0,
        "use_voxel": True,
        "voxel_size": {"xmin": 0, "ymin": 0, "zmin": 0, "xmax": 0, "ymax": 0, "zmax": 2},
        "blocks": [{"name": "tallgrass", "variant": 1, "offset": [0, 0, 2]},
                   {"name": "magma", "offset": [1, 0, 2]}, {"name": "web", "offset": [-1, 0, 2]},
                   {"name": "glass", "offset": [0, 4, 0]}],
        "initial_inventory": [{"slot": 0, "name": "dirt", "quantity": 9},
                              {"slot": 1, "name": "iron_pickaxe"}, {"slot": 2, "name": "shears"}],
    }  # fmt: skip
    env = MineDojoGym(Task(id="t", env="minedojo", kind="open-ended", goal="g", scene=scene))
    env.reset(seed=1)
    yield env
    env.close()


PARTS = ("walk", "side", "jump", "pitch", "yaw", "function", "craft", "slot")
PLACE, ATTACK, EQUIP = 6, 3, 5


def _do(env: MineDojoGym, **parts: int) -> dict[str, Any]:
    vector = env.nothing.copy()
    for name, value in parts.items():
        vector[PARTS.index(name)] = value
    return env.step(vector)[0]


@pytest.mark.slow
@needs_luanti
def test_blocks_go_where_there_is_room(flat: MineDojoGym) -> None:
    seen = _do(flat, pitch=18)
    assert seen["location_stats"]["can_see_sky"]  # Glass lets it through.
    seen = _do(flat, function=PLACE)
    assert seen["inventory"]["quantity"][0] == 9  # Not into one's own body,
    for tick in range(10):
        seen = _do(flat, jump=int(tick == 0), function=PLACE)
    assert seen["inventory"]["quantity"][0] == 8  # but under it, in a jump.
    assert seen["location_stats"]["pos"][1] == 65


@pytest.mark.slow
@needs_luanti
def test_blocks_replace_grass(flat: MineDojoGym) -> None:
    seen = _do(flat, pitch=14)
    assert seen["voxels"]["block_name"][0, 0].tolist() == ["air", "air", "tallgrass"]
    seen = _do(flat, function=PLACE)
    assert seen["voxels"]["block_name"][0, 0].tolist() == ["air", "air", "dirt"]


@pytest.mark.slow
@needs_luanti
@pytest.mark.parametrize(("slot", "yaw", "ticks", "gain"), [(1, 10, 3, "magma"), (2, 14, 8, "web")])
def test_tools_break_what_they_are_for(
    flat: MineDojoGym, slot: int, yaw: int, ticks: int, gain: str
) -> None:
    _do(flat, pitch=14, yaw=yaw)
    seen = _do(flat, function=EQUIP, slot=slot)
    for _ in range(ticks):
        assert gain not in seen["inventory"]["name"]
        seen = _do(flat, function=ATTACK)
    assert gain in seen["inventory"]["name"]


@pytest.mark.slow
@needs_luanti
def test_a_fall_hurts_by_its_height() -> None:
    tower = [{"name": "stone", "offset": [0, y, 0]} for y in range(-3, 0)]
    scene = {**TASK.scene, "blocks": tower, "start_yaw": 0.0, "use_lidar": False, "lidar_rays": [],
             "start_position": {"x": 0.5, "y": 67.0, "z": 0.5}}  # fmt: skip
    env = MineDojoGym(Task(id="t", env="minedojo", kind="open-ended", goal="g", scene=scene))
    try:
        env.reset(seed=1)
        lives = [float(_do(env, walk=1, jump=1)["life_stats"]["life"][0]) for _ in range(30)]
    finally:
        env.close()
    assert min(lives) == 18.0  # Three blocks and a jump of 1.25: 4.25.


def _faults(env: MineDojoGym, seen: dict[str, Any]) -> list[str]:
    return [k for k, part in env.observation_space.spaces.items() if not part.contains(seen[k])]
