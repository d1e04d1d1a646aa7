"""What the agent sees and reaches, and where it can walk."""

import hashlib
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sampling import every
from waiting import PATIENCE

from inhabit.envs.simulators.household.simulator import Simulator

FRAMES = Path(os.environ.get("INHABIT_DATA", "../shared/data")) / "thor_frames"


@pytest.fixture
def simulator() -> Simulator:
    return Simulator("FloorPlan1", width=300, height=300)


def go(simulator: Simulator, pose: dict[str, float]) -> bool:
    place = {axis: pose[axis] for axis in "xyz"}
    rest = {key: pose[key] for key in ("rotation", "horizon", "standing")}
    return simulator.act({"action": "TeleportFull", "position": place, **rest}).success


def test_four_steps_and_turns_lead_back(simulator: Simulator) -> None:
    cells = {(p["x"], p["z"]) for p in simulator.act({"action": "GetReachablePositions"}).value}
    square = next(
        (x, z)
        for x, z in sorted(cells)
        if {(x + 0.25, z), (x, z + 0.25), (x + 0.25, z + 0.25)} <= cells
    )
    start = {
        "x": square[0],
        "y": 0.9,
        "z": square[1],
        "rotation": 0,
        "horizon": 0,
        "standing": True,
    }
    assert go(simulator, start)
    before = simulator.agent
    for _ in range(4):
        assert simulator.act({"action": "MoveAhead"}).success
        assert simulator.act({"action": "RotateRight"}).success
    assert simulator.agent == before
    assert simulator.act({"action": "MoveRight", "moveMagnitude": 0.25}).success
    assert (simulator.agent.x, simulator.agent.z) == (square[0] + 0.25, square[1])
    assert simulator.act({"action": "MoveLeft"}).success
    assert simulator.agent == before


def test_walls_and_furniture_stop_the_agent_where_the_grid_ends(simulator: Simulator) -> None:
    cells = {(p["x"], p["z"]) for p in simulator.act({"action": "GetReachablePositions"}).value}
    blocked = 0
    for x, z in sorted(cells)[::3]:
        pose = {"x": x, "y": 0, "z": z, "rotation": 90, "horizon": 0, "standing": True}
        assert go(simulator, pose)
        reply = simulator.act({"action": "MoveAhead"})
        assert reply.success == ((x + 0.25, z) in cells)
        if not reply.success:
            blocked += 1
            assert "is blocking Agent 0 from moving by (0.2500, 0.0000, " in reply.message
            assert (simulator.agent.x, simulator.agent.z) == (x, z)
    assert blocked > 0


def test_nobody_steps_over_what_is_in_the_way(simulator: Simulator) -> None:
    cells = {(p["x"], p["z"]) for p in simulator.act({"action": "GetReachablePositions"}).value}
    x, z = next(
        (x, z)
        for x, z in sorted(cells)
        if (x + 0.25, z) not in cells and any((x + k / 4, z) in cells for k in range(2, 8))
    )
    far = next(k / 4 for k in range(2, 8) if (x + k / 4, z) in cells)
    assert go(simulator, {"x": x, "y": 0, "z": z, "rotation": 90, "horizon": 0, "standing": True})
    assert not simulator.act({"action": "MoveAhead", "moveMagnitude": far}).success
    assert simulator.act({"action": "MoveAhead", "moveMagnitude": far, "forceAction": True}).success


def test_the_head_has_limits(simulator: Simulator) -> None:
    for action, code, limit in (
        ("LookDown", "LookDownCantExceedMin", 60.0),
        ("LookUp", "LookUpCantExceedMax", -30.0),
    ):
        replies = [simulator.act({"action": action}) for _ in range(5)]
        assert not replies[-1].success and replies[-1].code == code
        assert simulator.agent.horizon == limit
        assert simulator.act({"action": action, "degrees": 0}).success


def test_crouching_lowers_the_eye(simulator: Simulator) -> None:
    high = simulator.agent.eye[1]
    assert simulator.act({"action": "Crouch"}).success
    assert simulator.agent.eye[1] == pytest.approx(high - 0.675)
    assert not simulator.act({"action": "Crouch"}).success
    assert simulator.act({"action": "Stand"}).success
    assert not simulator.act({"action": "Stand"}).success


