"""Rooms side by side in one process see what each would see alone."""

from __future__ import annotations

import numpy as np
import pytest
from sampling import every

from inhabit.envs.core import SceneError
from inhabit.envs.simulators.household.batch import Batch
from inhabit.envs.simulators.household.rooms.shared import Shared
from inhabit.envs.simulators.household.simulator import Simulator
from inhabit.envs.simulators.render.stage import Frame

SCENES = ("FloorPlan2", "FloorPlan205", "FloorPlan2", "FloorPlan318", "FloorPlan410")
WALK = ("RotateRight", "MoveAhead", "LookDown", "RotateLeft")
SIZE = {"width": 96, "height": 84}
FORCED = {"forceAction": True}


def _same(one: Frame, other: Frame) -> bool:
    assert one.rgb is not None and other.rgb is not None
    return (
        one.names == other.names
        and np.array_equal(one.rgb, other.rgb)
        and np.array_equal(one.depth, other.depth)
        and np.array_equal(one.ids, other.ids)
    )


def test_a_batch_sees_what_each_simulator_sees_alone() -> None:
    alone = [Simulator(scene, **SIZE) for scene in SCENES]
    for simulator in alone:
        simulator.act({"action": "Initialize", "gridSize": 0.25})
    with Batch(SCENES, threads=4, gridSize=0.25, **SIZE) as batch:
        for step, action in enumerate(WALK):
            # Each agent does something else.
            requests = [{"action": WALK[(step + i) % len(WALK)]} for i in range(len(SCENES))]
            assert batch.act(requests) == [s.act(r) for s, r in zip(alone, requests, strict=True)]
            for seen, simulator in zip(batch.observe(), alone, strict=True):
                assert _same(seen, simulator.frame()), action


def test_what_one_does_reaches_no_other() -> None:
    with Batch(("FloorPlan2", "FloorPlan2"), **SIZE) as batch:
        first = batch.observe()
        assert _same(*first)
        fridge = next(t.id for t in batch.simulators[0].things.values() if t.kind == "Fridge")
        opening = {"action": "OpenObject", "objectId": fridge, **FORCED}
        result, nothing = batch.act([opening, None])
        assert result is not None and result.success and nothing is None
        assert _same(batch.observe()[1], first[1])
        assert batch.simulators[0].things[fridge]["isOpen"]
        assert not batch.simulators[1].things[fridge]["isOpen"]
        batch.reset(["FloorPlan2", None])
        assert _same(batch.observe()[0], first[0])


def test_errors_name_what_is_wrong() -> None:
    with Batch(("FloorPlan2", "FloorPlan205"), **SIZE) as batch:
        with pytest.raises(SceneError, match="FloorPlan999"):
            batch.reset(["FloorPlan999", "FloorPlan318"])
        assert batch.simulators[1].scene == "FloorPlan318_physics"
        with pytest.raises(ValueError, match="Expected 2 entries; got 1"):
            batch.act([None])
    with pytest.raises(SceneError, match="gridSize"):
        Batch(("FloorPlan2",), gridSize=-1, **SIZE)


@pytest.mark.parametrize("scene", every(2, ["FloorPlan2", "FloorPlan205"]))
def test_a_room_loaded_again_looks_like_a_new_one(scene: str) -> None:
    """Whatever was done in it before, its furniture moved, its colours and light changed."""
    shared = Shared()
    used = Simulator(scene, shared=shared, **SIZE)
    for thing in list(used.things.values()):
        used.act({"action": "OpenObject", "objectId": thing.id, **FORCED})
        if thing.kind in ("CounterTop", "Shelf", "ShelvingUnit", "Sofa", "TVStand", "Window"):
            place = {key: value + 0.3 for key, value in thing["position"].items()}
            posed = {"objectName": thing["name"], "position": place, "rotation": thing["rotation"]}
            used.act({"action": "SetObjectPoses", "objectPoses": [posed]})
            used.frame()
    used.act({"action": "RandomizeMaterials"})
    used.act({"action": "RandomizeLighting"})
    used.frame()
    for simulator in (used, Simulator(scene, shared=shared, **SIZE)):
        simulator.act({"action": "Reset", "sceneName": scene})
        new = Simulator(scene, **SIZE)
        for _ in range(4):
            assert _same(simulator.frame(), new.frame())
            for each in (simulator, new):
                each.act({"action": "RotateRight", "degrees": 90})
