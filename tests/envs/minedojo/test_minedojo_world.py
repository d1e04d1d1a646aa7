"""The running world: its recipes, its images, its clock, and what happens when it dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from luanti_for_tests import needs_luanti
from numpy.typing import NDArray
from waiting import PATIENCE, alive, wait_for

from inhabit.cli import main
from inhabit.envs.core import (
    Action,
    Outcome,
    Reason,
    SceneError,
    SimulatorError,
    Task,
    UnavailableError,
)
from inhabit.envs.minedojo.env import MineDojo
from inhabit.envs.minedojo.luanti.world import LuantiWorld
from inhabit.envs.minedojo.tasks.language import mobs, names, variants
from inhabit.envs.minedojo.tasks.scene import MineDojoScene, as_world
from inhabit.envs.minedojo.world.catalogue import Ingredient, recipes, smelts
from inhabit.envs.minedojo.world.settings import MineDojoSettings
from inhabit.episodes.judging.oracle import Oracle
from inhabit.episodes.judging.schema import file_of, whole
from inhabit.episodes.recording.reader import Run

pytestmark = needs_luanti


def world(**scene: object) -> LuantiWorld:
    given = {"allow_mob_spawn": False, "world_seed": 3, **scene}
    return LuantiWorld(as_world(MineDojoScene.model_validate(given), seed=0), 256, 160)


@pytest.fixture(scope="module")
def flat() -> Iterator[LuantiWorld]:
    with world(generate_world_type="flat") as there:
        yield there


def _engine(one: Ingredient | None) -> str:
    if one is None:
        return ""
    variant = one.variant if one.variant is not None else min(variants().get(one.name, {0}))
    return f"mc:{one.name}__{variant}" if variant else f"mc:{one.name}"


def _cells(rows: Sequence[Sequence[Ingredient | None]]) -> list[str]:
    cells = [_engine(one) for row in rows for one in [*row, *[None] * (3 - len(row))]]
    return cells + [""] * (9 - len(cells))


@pytest.mark.slow
def test_every_recipe_gives_its_output(flat: LuantiWorld) -> None:
    wrong = []
    for recipe in recipes():
        items = _cells(recipe.rows) if recipe.rows else [_engine(one) for one in recipe.items]
        items += [""] * (9 - len(items))
        made = flat.ask("craft_result", method="normal", width=3, items=items)
        want = _engine(Ingredient(recipe.name, recipe.variant))
        if made != (f"{want} {recipe.count}" if recipe.count > 1 else want):
            wrong.append((recipe, made))
    assert not wrong


def test_everything_smelts(flat: LuantiWorld) -> None:
    for smelt in smelts():
        source = _engine(Ingredient(smelt.source, smelt.source_variant))
        made = flat.ask("craft_result", method="cooking", width=1, items=[source])
        assert made == _engine(Ingredient(smelt.name, smelt.variant))


def _mean(picture: NDArray[np.uint8]) -> float:
    return float(picture[:100].mean())


def test_pictures_tell_hours_and_weather(flat: LuantiWorld) -> None:
    noon = flat.picture()
    flat.ask("change", what="time", time=18000)
    night = flat.picture()
    flat.ask("change", what="time", time=6000)
    flat.ask("change", what="weather", weather="rain")
    rain = flat.picture()
    flat.ask("change", what="weather", weather="thunder")
    thunder = flat.picture()
    flat.ask("change", what="weather", weather="clear")
    again = flat.picture()
    assert _mean(night) < 0.4 * _mean(noon)
    assert _mean(thunder) < _mean(rain) < _mean(noon)
    changed = (rain[:100].astype(int) - noon[:100]).std()
    assert changed > 5, "Rain is streaks, not only a darker sky."
    for _ in range(20):  # On a busy machine the client shows the new light some frames later.
        if np.array_equal(again, noon):
            break
        again = flat.picture()
    assert np.array_equal(again, noon)


@pytest.mark.slow
def test_a_furnace_gives_light_only_while_it_burns() -> None:
    light = {}
    for name in ("cobblestone", "furnace", "lit_furnace"):
        block = {"name": name, "offset": (0, 0, 3)}
        with world(generate_world_type="flat", start_time=18000, blocks=(block,)) as night:
            light[name] = float(night.picture()[120:, :60].mean())
    assert abs(light["furnace"] - light["cobblestone"]) < 1
    assert light["lit_furnace"] > 1.5 * light["furnace"]


@pytest.mark.slow
def test_every_mob_is_seen_and_no_two_look_alike(flat: LuantiWorld) -> None:
    flat.ask("change", what="look", yaw=0, pitch=10)
    nobody = flat.picture()
    seen = {}
    for name in mobs():
        flat.ask("change", what="spawn", name=name, offset=[0, 1, 4])
        picture = flat.picture()
        assert (picture != nobody).any(axis=2).sum() > 25, name
        seen[name] = picture.tobytes()
        flat.ask("change", what="nobody")
    assert len(set(seen.values())) == len(seen)


@pytest.mark.slow
def test_thinking_takes_no_time(flat: LuantiWorld) -> None:
    """Six ticks move the body as far after a pause as without one."""
    walked = []
    for pause in (0.0, 2.0, 0.0, 2.0):
        before = flat.ask("state")
        time.sleep(pause)
        assert flat.ask("state")["ticks"] == before["ticks"]
        for _ in range(6):
            flat.ask("step", forward=1, side=0, yaw=0, pitch=0)
        after = flat.ask("state")
        walked.append(np.linalg.norm(np.subtract(after["pos"], before["pos"])))
    assert walked[0] == pytest.approx(6 * 0.2159, rel=0.02)
    assert np.ptp(walked) < 1e-6


@pytest.mark.slow
def test_a_search_without_a_way_ends_soon() -> None:
    """Bare hands dig no way to any of the ore, of which there is much below."""
    with world(specified_biome="forest") as there:
        came = there.ask("skill", skill="find", name="gold_ore", deadline=2400)
    assert came["reason"] == "not_found"
    assert 6000 < came["places"] < 60_000, "Each thousand takes a core some 60 ms."


@pytest.mark.slow
def test_two_worlds_side_by_side(flat: LuantiWorld) -> None:
    with world(generate_world_type="flat") as other:
        other.ask("step", forward=1, side=0, yaw=0, pitch=0)
        assert other.ask("state")["ticks"] == 1


TASK = Task(
    id="t", env="minedojo", kind="open-ended", goal="g",
    scene={"generate_world_type": "flat", "allow_mob_spawn": False},
)  # fmt: skip


@pytest.mark.slow
def test_wood_of_another_tree_is_told_by_its_name() -> None:
    held = [
        {"slot": "mainhand", "name": "crafting_table"},
        {"slot": 1, "name": "planks", "variant": 1, "quantity": 2},
        {"slot": 2, "name": "stick", "quantity": 4},
    ]
    task = TASK.model_copy(update={"scene": {**TASK.scene, "initial_inventory": held}})
    with MineDojo(MineDojoSettings()) as env:
        env.reset(task, seed=0)
        env.act(Action("place crafting_table", "place", ("crafting_table",)))
        said = env.act(Action("craft fence_gate", "craft", ("fence_gate",))).feedback
        assert "2 more planks (Oak Wood Planks)" in said
        other = env.act(Action("craft spruce_fence_gate", "craft", ("spruce_fence_gate",)))
        assert other.reason is None


def _begun(env: MineDojo, **scene: object) -> None:
    env.reset(TASK.model_copy(update={"scene": {**TASK.scene, **scene}}), seed=0)


def _done(env: MineDojo, text: str) -> Outcome:
    action = env.parse(text)
    assert action is not None, text
    return env.act(action)


@pytest.mark.slow
def test_what_is_worn_is_not_offered_and_is_told() -> None:
    held = [{"slot": "feet", "name": "iron_boots"}, {"slot": 0, "name": "iron_sword"}]
    with MineDojo(MineDojoSettings()) as env:
        _begun(env, initial_inventory=held)
        offered = [action.text for action in env.actions()]
        assert "equip iron_sword" in offered
        assert "equip iron_boots" not in offered
        said = _done(env, "equip iron_boots")
        assert (said.reason, said.feedback) == (Reason.ALREADY, "You wear the iron_boots already.")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "mob", "action"),
    [("bucket", "cow", "milk cow"), ("shears", "sheep", "shear sheep")],
)
def test_a_full_inventory_has_no_room(tool: str, mob: str, action: str) -> None:
    dirt = [{"slot": slot, "name": "dirt", "quantity": 64} for slot in range(1, 36)]
    held = [{"slot": 0, "name": tool, "quantity": 2 if tool == "bucket" else 1}, *dirt]
    near = {"initial_mob_spawn_range_low": [3, 1, 3], "initial_mob_spawn_range_high": [4, 1, 4]}
    with MineDojo(MineDojoSettings()) as env:
        _begun(env, initial_inventory=held, initial_mobs=[mob], **near)
        said = _done(env, action)
        assert said.reason is Reason.NO_ROOM
        assert "your inventory is full" in said.feedback


def test_every_block_that_a_scene_may_name_can_stand(flat: LuantiWorld) -> None:
    blocks = [{"name": name, "variant": 0, "offset": [0, 3, 0]} for name in names("block")]
    scene = MineDojoScene(generate_world_type="flat", world_seed=3, allow_mob_spawn=False)
    flat.restart({**as_world(scene, seed=0), "blocks": blocks})
    assert flat.ask("voxels", low=[0, 3, 0], high=[0, 3, 0]) == [[names("block")[-1], 0]]
    flat.restart(as_world(scene, seed=0))


@pytest.mark.slow
def test_no_arrow_is_left_of_who_shot_it() -> None:
    idle = {"forward": 0, "side": 0, "pitch": 0, "yaw": 0}
    still = {"allow_time_passage": False, "start_time": 18000, "start_yaw": 0}
    with world(generate_world_type="flat", **still) as there:
        there.ask("step", **idle)
        before = there.settled()
        there.ask("change", what="spawn", name="skeleton", offset=[0, 0, 6])
        there.ask("step", **idle)
        assert there.ask("state")["mobs"], "The skeleton is not there."
        there.ask("change", what="nobody")
        there.ask("step", **idle)
        assert not (np.abs(there.settled().astype(int) - before) > 20).any()


def test_a_cache_that_cannot_be_written_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    with pytest.raises(UnavailableError, match="set TMPDIR and XDG_CACHE_HOME"):
        world()


def test_a_start_inside_a_rock_is_refused() -> None:
    with pytest.raises(SceneError, match="start_position or blocks: the eyes are inside stone"):
        world(generate_world_type="flat", start_position={"x": 0, "y": 20, "z": 0})


@pytest.mark.slow
def test_a_poured_bucket_stays() -> None:
    with MineDojo(MineDojoSettings()) as env:
        _begun(env, initial_inventory=[{"slot": 0, "name": "water_bucket"}])
        for text, held in (("place water_bucket", "bucket"), ("collect water", "water_bucket")):
            assert _done(env, text).reason is None
            assert f"You carry: {held}." in env.observe().text


@pytest.mark.slow
def test_a_furnace_never_burns_the_last_log_that_it_is_to_smelt() -> None:
    furnace = [{"name": "furnace", "offset": [0, 0, 2]}]
    held = [{"slot": 0, "name": "log"}, {"slot": 1, "name": "log", "variant": 1}]
    with MineDojo(MineDojoSettings()) as env:
        _begun(env, initial_inventory=held[:1], blocks=furnace)
        assert _done(env, "smelt coal").reason is Reason.MISSING_ITEM
        assert "You carry: log." in env.observe().text
        _begun(env, initial_inventory=held, blocks=furnace)
        assert _done(env, "smelt coal").reason is None
        assert "You carry: coal." in env.observe().text


@pytest.mark.slow
@pytest.mark.parametrize("scene", [{"always_night": True}, {"allow_time_passage": False}])
def test_sleep_ends_no_night_that_stays(scene: dict[str, object]) -> None:
    bed = [{"slot": 0, "name": "bed"}]
    with MineDojo(MineDojoSettings()) as env:
        _begun(env, initial_inventory=bed, start_at_night=True, **scene)
        assert _done(env, "place bed").reason is None
        assert "still night" in _done(env, "sleep").feedback
        now = env.state()
        assert (int(now["time"]) // 1000, now["days"]) == (18, 0)


@pytest.mark.slow
def test_a_golden_apple_is_eaten_without_hunger() -> None:
    with MineDojo(MineDojoSettings()) as env:
        _begun(env, initial_inventory=[{"slot": 0, "name": "golden_apple"}])
        eat = env.parse("eat golden_apple")
        assert eat is not None
        assert eat in env.admissible()
        assert env.act(eat).reason is None


@pytest.mark.slow
def test_a_plan_has_both_the_logs_and_what_is_made_of_logs() -> None:
    logs = [{"name": "log", "offset": [2, 0, z]} for z in range(4)]
    with MineDojo(MineDojoSettings()) as env:
        _begun(
            env, blocks=logs, task="harvest", target_names=["log", "planks"],
            target_quantities=[1, 4],
        )  # fmt: skip
        for action in env.plan():
            assert env.act(action).reason is None
        assert env.progress() == (5, 5)
        assert env.act(Action("dance", "dance")).over


@pytest.mark.slow
def test_one_knows_where_one_has_put_a_thing() -> None:
    """Also where something stands before it."""
    around = [(x, z) for x in (-1, 0, 1) for z in (-1, 0, 1) if (x, z) != (0, 0)]
    walls = [{"name": "stone", "offset": [x, y, z]} for x, z in around for y in (0, 1)]
    held = [{"slot": "mainhand", "name": "crafting_table"}]
    scene = {**TASK.scene, "initial_inventory": held, "blocks": walls}
    with MineDojo(MineDojoSettings()) as env:
        env.reset(TASK.model_copy(update={"scene": scene}), seed=0)
        said = env.act(Action("place crafting_table", "place", ("crafting_table",)))
        assert said.reason is None
        mine = Action("mine crafting_table", "mine", ("crafting_table",))
        assert mine in env.actions()


@pytest.mark.slow
def test_an_action_that_failed_is_judged_though_no_copy_can_try_it(tmp_path: Path) -> None:
    run = tmp_path / "run"
    chosen = ("minedojo", "--agent", "random", "--n", "1", "--seed", "3", "--max-steps", "8")
    for words in (("run", *chosen, "--out", str(run)), ("judge", str(run))):
        with pytest.raises(SystemExit) as left:
            main(list(words))
        assert left.value.code in (0, None)
    failed = {
        s.number for s in Run.open(run).episode(0).attempts()[-1].steps if s.act and s.act.reason
    }
    steps, _ = whole(file_of(Run.open(run), Oracle.name))
    assert failed
    assert {s.step: s.judged.action.score for s in steps if s.step in failed} == dict.fromkeys(
        failed, 0
    )


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["Luanti", "Xvfb", "line"])
def test_a_dead_simulator_is_said_and_the_next_starts(victim: str) -> None:
    with MineDojo(MineDojoSettings()) as env:
        env.reset(TASK, seed=0)
        there = env._world
        assert there is not None
        pids = there.pids
        if victim == "line":
            there._launch.questions.close()
        else:
            os.kill(pids[0 if victim == "Xvfb" else 1], signal.SIGKILL)
        begin = time.monotonic()
        with pytest.raises(SimulatorError):
            for _ in range(50):
                env.act(Action("look around", "look around"))
                env.observe()
        assert time.monotonic() - begin < PATIENCE
        env.reset(TASK, seed=0)
        assert not any(alive(pid) for pid in pids)
        assert env.observe().rgb is not None


@pytest.mark.parametrize("hangs", [pytest.param(False, marks=pytest.mark.slow), True])
def test_nothing_is_left_of_who_was_killed(hangs: bool) -> None:
    """A program that is killed takes its Luanti and its Xvfb along, even where they hang."""
    code = (
        "import time\nfrom inhabit.envs.minedojo.luanti.world import LuantiWorld\n"
        "from inhabit.envs.minedojo.tasks.scene import MineDojoScene, as_world\n"
        "scene = MineDojoScene(generate_world_type='flat', allow_mob_spawn=False)\n"
        "world = LuantiWorld(as_world(scene, seed=0), 64, 64)\n"
        "print(world._launch.home, *world.pids, flush=True)\ntime.sleep(1000)\n"
    )
    worker = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert worker.stdout is not None
    home, *words = worker.stdout.readline().split()
    pids = [int(word) for word in words]
    assert len(pids) == 2
    for pid in pids if hangs else ():
        os.kill(pid, signal.SIGSTOP)
    os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()
    worker.stdout.close()
    wait_for(lambda: not any(map(alive, pids)) and not Path(home).exists())
