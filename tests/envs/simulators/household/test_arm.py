"""The agent with an arm, as ManipulaTHOR's programs use it.

The rules are those of ArmAgentController.cs and ArmController.cs of AI2-THOR 5.0.0.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from inhabit.envs.simulators.household.rooms.user_rooms import Catalog
from inhabit.envs.simulators.household.simulator import Simulator
from inhabit.envs.simulators.household.wire.packing import Json
from inhabit.envs.simulators.household.wire.session import ClientSession

LOWEST, HIGHEST = 0.450998873, 1.8009994
"""Heights of the arm's base in a room whose agent is at 0.901, as ManipulaTHOR's programs have
them."""
ZERO = {"x": 0.0, "y": 0.0, "z": 0.0}


class Program:
    """A program that speaks with the simulator as AI2-THOR's client does."""

    def __init__(self, scene: str = "FloorPlan1", mode: str = "arm") -> None:
        self.simulator = Simulator(
            scene, width=64, height=64, catalog=Catalog(as_thor=True), release="5.0.0"
        )
        self._session = ClientSession(self.simulator, Json(), pictures=False)
        self.step("Initialize", agentMode=mode, massThreshold=None)

    def step(self, action: str, **arguments: Any) -> Mapping[str, Any]:
        """The metadata after an action."""
        request = {"action": action, "sequenceId": 1, **arguments}
        metadata: Mapping[str, Any] = json.loads(self._session.answer(request).metadata)
        return metadata["agents"][0]  # type: ignore[no-any-return]

    def arm(self, action: str, **arguments: Any) -> Mapping[str, Any]:
        """The arm after an action that must succeed."""
        metadata = self.step(action, **arguments)
        assert metadata["lastActionSuccess"], metadata["errorMessage"]
        return metadata["arm"]  # type: ignore[no-any-return]

    def before(self, id: str) -> Mapping[str, Any]:
        """Stand near a thing, the hand high over it, and reach for it. Returns the arm."""
        thing = next(o for o in self.step("Pass")["objects"] if o["objectId"] == id)
        at = thing["axisAlignedBoundingBox"]["center"]
        cells = self.step("GetReachablePositions")["actionReturn"]
        cell = min(cells, key=lambda c: math.hypot(c["x"] - at["x"], c["z"] - at["z"]))
        turn = math.degrees(math.atan2(at["x"] - cell["x"], at["z"] - cell["z"]))
        self.step("TeleportFull", **cell, rotation=turn, horizon=30, standing=True)
        self.arm("MoveArm", position={"x": 0.0, "y": 0.4, "z": 0.3})
        height = (at["y"] + 0.3 - LOWEST) / (HIGHEST - LOWEST)
        self.arm("MoveArmBase", y=min(height, 1.0))
        return self.arm("MoveArm", position=at, coordinateSpace="world", returnToStart=False)


@pytest.fixture
def program() -> Program:
    return Program()


def test_metadata_has_what_programs_read(program: Program) -> None:
    arm = program.arm("Pass")
    assert [joint["name"] for joint in arm["joints"]] == [f"robot_arm_{i}_jnt" for i in range(1, 5)]
    assert arm["joints"][0]["rootRelativePosition"] == ZERO
    wrist = arm["joints"][-1]
    assert set(wrist["rotation"]) == {*"xyzw"}
    assert arm["heldObjects"] == arm["pickupableObjects"] == arm["touchedNotHeldObjects"] == []
    center = [arm["handSphereCenter"][k] for k in "xyz"]
    place = [wrist["position"][k] for k in "xyz"]
    assert math.dist(center, place) == pytest.approx(0.01 + arm["handSphereRadius"])
    assert Program(mode="default").step("Pass")["arm"] is None


def test_the_base_moves_between_thors_heights(program: Program) -> None:
    for share in (0.0, 0.5, 1.0, 0.2):
        arm = program.arm("MoveArmBase", y=share)
        height = arm["joints"][0]["position"]["y"]
        assert height == pytest.approx(LOWEST + share * (HIGHEST - LOWEST), abs=1e-3)
    assert program.arm("MoveArmBaseUp", distance=5.0)["joints"][0]["position"]["y"] == (
        pytest.approx(HIGHEST, abs=1e-3)
    )
    low = program.arm("MoveArmBaseDown", distance=0.3)["joints"][0]["position"]["y"]
    assert low == pytest.approx(HIGHEST - 0.3, abs=1e-3)
    for wrong in (-0.1, 1.1):
        assert "[0, 1]" in program.step("MoveArmBase", y=wrong)["errorMessage"]


