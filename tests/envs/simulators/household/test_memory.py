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