def test_teleporting_needs_a_place_to_stand(simulator: Simulator) -> None:
    fridge = next(t for t in simulator.things.values() if t.kind == "Fridge")
    inside = {"action": "Teleport", "position": fridge["position"]}
    assert "is in the way" in simulator.act(inside).message
    assert simulator.act({**inside, "forceAction": True}).success
    reply = simulator.act({"action": "Teleport", "horizon": 80})
    assert not reply.success and reply.code == ""  # THOR fails it; its client does not raise


def test_the_eye_is_where_thors_is() -> None:
    simulator = Simulator("FloorPlan3")
    assert simulator.agent.y == pytest.approx(1.124, abs=0.002)  # ALFRED's init_action.y
    assert simulator.agent.eye[1] == pytest.approx(1.124 + 0.675, abs=0.002)


def test_visible_means_seen_and_in_reach(simulator: Simulator) -> None:
    for _ in range(4):
        assert simulator.act({"action": "RotateRight"}).success
        frame, agent = simulator.frame(), simulator.agent
        seen = {frame.names[i] for i in np.unique(frame.ids) if i >= 0}
        for name, sight in simulator.visibility().items():
            near = simulator.things[name].box.distance_from_axis(agent.x, agent.z) <= 1.5
            assert sight.visible == (name in seen and near)
            assert sight.interactable <= sight.visible


def test_what_is_shut_away_is_not_seen() -> None:
    simulator = Simulator("FloorPlan1")
    fridge = next(t for t in simulator.things.values() if t.kind == "Fridge")
    inner = fridge.contents[0]
    assert inner not in simulator.frame().names
    simulator.act({"action": "OpenObject", "objectId": fridge.id, "forceAction": True})
    poses = simulator.act({"action": "GetInteractablePoses", "objectId": inner}).value
    assert poses
    assert go(simulator, poses[0])
    assert simulator.visibility()[inner].visible
    assert simulator.act({"action": "PickupObject", "objectId": inner}).success


@pytest.mark.parametrize(
    "scene", every(2, ["FloorPlan5", "FloorPlan212", "FloorPlan318", "FloorPlan424"])
)
def test_interactable_poses_are(scene: str) -> None:
    simulator = Simulator(scene)
    assert simulator.act({"action": "Initialize", "fieldOfView": 60}).success
    wanted = [t.id for t in simulator.things.values() if t["receptacle"] or t["toggleable"]]
    found = 0
    for name in wanted[::3]:
        request = {"action": "GetInteractablePoses", "objectId": name, "maxPoses": 40}
        poses = simulator.act(request).value
        assert len(poses) <= 40
        for pose in poses[::13]:
            assert go(simulator, pose)
            assert simulator.visibility()[name].visible, (name, pose)
            found += 1
    assert found > 20


def test_asked_poses_are_of_what_was_asked() -> None:
    simulator = Simulator("FloorPlan1")
    fridge = next(t.id for t in simulator.things.values() if t.kind == "Fridge")
    request = {"action": "GetInteractablePoses", "objectId": fridge}
    everything = simulator.act(request).value
    place = {axis: everything[0][axis] for axis in "xyz"}
    some = simulator.act(
        {**request, "positions": [place], "horizons": [0], "rotations": [270], "standings": [True]}
    ).value
    assert all(pose["horizon"] == 0 and pose["rotation"] == 270 for pose in some)
    assert all({a: pose[a] for a in "xyz"} == place for pose in some)
    assert "maxPoses" in simulator.act({**request, "maxPoses": 0}).message
    assert simulator.act({**request, "positions": []}).value == []


def test_a_shortest_path_is_walked_step_by_step() -> None:
    simulator = Simulator("FloorPlan10")
    reply = simulator.act({"action": "GetShortestPath", "objectType": "Fridge"})
    corners = reply.value["corners"]
    assert (corners[0]["x"], corners[0]["z"]) == (simulator.agent.x, simulator.agent.z)
    for a, b in itertools.pairwise(corners):
        assert abs(a["x"] - b["x"]) + abs(a["z"] - b["z"]) == pytest.approx(0.25)
    fridge = next(t for t in simulator.things.values() if t.kind == "Fridge")
    assert fridge.box.distance_from_axis(corners[-1]["x"], corners[-1]["z"]) <= 1.5
    assert not simulator.act({"action": "GetShortestPath", "objectType": "Unicorn"}).success


