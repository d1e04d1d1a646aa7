"""The embedded household, driven by AI2-THOR's own client."""

from __future__ import annotations

import json
import os
import random
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from ai2thor.controller import Controller
from ai2thor.fifo_server import FifoServer
from ai2thor.wsgi_server import WsgiServer
from sampling import every
from waiting import PATIENCE, alive, wait_for

from inhabit.envs.alfred.thor.client import Client, start
from inhabit.envs.core import SimulatorError, UnavailableError
from inhabit.envs.simulators.household.launcher import executable
from inhabit.envs.simulators.household.rooms.ithor import SCENES

# The client warns of a restart that it is then kept from.
pytestmark = pytest.mark.filterwarnings("ignore:Restarting unity")

SERVERS = {"fifo": FifoServer, "wsgi": WsgiServer}
WIRES = ["fifo", pytest.param("wsgi", marks=pytest.mark.slow)]
WALK = ("MoveAhead", "MoveBack", "MoveLeft", "MoveRight", "RotateRight", "RotateLeft")
LOOK = ("LookUp", "LookDown", "Crouch", "Stand", "Pass", "GetReachablePositions")

OF_OBJECT: dict[str, type | tuple[type, ...]] = {
    "assetId": str,
    "axisAlignedBoundingBox": dict,
    "breakable": bool,
    "canBeUsedUp": bool,
    "canFillWithLiquid": bool,
    "controlledObjects": (list, type(None)),
    "cookable": bool,
    "dirtyable": bool,
    "distance": float,
    "fillLiquid": (str, type(None)),
    "isBroken": bool,
    "isColdSource": bool,
    "isCooked": bool,
    "isDirty": bool,
    "isFilledWithLiquid": bool,
    "isHeatSource": bool,
    "isInteractable": bool,
    "isMoving": bool,
    "isOpen": bool,
    "isPickedUp": bool,
    "isSliced": bool,
    "isToggled": bool,
    "isUsedUp": bool,
    "mass": float,
    "moveable": bool,
    "name": str,
    "objectId": str,
    "objectOrientedBoundingBox": (dict, type(None)),
    "objectType": str,
    "openable": bool,
    "openness": float,
    "parentReceptacles": (list, type(None)),
    "pickupable": bool,
    "position": dict,
    "receptacle": bool,
    "receptacleObjectIds": (list, type(None)),
    "rotation": dict,
    "salientMaterials": (list, type(None)),
    "sliceable": bool,
    "temperature": str,
    "toggleable": bool,
    "visible": bool,
}
"""AI2-THOR 5's keys of an object, and what JSON type each has."""

OF_EVENT: dict[str, type | tuple[type, ...]] = {
    "agent": dict,
    "agentId": int,
    "cameraPosition": dict,
    "collided": bool,
    "collidedObjects": list,
    "colors": list,
    "currentTime": float,
    "depthFormat": str,
    "errorCode": (str, type(None)),
    "errorMessage": str,
    "fov": float,
    "heldObjectPose": dict,
    "inventoryObjects": list,
    "isSceneAtRest": bool,
    "lastAction": str,
    "lastActionSuccess": bool,
    "objects": list,
    "sceneBounds": dict,
    "sceneName": str,
    "screenHeight": int,
    "screenWidth": int,
    "segmentedObjectIds": list,
    "thirdPartyCameras": list,
}


def unmodified(wire: str, scene: str = "FloorPlan1", **arguments: Any) -> Controller:
    """The client as it comes, without anything of ours."""
    return Controller(
        local_executable_path=shlex.quote(str(executable())),
        x_display=":0",
        server_class=SERVERS[wire],
        server_timeout=None,
        scene=scene,
        gridSize=0.25,
        renderDepthImage=True,
        renderInstanceSegmentation=True,
        renderSemanticSegmentation=True,
        **arguments,
    )


@pytest.fixture(scope="module", params=WIRES)
def controller(request: pytest.FixtureRequest) -> Iterator[Controller]:
    made = unmodified(request.param)
    yield made
    made.stop()


@pytest.fixture
def client() -> Iterator[Client]:
    made = start("embedded", scene="FloorPlan301", gridSize=0.25)
    yield made
    made.stop()


def walk(controller: Controller, seed: int, steps: int = 20) -> Iterator[Any]:
    draw = random.Random(f"walk {seed}")
    for _ in range(steps):
        yield controller.step(draw.choice(WALK * 3 + LOOK))


