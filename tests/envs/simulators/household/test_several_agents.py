"""Several agents in one room, through AI2-THOR's unmodified client."""

from __future__ import annotations

import math
import random
import shlex
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from ai2thor.controller import Controller

from inhabit.envs.simulators.household.launcher import executable
from inhabit.envs.simulators.household.simulator import Simulator

WAYS = ("MoveAhead", "MoveBack", "MoveLeft", "MoveRight", "RotateLeft", "RotateRight", "LookDown")
BODY = 0.2
"""Metres: an agent's radius."""


@pytest.fixture(scope="module")
def pair() -> Iterator[Controller]:
    made = Controller(
        local_executable_path=shlex.quote(str(executable())),
        x_display=":0",
        server_timeout=None,
        scene="FloorPlan301",
        width=100,
        height=100,
        agentCount=2,
        renderInstanceSegmentation=True,
    )
    yield made
    made.stop()


def apart(event: Any) -> float:
    one, other = (e.metadata["agent"]["position"] for e in event.events)
    return math.hypot(one["x"] - other["x"], one["z"] - other["z"])


@pytest.mark.parametrize("steps", [30, pytest.param(500, marks=pytest.mark.slow)])
def test_joint_steps_move_the_agent_that_is_named(pair: Controller, steps: int) -> None:
    draw = random.Random(f"{steps} joint steps")
    event = pair.reset("FloorPlan301", agentCount=2)
    assert len(event.events) == 2 and apart(event) >= 0.75
    for _ in range(steps):
        before = [e.metadata["agent"] for e in event.events]
        number, action = draw.randrange(2), draw.choice(WAYS)
        event = pair.step(action, agentId=number)
        after = [e.metadata["agent"] for e in event.events]
        assert event.metadata["agentId"] == number and event.metadata["lastAction"] == action
        assert after[1 - number] == before[1 - number]
        assert (after[number] != before[number]) == event.metadata["lastActionSuccess"]
        assert apart(event) >= 2 * BODY
        assert all(e.frame.shape == (100, 100, 3) for e in event.events)
        assert not (event.events[0].frame == event.events[1].frame).all()


def test_each_refuses_to_walk_through_the_other_and_sees_it(pair: Controller) -> None:
    event = pair.reset("FloorPlan301", agentCount=2)
    cells = pair.step("GetReachablePositions").metadata["actionReturn"]
    free = {(round(4 * c["x"]), round(4 * c["z"])): c for c in cells}
    x, z = next(cell for cell in free if all((cell[0], cell[1] + i) in free for i in range(5)))
    here, there = free[x, z], free[x, z + 3]
    pair.step("Teleport", agentId=0, position=here, rotation=0, forceAction=True)
    alone = pair.step("Pass", agentId=0).events[0].frame.copy()
    event = pair.step("Teleport", agentId=1, position=there, rotation=180, forceAction=True)
    assert (event.events[0].frame != alone).mean() > 0.05
    assert pair.step("MoveAhead", agentId=0).metadata["lastActionSuccess"]
    for number in (0, 1):
        event = pair.step("MoveAhead", agentId=number)
        assert not event.metadata["lastActionSuccess"]
        assert f"Agent {1 - number} is blocking" in event.metadata["errorMessage"]
    assert not pair.step("Teleport", agentId=0, position=there).metadata["lastActionSuccess"]


def test_what_one_holds_the_other_can_not_take(pair: Controller) -> None:
    event = pair.reset("FloorPlan301", agentCount=2)
    book = next(o["objectId"] for o in event.metadata["objects"] if o["objectType"] == "Book")
    take = {"action": "PickupObject", "objectId": book, "forceAction": True}
    event = pair.step(dict(take, agentId=1))
    assert [len(e.metadata["inventoryObjects"]) for e in event.events] == [0, 1]
    refused = pair.step(dict(take, agentId=0))
    assert "another agent" in refused.metadata["errorMessage"]
    assert pair.step("DropHandObject", agentId=1).metadata["lastActionSuccess"]
    assert pair.step(dict(take, agentId=0)).metadata["lastActionSuccess"]