def test_the_wrist_goes_where_it_is_told_in_each_space(program: Program) -> None:
    program.arm("MoveArmBase", y=0.8)
    goal = {"x": 0.1, "y": 0.05, "z": 0.45}
    wrist = program.arm("MoveArm", position=goal)["joints"][-1]
    assert wrist["rootRelativePosition"] == pytest.approx(goal)
    there = {**wrist["position"], "y": wrist["position"]["y"] + 0.1}
    wrist = program.arm("MoveArm", position=there, coordinateSpace="world")["joints"][-1]
    assert wrist["position"] == pytest.approx(there)
    program.arm("RotateWristRelative", yaw=90.0)
    ahead = {**ZERO, "z": 0.1}
    wrist = program.arm("MoveArm", position=ahead, coordinateSpace="wrist")["joints"][-1]
    assert wrist["rootRelativePosition"] == pytest.approx({"x": 0.2, "y": 0.15, "z": 0.45})
    way = {"x": -0.2, "y": 0.0, "z": 0.0}
    wrist = program.arm("MoveArmRelative", offset=way)["joints"][-1]
    assert wrist["rootRelativePosition"] == pytest.approx({"x": 0.0, "y": 0.15, "z": 0.45})


@pytest.mark.parametrize("far", [{"x": 0.0, "y": 0.0, "z": -0.3}, {"x": 0.0, "y": 2.0, "z": 0.3}])
def test_the_wrist_stays_in_reach(program: Program, far: Mapping[str, float]) -> None:
    program.arm("MoveArmBase", y=1.0)
    before = program.arm("Pass")
    refused = program.step("MoveArm", position=far, restrictMovement=True)
    assert "behind shoulder" in refused["errorMessage"] and refused["arm"] == before
    joints = program.arm("MoveArm", position=far)["joints"]
    shoulder, wrist = (joints[i]["rootRelativePosition"] for i in (1, 3))
    assert wrist["z"] > shoulder["z"]
    assert math.dist([*shoulder.values()], [*wrist.values()]) <= 0.6325 + 1e-6


def test_links_keep_their_length(program: Program) -> None:
    draw = random.Random("an arm's poses")
    program.arm("MoveArmBase", y=0.9)
    for _ in range(20):
        goal = {axis: draw.uniform(-0.6, 0.8) for axis in "xyz"}
        joints = program.step("MoveArm", position=goal)["arm"]["joints"]
        places = [[*joint["position"].values()] for joint in joints]
        lengths = [math.dist(a, b) for a, b in pairwise(places[1:])]
        assert lengths == pytest.approx([0.6325 / 2] * 2, abs=1e-6)


def test_it_picks_up_what_its_hand_touches_carries_it_and_lets_it_go(program: Program) -> None:
    id = next(i for i, t in program.simulator.things.items() if t.kind == "Apple")
    arm = program.before(id)
    assert id in arm["pickupableObjects"] and id in arm["touchedNotHeldObjects"]
    arm = program.arm("PickupObject", objectIdCandidates=[id])
    assert arm["heldObjects"] == [id] and id not in arm["touchedNotHeldObjects"]
    before, was = program.simulator.things[id].box.center, arm["joints"][-1]["position"]
    arm = program.arm("MoveArm", position={"x": 0.0, "y": 0.5, "z": 0.3})
    moved = program.simulator.things[id].box.center - before
    now = arm["joints"][-1]["position"]
    assert moved == pytest.approx([now[k] - was[k] for k in "xyz"])
    metadata = program.step("ReleaseObject")
    apple = next(o for o in metadata["objects"] if o["objectId"] == id)
    assert metadata["arm"]["heldObjects"] == [] and apple["parentReceptacles"]
    assert apple["isMoving"] and not metadata["isSceneAtRest"]
    metadata = program.step("Pass")
    assert metadata["isSceneAtRest"] and not any(o["isMoving"] for o in metadata["objects"])


def test_what_it_holds_is_there_after_poses_of_other_things(program: Program) -> None:
    ids = {t.kind: i for i, t in program.simulator.things.items()}
    program.before(ids["Apple"])
    program.arm("PickupObject", objectIdCandidates=[ids["Apple"]])
    mug = program.simulator.things[ids["Mug"]]
    pose = {"objectName": mug["name"], "position": mug["position"], "rotation": mug["rotation"]}
    assert program.arm("SetObjectPoses", objectPoses=[pose])["heldObjects"] == [ids["Apple"]]
    assert ids["Apple"] in program.simulator.things
    assert ids["Bread"] not in program.simulator.things