WALK = """
import hashlib, json, sys
from inhabit.envs.simulators.household.simulator import Simulator
simulator = Simulator("FloorPlan220", width=100, height=80, seed=3)
digest = hashlib.sha256()
apple = next(t.id for t in simulator.things.values() if t["pickupable"])
for request in (
    {"action": "Pass"}, {"action": "RotateRight"}, {"action": "MoveAhead"},
    {"action": "InitialRandomSpawn", "randomSeed": 4},
    {"action": "PickupObject", "objectId": apple, "forceAction": True},
    {"action": "RandomizeMaterials", "randomSeed": 2},
    {"action": "ThrowObject"}, {"action": "LookDown"},
):
    reply = simulator.act(request)
    frame = simulator.frame()
    for part in (frame.rgb, frame.depth, frame.ids):
        digest.update(part.tobytes())
    digest.update(json.dumps([t.metadata for t in simulator.things.values()]).encode())
    digest.update(repr((reply, frame.names, simulator.agent)).encode())
print(digest.hexdigest())
"""


@pytest.mark.slow
def test_the_same_seed_and_actions_give_the_same_bytes_in_another_process() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", WALK],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            timeout=PATIENCE,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1
    assert len(digests.pop()) == len(hashlib.sha256().hexdigest()) + 1


def test_seeds_choose_the_start() -> None:
    starts = {(s.agent.x, s.agent.z) for s in (Simulator("FloorPlan1", seed=i) for i in range(5))}
    assert len(starts) > 1


@pytest.mark.skipif(not FRAMES.is_dir(), reason=f"no real frames in {FRAMES}")
def test_visible_agrees_with_real_frames() -> None:
    simulator = Simulator("FloorPlan1")
    hits = misses = extra = 0
    for file in sorted(FRAMES.glob("*.json")):
        real = json.loads(file.read_text())
        _stage(simulator, real)
        sights = simulator.visibility()
        for thing in real["objects"]:
            ours = sights[thing["objectId"]].visible
            hits += thing["visible"] and ours
            misses += thing["visible"] and not ours
            extra += ours and not thing["visible"]
    assert 2 * hits / (2 * hits + misses + extra) >= 0.92


def _stage(simulator: Simulator, real: dict) -> None:  # type: ignore[type-arg]
    """Bring a real frame's moment about."""
    agent = real["agent"]
    loose = [o for o in real["objects"] if o["pickupable"] and not o["isPickedUp"]]
    assert simulator.act({"action": "Reset", "sceneName": real["sceneName"]}).success
    poses = [
        {
            "objectName": simulator.things[o["objectId"]]["name"],
            "position": o["position"],
            "rotation": o["rotation"],
        }
        for o in loose
    ]
    held = [o["objectId"] for o in real["objects"] if o["isPickedUp"]]
    for request in (
        {"action": "Initialize", "fieldOfView": real["fov"]},
        {"action": "SetObjectPoses", "objectPoses": poses},
        {
            "action": "TeleportFull",
            "position": agent["position"],
            "rotation": agent["rotation"],
            "horizon": agent["cameraHorizon"],
            "standing": agent["isStanding"],
            "forceAction": True,
        },
        *({"action": "PickupObject", "objectId": id, "forceAction": True} for id in held),
    ):
        reply = simulator.act(request)
        assert reply.success, reply.message
    assert simulator.agent.eye[1] == pytest.approx(real["cameraPosition"]["y"], abs=0.002)


def test_smooth_edges_are_means_of_a_larger_picture(simulator: Simulator) -> None:
    simulator.act({"action": "Initialize", "width": 120, "height": 100})
    plain = simulator.frame()
    simulator.act({"action": "Initialize", "width": 240, "height": 200})
    large = simulator.frame().rgb
    simulator.act({"action": "Initialize", "width": 120, "height": 100, "antialias": 2})
    smooth = simulator.frame()
    assert plain.rgb is not None and large is not None and smooth.rgb is not None
    means = large.reshape(100, 2, 120, 2, 3).mean(axis=(1, 3))
    assert np.abs(smooth.rgb - means).max() <= 0.5
    assert np.array_equal(smooth.ids, plain.ids) and np.array_equal(smooth.depth, plain.depth)
    assert np.abs(smooth.rgb.astype(int) - plain.rgb).mean() < 4
    refused = simulator.act({"action": "Initialize", "antialias": 9})
    assert not refused.success and "1 (off) to 4" in refused.message
