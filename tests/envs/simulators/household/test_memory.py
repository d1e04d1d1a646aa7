"""A thousand steps leave memory where it was."""

from __future__ import annotations

import psutil
import pytest

from inhabit.envs.simulators.household.simulator import Simulator
from inhabit.envs.simulators.household.wire.packing import MessagePack
from inhabit.envs.simulators.household.wire.session import ClientSession

TURN = ("RotateRight", "MoveAhead", "LookDown", "RotateRight", "MoveAhead", "LookUp")


@pytest.mark.slow
def test_nothing_grows_with_the_number_of_steps() -> None:
    simulator = Simulator("FloorPlan1", width=100, height=100)
    session = ClientSession(simulator, MessagePack())
    session.answer({"action": "Initialize", "renderInstanceSegmentation": True, "sequenceId": 0})
    drawer = next(id for id, thing in simulator.things.items() if thing.kind == "Drawer")

    def walk(steps: int) -> int:
        for i in range(steps):
            action = {"action": TURN[i % len(TURN)], "sequenceId": i}
            if i % 10 == 0:
                name = "CloseObject" if simulator.things[drawer]["isOpen"] else "OpenObject"
                action |= {"action": name, "objectId": drawer, "forceAction": True}
            session.answer(action)
        return psutil.Process().memory_info().rss

    settled = walk(200)
    assert walk(1000) - settled < 6_000_000


def test_meshes_of_an_episode_end_with_it() -> None:
    simulator = Simulator("FloorPlan1", width=60, height=60)
    fridge = next(id for id, thing in simulator.things.items() if thing.kind == "Fridge")
    open_ = {"action": "OpenObject", "objectId": fridge, "forceAction": True}
    spawn = {"action": "SpawnAsset", "assetId": "Mug_1", "position": {"x": 0.0, "y": 1.5, "z": 0.0}}

    def play(episode: int) -> int:
        for i in range(20):
            assert simulator.act({**open_, "openness": (episode * 20 + i + 1) / 100}).success
            assert simulator.act({**spawn, "generatedId": f"mug {episode} {i}"}).success
            simulator.frame(rgb=False)
            assert simulator.act({**open_, "action": "CloseObject"}).success
        assert simulator.act({"action": "Reset", "sceneName": "FloorPlan1"}).success
        simulator.frame(rgb=False)
        picture = simulator._house.picture
        return len(picture._common) + len(picture._meshes)

    assert play(0) == play(1)
