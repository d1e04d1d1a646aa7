"""The household without a wire shows what it shows through AI2-THOR's client, to the byte."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from gc import collect
from typing import Any
from weakref import ref

import numpy as np
import pytest

from inhabit.envs.alfred.env import Alfred
from inhabit.envs.alfred.tasks.sampling import sample
from inhabit.envs.alfred.thor.direct import Direct
from inhabit.envs.alfred.world.settings import AlfredSettings
from inhabit.envs.core import Observation, SceneError
from inhabit.envs.simulators.household.rooms.shared import Shared
from inhabit.envs.simulators.household.rooms.user_rooms import Catalog


def _same(one: Observation, other: Observation) -> bool:
    assert one.rgb is not None and other.rgb is not None
    assert one.depth is not None and other.depth is not None
    assert one.instances is not None and other.instances is not None
    return (
        one.text == other.text
        and one.names == other.names
        and np.array_equal(one.rgb, other.rgb)
        and np.array_equal(one.depth, other.depth)
        and np.array_equal(one.instances, other.instances)
    )


@pytest.mark.parametrize(("number", "most"), [(1, 2), pytest.param(4, 99, marks=pytest.mark.slow)])
def test_an_episode_is_the_same_without_a_wire(number: int, most: int) -> None:
    task = list(sample(number + 1, 23))[number]
    told = {"depth": True, "instances": True, "width": 100, "height": 75}
    with (
        Alfred(settings=AlfredSettings(**told)) as through_pipes,
        Alfred(settings=AlfredSettings(wire="none", **told)) as direct,
    ):
        for env in (through_pipes, direct):
            env.reset(task, seed=3)
        met, total = direct.progress()
        while met < total and (most := most - 1) >= 0:
            assert _same(direct.observe(), through_pipes.observe())
            assert direct.things() == through_pipes.things()
            assert direct.actions() == through_pipes.actions()
            assert direct.best_actions() == through_pipes.best_actions()
            plan = direct.plan()
            assert plan and plan == through_pipes.plan()
            with direct.fork() as twin, through_pipes.fork() as other:
                assert twin.act(plan[0]) == other.act(plan[0])
                assert twin.digest() == other.digest()
            outcome = direct.act(plan[0])
            assert outcome == through_pipes.act(plan[0])
            met = outcome.met
        assert _same(direct.observe(), through_pipes.observe())


def test_what_is_read_late_is_of_its_own_moment() -> None:
    """Nothing is worked out before it is read, and the room may have changed by then."""
    arguments: dict[str, Any] = {"fieldOfView": 90, "visibilityDistance": 9}
    late, early = (Direct(scene="FloorPlan7", width=120, height=90, **arguments) for _ in range(2))
    turned = late.step("RotateRight", degrees=90).metadata["objects"]
    shown = next(o["objectId"] for o in turned if o["openable"] and o["visible"])
    late.step("RotateLeft", degrees=90)
    steps = [
        ("RotateRight", {"degrees": 90}),
        ("OpenObject", {"objectId": shown, "forceAction": True}),
        ("LookDown", {"degrees": 30}),
    ]
    frames, records = [], []
    for action, arguments in steps:
        seen = early.step(action, **arguments)
        frames.append(seen.frame)
        records.append([dict(record) for record in seen.metadata["objects"]])
    seens = [late.step(action, **arguments) for action, arguments in steps]
    for i in (1, 0, 2):
        assert np.array_equal(seens[i].frame, frames[i])
        assert [dict(record) for record in seens[i].metadata["objects"]] == records[i]
    assert not np.array_equal(frames[0], frames[1])
    assert late.step("Pass").metadata["agent"] == early.step("Pass").metadata["agent"]


def test_simulators_of_one_process_share_rooms_and_change_only_their_own() -> None:
    one, other = (Direct(scene="FloorPlan7", width=96, height=96, fieldOfView=90) for _ in range(2))
    seen = one.step("Pass")
    begun, objects = seen.frame.copy(), seen.metadata["objects"]
    fridge = next(o["objectId"] for o in objects if o["objectType"] == "Fridge")
    assert other.step("OpenObject", objectId=fridge, forceAction=True).metadata["lastActionSuccess"]
    assert other.step("RotateRight", degrees=90).frame is not None
    again = one.step("Pass")
    assert np.array_equal(again.frame, begun)
    assert [dict(o) for o in again.metadata["objects"]] == [dict(o) for o in objects]
    with ThreadPoolExecutor(4) as pool:
        rooms = ("FloorPlan301", "FloorPlan302")
        frames = list(pool.map(lambda s, room: s.reset(room).frame.copy(), (one, other), rooms))
    alone = [Direct(scene=room, width=96, height=96, fieldOfView=90) for room in rooms]
    assert all(np.array_equal(a, b.last_event.frame) for a, b in zip(frames, alone, strict=True))


def test_rooms_are_kept_while_a_simulator_is_alive() -> None:
    kept = Shared.of(Catalog(recorded=True))
    assert Shared.of(Catalog(recorded=True)) is kept
    assert Shared.of(Catalog()) is not kept
    gone = ref(kept)
    del kept
    collect()
    assert gone() is None


def test_what_is_read_after_another_room_was_entered_changes_nothing() -> None:
    direct = Direct(scene="FloorPlan7", width=96, height=96, fieldOfView=90)
    before = direct.step("RotateRight", degrees=90)
    kept = direct.step("Snapshot").metadata["actionReturn"]
    direct.step("LookDown", degrees=30)
    last = direct.step("RotateRight", degrees=90)
    turned = last.frame
    other = direct.reset("FloorPlan301")
    assert not np.array_equal(before.frame, turned)
    assert np.array_equal(last.frame, turned)
    assert direct.step("Pass").metadata["sceneName"] == "FloorPlan301_physics"
    assert np.array_equal(direct.step("Pass").frame, other.frame)
    assert np.array_equal(direct.step("Restore", snapshot=kept).frame, before.frame)


def test_what_there_is_not_is_refused() -> None:
    with pytest.raises(SceneError, match="FloorPlan9999"):
        Direct(scene="FloorPlan9999", width=64, height=64)
    direct = Direct(scene="FloorPlan1", width=64, height=64)
    with pytest.raises(ValueError, match="FloorPlan9999"):
        direct.reset("FloorPlan9999")
    seen = direct.step("Levitate")
    assert not seen.metadata["lastActionSuccess"]
    assert seen.metadata["errorCode"] == "InvalidAction"


def test_a_film_changes_nothing_of_what_comes_of_actions() -> None:
    task = list(sample(2, 23))[1]
    quick = AlfredSettings(wire="none", width=96, height=96)
    with (
        Alfred(settings=quick) as env,
        Alfred(settings=quick.model_copy(update={"clips": True, "film": "whole"})) as filmed,
    ):
        for each in (env, filmed):
            each.reset(task, seed=3)
        done = {"look around": env.parse("look around")}
        done |= {action.text: action for action in env.vocabulary()[::6]}
        for action in done.values():
            assert action is not None
            assert filmed.act(action) == env.act(action)
        assert filmed.digest() == env.digest()