def assert_valid(event: Any, width: int = 300, height: int = 300) -> None:
    metadata = event.metadata
    for key, kind in OF_EVENT.items():
        assert isinstance(metadata[key], kind), key
    assert "actionReturn" in metadata
    assert metadata["lastActionSuccess"] == (metadata["errorMessage"] == "")
    for thing in metadata["objects"]:
        assert set(OF_OBJECT) <= set(thing)
        for key, kind in OF_OBJECT.items():
            assert isinstance(thing[key], kind), (thing["objectId"], key, thing[key])
        assert len(thing["axisAlignedBoundingBox"]["cornerPoints"]) == 8
        assert thing["visible"] or not thing["isInteractable"]
    ids = [thing["objectId"] for thing in metadata["objects"]]
    assert len(ids) == len(set(ids)) > 10
    assert event.frame.shape == (height, width, 3) and event.frame.dtype == np.uint8
    assert event.depth_frame.shape == (height, width) and event.depth_frame.dtype == np.float32
    assert event.depth_frame.min() > 0 and event.depth_frame.max() <= 20
    assert_masks(event, ids)


def assert_masks(event: Any, ids: list[str]) -> None:
    """Each pixel is at most in one mask, and what is visible has one."""
    shape = event.frame.shape[:2]
    assert event.instance_segmentation_frame.shape == (*shape, 3)
    assert event.semantic_segmentation_frame.shape == (*shape, 3)
    assert set(event.instance_masks) <= set(ids)
    assert all(mask.shape == shape for mask in event.instance_masks.values())
    total = np.zeros(shape, np.uint8)
    for mask in event.instance_masks.values():
        total += mask
    assert total.max() <= 1
    for thing in event.metadata["objects"]:
        assert not thing["visible"] or event.instance_masks[thing["objectId"]].any()


def test_it_knows_all_rooms(controller: Controller) -> None:
    assert controller.scenes_in_build == {*(f"{scene}_physics" for scene in SCENES), "Procedural"}
    with pytest.raises(ValueError, match="FloorPlan31"):
        controller.reset("FloorPlan31")
    assert_valid(controller.reset("FloorPlan2"))


@pytest.mark.parametrize("scene", every(4, SCENES[::10]))
def test_some_rooms(controller: Controller, scene: str) -> None:
    assert_valid(controller.reset(scene))
    done = 0
    for event in walk(controller, seed=SCENES.index(scene)):
        assert_valid(event)
        done += event.metadata["lastActionSuccess"]
    assert done >= 5
    assert event.metadata["sceneName"] == f"{scene}_physics"


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_every_room(controller: Controller) -> None:
    for number, scene in enumerate(SCENES):
        assert_valid(controller.reset(scene))
        for event in walk(controller, seed=number):
            assert_valid(event)


@pytest.mark.slow
def test_both_wires_say_the_same() -> None:
    over_fifo, over_wsgi = unmodified("fifo", "FloorPlan205"), unmodified("wsgi", "FloorPlan205")
    pairs = zip(walk(over_fifo, 1, 8), walk(over_wsgi, 1, 8), strict=True)
    for one, other in pairs:
        assert json.dumps(one.metadata, sort_keys=True) == json.dumps(
            other.metadata, sort_keys=True
        )
        for picture in (
            "frame",
            "depth_frame",
            "instance_segmentation_frame",
            "semantic_segmentation_frame",
        ):
            assert getattr(one, picture).tobytes() == getattr(other, picture).tobytes()
    over_fifo.stop()
    over_wsgi.stop()