def test_what_is_held_turns_with_the_hand(program: Program) -> None:
    id = next(i for i, t in program.simulator.things.items() if t.kind == "Apple")
    program.before(id)
    program.arm("PickupObject", objectIdCandidates=[id])
    program.arm("MoveArm", position={"x": 0.0, "y": 0.5, "z": 0.3})
    axes = program.simulator.things[id].box.axes
    program.arm("RotateWristRelative", pitch=20.0, yaw=30.0, roll=10.0)
    turned = program.simulator.things[id].box.axes
    assert not np.allclose(axes, turned)
    assert np.allclose(turned.T @ turned, np.eye(3), atol=1e-9)


def test_furniture_stops_it(program: Program) -> None:
    fridge = next(t for t in program.simulator.things.values() if t.kind == "Fridge")
    ahead = fridge.box.center
    cells = program.step("GetReachablePositions")["actionReturn"]
    cell = min(cells, key=lambda c: math.hypot(c["x"] - ahead[0], c["z"] - ahead[2]))
    turn = math.degrees(math.atan2(ahead[0] - cell["x"], ahead[2] - cell["z"]))
    program.step("TeleportFull", **cell, rotation=turn, horizon=0, standing=True)
    before = program.arm("MoveArm", position={"x": 0.0, "y": 0.0, "z": 0.21})
    goal = {"x": 0.0, "y": 0.0, "z": 0.8}
    stopped = program.step("MoveArm", position=goal)
    assert "Collided" in stopped["errorMessage"] and fridge["name"] in stopped["errorMessage"]
    assert stopped["arm"] == before
    nearer = program.step("MoveArm", position=goal, returnToStart=False)
    assert not nearer["lastActionSuccess"]
    wrist = nearer["arm"]["joints"][-1]["rootRelativePosition"]
    assert 0.21 < wrist["z"] < 0.8


@pytest.mark.slow
def test_the_agent_moves_along_its_own_axes_off_the_grid(program: Program) -> None:
    draw = random.Random("an arm's walk")
    went = 0
    for _ in range(40):
        before = program.step("Pass")["agent"]
        ahead, right = draw.uniform(-0.2, 0.2), draw.uniform(-0.2, 0.2)
        metadata = program.step("MoveAgent", ahead=ahead, right=right, speed=1.0)
        if metadata["lastActionSuccess"]:
            went += 1
            turn = math.radians(before["rotation"]["y"])
            x = before["position"]["x"] + ahead * math.sin(turn) + right * math.cos(turn)
            z = before["position"]["z"] + ahead * math.cos(turn) - right * math.sin(turn)
            assert metadata["agent"]["position"]["x"] == pytest.approx(x)
            assert metadata["agent"]["position"]["z"] == pytest.approx(z)
        else:
            assert metadata["agent"] == before
        program.step("RotateAgent", degrees=draw.uniform(-90.0, 90.0))
    assert went > 5
    assert "ahead or right" in program.step("MoveAgent")["errorMessage"]


def test_it_has_actions_of_its_own(program: Program) -> None:
    other = Program(mode="default")
    for action, arguments in (("MoveArm", {"position": ZERO}), ("ReleaseObject", {})):
        refused = other.step(action, **arguments)
        assert 'agentMode="arm"' in refused["errorMessage"] and refused["errorCode"] is None
    refused = program.step("PickupObject", objectId="Apple|0|0|0")
    assert "arm agent" in refused["errorMessage"]
    assert "No objects" in program.step("PickupObject", objectIdCandidates=[])["errorMessage"]
    assert "0.5m" in program.step("SetHandSphereRadius", radius=0.6)["errorMessage"]
    assert program.arm("SetHandSphereRadius", radius=0.1)["handSphereRadius"] == 0.1


@pytest.mark.parametrize("mode", ["drone", "stretch", "fpin"])
def test_other_agents_are_refused_in_a_sentence(mode: str) -> None:
    metadata = Program(mode="default").step("Initialize", agentMode=mode)
    assert not metadata["lastActionSuccess"]
    assert f"agentMode '{mode}' is not simulated" in metadata["errorMessage"]


def test_an_arm_is_seen() -> None:
    program = Program()
    program.step("Teleport", horizon=40)
    with_arm = program.simulator.frame().ids
    plain = Program(mode="default")
    plain.step("Teleport", horizon=40)
    assert (with_arm != plain.simulator.frame().ids).any()