def test_an_agent_that_is_not_there_is_refused() -> None:
    simulator = Simulator("FloorPlan301", width=32, height=32)
    before = simulator.agent
    result = simulator.act({"action": "MoveAhead", "agentId": 1})
    assert not result.success and result.code == "InvalidArgument"
    assert simulator.agent == before


def test_the_second_of_two_can_ask_for_one() -> None:
    simulator = Simulator("FloorPlan301", width=64, height=64)
    assert simulator.act({"action": "Initialize", "agentCount": 2}).success
    assert simulator.act({"action": "Initialize", "agentCount": 1, "agentId": 1}).success
    assert simulator.agents == 1 and simulator.agent.held is None


@pytest.mark.slow
def test_one_agent_alone_is_drawn_as_ever() -> None:
    """Also after two have been in the same room."""
    simulator = Simulator("FloorPlan301", width=64, height=64)
    assert simulator.act({"action": "Initialize"}).success
    before = simulator.frame()
    assert simulator.act({"action": "Initialize", "agentCount": 2}).success
    simulator.frame()
    assert simulator.act({"action": "Reset", "sceneName": "FloorPlan301"}).success
    after = simulator.frame()
    assert before.rgb is not None and after.rgb is not None
    assert np.array_equal(before.rgb, after.rgb) and np.array_equal(before.ids, after.ids)
    assert before.names == after.names


@pytest.mark.parametrize(
    ("kind", "request_"),
    [
        ("Mug", {"action": "BreakObject"}),
        ("Apple", {"action": "SliceObject"}),
        ("Pan", {"action": "PushObject"}),
        ("Plate", {"action": "PlaceObjectAtPoint", "position": {"x": 0.0, "y": 0.2, "z": 1.0}}),
        ("Bowl", {"action": "TeleportObject", "position": {"y": 1.0}, "rotation": {"y": 0.0}}),
    ],
)
def test_what_one_holds_the_other_can_not_take_or_break(
    kind: str, request_: dict[str, object]
) -> None:
    simulator = Simulator("FloorPlan1", width=64, height=64)
    assert simulator.act({"action": "Initialize", "agentCount": 2}).success
    thing = next(id for id, one in simulator.things.items() if one.kind == kind)
    taken = {"action": "PickupObject", "agentId": 1, "objectId": thing, "forceAction": True}
    assert simulator.act(taken).success
    answer = simulator.act({**request_, "objectId": thing, "forceAction": True})
    assert not answer.success and "hand" in answer.message
    assert simulator.things[thing]["isPickedUp"]
    assert simulator.act({"action": "DropHandObject", "agentId": 1}).success


def test_an_egg_in_a_hand_stays_whole_when_all_eggs_break() -> None:
    simulator = Simulator("FloorPlan1", width=64, height=64)
    egg = next(id for id, one in simulator.things.items() if one.kind == "Egg")
    assert simulator.act({"action": "PickupObject", "objectId": egg, "forceAction": True}).success
    states = {"stateChange": "breakable", "isBroken": True}
    assert simulator.act({"action": "SetObjectStates", "setObjectStates": states}).success
    assert not simulator.things[egg]["isBroken"] and simulator.things[egg]["isPickedUp"]


def test_things_fall_where_nobody_can_stand() -> None:
    simulator = Simulator("FloorPlan1", width=64, height=64)
    ids = {one.kind: id for id, one in simulator.things.items()}
    take = {"action": "PickupObject", "objectId": ids["Apple"], "forceAction": True}
    grow = {"action": "ScaleObject", "objectId": ids["Fridge"], "scale": 30.0, "forceAction": True}
    for request in (take, grow, {"action": "DropHandObject"}):
        assert simulator.act(request).success