def test_pictures_stand_upright(controller: Controller) -> None:
    """The floor is below, at a depth that is the eye's height."""
    controller.reset("FloorPlan301", fieldOfView=60)
    poses = controller.step("GetReachablePositions").metadata["actionReturn"]
    pose = {**poses[len(poses) // 2], "rotation": 0, "horizon": 60, "standing": True}
    event = controller.step(action="TeleportFull", **pose)
    names = [t["objectId"] for t in event.metadata["objects"] if t["objectType"] == "Floor"]
    rows = np.flatnonzero(event.instance_masks[names[0]].any(axis=1))
    assert rows.max() > 150
    eye = event.metadata["cameraPosition"]["y"] - event.metadata["sceneBounds"]["center"]["y"]
    eye += event.metadata["sceneBounds"]["size"]["y"] / 2
    floor = event.depth_frame[event.instance_masks[names[0]]]
    # Looking 60 degrees down with a field of 60, the nearest floor is straight below the feet.
    assert floor.min() == pytest.approx(eye * np.cos(np.radians(30)), rel=0.35)


def test_colors_belong_to_one_name_each(controller: Controller) -> None:
    colors = controller.reset("FloorPlan3").metadata["colors"]
    assert len({tuple(c["color"]) for c in colors}) == len(colors)
    kinds = {t["objectType"] for t in controller.last_event.metadata["objects"]}
    event = controller.step("RotateRight")
    assert set(event.class_masks) & kinds


def test_sizes_and_sensors_are_those_asked_for() -> None:
    controller = unmodified("fifo", width=160, height=90)
    assert_valid(controller.last_event, 160, 90)
    event = controller.reset(
        "FloorPlan2",
        width=64,
        height=48,
        renderDepthImage=False,
        renderInstanceSegmentation=False,
        renderSemanticSegmentation=False,
    )
    assert event.frame.shape == (48, 64, 3)
    assert event.depth_frame is None and event.instance_segmentation_frame is None
    event = controller.step("Pass", renderDepthImage=True, renderImage=False)
    assert event.depth_frame.shape == (48, 64) and event.frame is None
    assert controller.step("Pass").depth_frame is None
    controller.stop()


def test_what_it_can_not_do_is_refused(controller: Controller) -> None:
    with pytest.raises(ValueError, match="FlyToTheMoon"):
        controller.step("FlyToTheMoon")
    with pytest.raises(ValueError, match=r"speed_\{of\}_light"):
        controller.step("MoveAhead", **{"speed_{of}_light": 1})
    with pytest.raises(ValueError, match="renderFlowImage"):
        controller.step("Pass", renderFlowImage=True)
    assert controller.step("Pass").metadata["lastActionSuccess"]


@pytest.mark.slow
def test_headless_sends_no_pictures() -> None:
    controller = unmodified("fifo", headless=True)
    event = controller.step("RotateRight")
    assert event.metadata["lastActionSuccess"] and event.frame is None
    assert event.depth_frame is None
    controller.stop()


@pytest.mark.parametrize(
    ("wire", "how"),
    [
        ("fifo", signal.SIGKILL),
        pytest.param("wsgi", signal.SIGKILL, marks=pytest.mark.slow),
        pytest.param("fifo", signal.SIGSEGV, marks=pytest.mark.slow),
    ],
)
def test_a_killed_simulator_is_noticed(wire: Any, how: signal.Signals) -> None:
    children = set(psutil.Process().children())
    client = start("embedded", scene="FloorPlan1", wire=wire)
    pid = client.unity_pid
    os.kill(pid, how)
    began = time.monotonic()
    with pytest.raises(SimulatorError, match="exit status"):
        client.step("MoveAhead")
    assert time.monotonic() - began < PATIENCE
    assert not alive(pid)
    with pytest.raises(SimulatorError):
        client.reset("FloorPlan2")
    client.stop()
    client.stop()
    assert set(psutil.Process().children()) == children


BROKEN = """
from inhabit.envs.simulators.household import simulator
from inhabit.envs.simulators.household.wire import __main__

class Broken(simulator.Simulator):
    def act(self, request):
        if request["action"] == {when!r}:
            raise ZeroDivisionError("a {{bug}} in an action")
        return super().act(request)

__main__.Simulator = Broken
__main__.main()
"""


def broken(tmp_path: Path, when: str) -> str:
    """An executable like the household, but for a bug in one action."""
    (tmp_path / "broken.py").write_text(BROKEN.format(when=when))
    script = tmp_path / "a simulator {0}"
    script.write_text(
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$(dirname "$0")/broken.py"\n'
    )
    script.chmod(0o755)
    return str(script)


@pytest.mark.parametrize("wire", WIRES)
def test_a_bug_in_an_action_ends_the_simulator(tmp_path: Path, wire: Any) -> None:
    client = start(
        "unity", executable=broken(tmp_path, "Crouch"), display=":0", scene="FloorPlan1", wire=wire
    )
    assert client.step("MoveAhead")
    with pytest.raises(SimulatorError, match=r"(?s)Crouch.*a \{bug\} in an action"):
        client.step("Crouch")
    client.stop()


@pytest.mark.parametrize(
    ("wire", "when"),
    [
        pytest.param("fifo", "GetScenesInBuild", marks=pytest.mark.slow),
        pytest.param("wsgi", "Reset", marks=pytest.mark.slow),
        pytest.param("fifo", "Reset", marks=pytest.mark.slow),
        pytest.param("wsgi", "Initialize", marks=pytest.mark.slow),
    ],
)
def test_a_bug_while_starting_is_shown(tmp_path: Path, wire: Any, when: str) -> None:
    with pytest.raises(SimulatorError, match=r"a \{bug\} in an action"):
        start(
            "unity", executable=broken(tmp_path, when), display=":0", scene="FloorPlan1", wire=wire
        )


@pytest.mark.parametrize("wire", WIRES)
def test_a_simulator_that_does_not_start_is_no_wait(tmp_path: Path, wire: Any) -> None:
    script = tmp_path / "unity"
    script.write_text("#!/bin/sh\necho no {display} >&2\nexit 7\n")
    script.chmod(0o755)
    began = time.monotonic()
    with pytest.raises(SimulatorError, match=r"(?s)did not start.*7.*no \{display\}"):
        start("unity", executable=str(script), display=":0", scene="FloorPlan1", wire=wire)
    assert time.monotonic() - began < PATIENCE


HANGS = "#!/bin/sh\necho loading {shaders} >&2\nexec sleep 100\n"


@pytest.mark.parametrize("wire", WIRES)
def test_a_simulator_that_hangs_at_its_start_is_killed(tmp_path: Path, wire: Any) -> None:
    script = tmp_path / "unity"
    script.write_text(HANGS)
    script.chmod(0o755)
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    with pytest.raises(SimulatorError, match=r"(?s)did not answer start for 1 s.*killed.*shaders"):
        start(
            "unity",
            executable=str(script),
            display=":0",
            scene="FloorPlan1",
            wire=wire,
            start_seconds=1.0,
        )
    left = [c for c in psutil.Process().children(recursive=True) if c.pid not in before]
    assert not [c for c in left if c.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.slow
@pytest.mark.parametrize("wire", WIRES)
def test_a_simulator_that_hangs_in_an_action_is_killed(wire: Any) -> None:
    client = start("embedded", scene="FloorPlan1", wire=wire, step_seconds=20.0)
    os.kill(client.unity_pid, signal.SIGSTOP)
    client._step_seconds = 0.5
    with pytest.raises(SimulatorError, match=r"'MoveAhead' for 0.5 s and was killed"):
        client.step("MoveAhead")
    client.stop()


def test_what_unity_needs_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnavailableError, match="executable"):
        start("unity", scene="FloorPlan1")
    monkeypatch.delenv("DISPLAY", raising=False)
    with pytest.raises(UnavailableError, match="DISPLAY"):
        start("unity", scene="FloorPlan1", executable=sys.executable)


@pytest.mark.slow
def test_a_gpu_in_the_environment_is_no_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    client = start("embedded", scene="FloorPlan1")
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "0,1"
    client.stop()


OTHER = """
import sys, time
from inhabit.envs.alfred.thor.client import start
client = start("embedded", scene="FloorPlan1", wire=sys.argv[1])
print(client.unity_pid, flush=True)
time.sleep(1000)
"""


@pytest.mark.parametrize("wire", WIRES)
def test_the_simulator_ends_with_its_client(tmp_path: Path, wire: str) -> None:
    command = [sys.executable, "-c", OTHER, wire]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}  # what is killed leaves its files
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as other:
        assert other.stdout is not None
        simulator = int(other.stdout.readline())
        assert alive(simulator)
        other.kill()
    wait_for(lambda: not alive(simulator))


def test_the_simulator_ends_when_nobody_opens_its_pipes(tmp_path: Path) -> None:
    """The client was killed before it got so far."""
    for name in ("server", "client"):
        os.mkfifo(tmp_path / name)
    pipes = {f"AI2THOR_FIFO_{n.upper()}_PIPE_PATH": str(tmp_path / n) for n in ("server", "client")}
    environment = {**os.environ, "AI2THOR_SERVER_TYPE": "FIFO", **pipes}
    # A shell that starts it and ends: then its parent is another one.
    command = ["/bin/sh", "-c", f"{shlex.quote(str(executable()))} & echo $!; sleep 1000"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as shell:
        assert shell.stdout is not None
        simulator = int(shell.stdout.readline())
        module = "inhabit.envs.simulators.household.wire"
        wait_for(lambda: module in psutil.Process(simulator).cmdline())
        shell.kill()
    wait_for(lambda: not alive(simulator))


@pytest.mark.slow
@pytest.mark.parametrize("wire", WIRES)
def test_normals_tell_how_faces_are_turned(wire: str) -> None:
    controller = unmodified(wire, "FloorPlan201", renderNormalsImage=True)
    kinds = {o["objectId"]: o["objectType"] for o in controller.last_event.metadata["objects"]}
    floor = next(id for id, kind in kinds.items() if kind == "Floor")
    controller.step("AddThirdPartyCamera", position={"x": -2.5, "y": 2, "z": 3}, rotation={"x": 90})
    for horizon in (20.0, 40.0, 60.0):
        event = controller.step("Teleport", horizon=horizon)
        assert event.normals_frame.shape == (*event.frame.shape[:2], 4)
        facing = event.normals_frame[event.instance_masks[floor]][:, :3] / 127.5 - 1
        angle = np.radians(horizon)
        assert np.allclose(facing, (0.0, np.cos(angle), np.sin(angle)), atol=0.01)
        seen = event.normals_frame[..., :3].any(axis=2)
        length = np.linalg.norm(event.normals_frame[..., :3] / 127.5 - 1, axis=2)
        assert seen.mean() > 0.9 and np.allclose(length[seen], 1.0, atol=0.02)
    above = event.third_party_normals_frames[0][event.third_party_instance_masks[0][floor]]
    assert len(above) and np.allclose(above[:, :3] / 127.5 - 1, (0.0, 0.0, 1.0), atol=0.01)
    controller.stop()
