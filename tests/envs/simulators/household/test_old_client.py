"""The client that ALFRED was written for, release 2.1.0, in an interpreter of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from waiting import PATIENCE

from inhabit.envs.simulators.household.launcher import executable
from inhabit.envs.simulators.household.wire.session import bounds, depth

PROGRAM = """
import json, sys, warnings
warnings.simplefilter("ignore")
import ai2thor.controller
c = ai2thor.controller.Controller()
c.local_executable_path = sys.argv[1]
c.check_x_display = lambda display: None
c.start(player_screen_width=300, player_screen_height=300, x_display="0")
c.reset("FloorPlan1")
e = c.step(dict(
    action="Initialize", gridSize=0.25, cameraY=0.675, renderImage=True, renderDepthImage=True,
    renderClassImage=True, renderObjectImage=True, visibility_distance=1.5, makeAgentsVisible=False,
))
told = {"start": [e.metadata["lastActionSuccess"], list(e.frame.shape), str(e.frame.dtype)]}
told["depth"] = [float(e.depth_frame.min()), float(e.depth_frame.max())]
mug = next(o for o in e.metadata["objects"] if o["objectType"] == "Mug")
told["temperature"] = mug["ObjectTemperature"]
e = c.step(dict(action="PickupObject", objectId=mug["objectId"], forceAction=True))
told["held"] = [o["objectId"] for o in e.metadata["inventoryObjects"]] == [mug["objectId"]]
fridge = next(o for o in e.metadata["objects"] if o["objectType"] == "Fridge")["objectId"]
c.step(dict(action="OpenObject", objectId=fridge, forceAction=True, forceVisible=True))
e = c.step(dict(
    action="PutObject", objectId=mug["objectId"], receptacleObjectId=fridge, forceAction=True,
    placeStationary=True,
))
told["put"] = [e.metadata["lastActionSuccess"], e.metadata["errorMessage"]]
told["masks"] = {k: int(v.sum()) for k, v in e.instance_masks.items()}
told["boxes"] = {k: [int(side) for side in v] for k, v in e.instance_detections2D.items()}
told["toggles"] = c.step(dict(
    action="SetObjectToggles", objectToggles=[dict(objectType="Microwave", isOn=False)],
)).metadata["lastActionSuccess"]
print(json.dumps(told))
c.stop()
"""
NEEDED = ("flask", "werkzeug", "requests", "numpy", "pillow", "pyyaml", "progressbar2", "msgpack")


@pytest.fixture(scope="session")
def old_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("thor21")
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True, timeout=PATIENCE)
    pip = [str(home / "bin" / "pip"), "install", "--quiet"]
    for wanted in (["--no-deps", "ai2thor==2.1.0"], [*NEEDED]):
        done = subprocess.run([*pip, *wanted], capture_output=True, text=True, timeout=600)
        if done.returncode:
            pytest.skip(f"pip can't bring {wanted}: {done.stderr[-200:]}")
    return home / "bin" / "python"


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_code_written_for_alfred_runs_unchanged(old_python: Path) -> None:
    done = subprocess.run(
        [str(old_python), "-c", PROGRAM, str(executable())],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["start"] == [True, [300, 300, 3], "uint8"]
    nearest, farthest = told["depth"]
    assert 100 < nearest < farthest <= 10_000  # millimetres
    assert told["temperature"] == "RoomTemp"
    assert told["held"] and told["toggles"]
    assert told["put"] == [True, ""]
    assert told["masks"].keys() == told["boxes"].keys()
    for name, (x0, y0, x1, y1) in told["boxes"].items():
        assert 0 <= x0 <= x1 < 300 and 0 < y0 <= y1 <= 300, name
        assert 0 < told["masks"][name] <= (x1 - x0 + 1) * (y1 - y0 + 1)


def test_depth_keeps_a_millimetre_and_ends_at_ten_metres() -> None:
    metres = np.array([[0.1, 1.234], [9.999, np.inf]], np.float32)
    places = np.frombuffer(depth(metres), np.uint8).reshape(2, 2, 3)[::-1]
    share = places[..., 0] + places[..., 1] / 256 + places[..., 2] / 256**2
    back = share * 10 / 256
    assert np.allclose(back[metres < 10], metres[metres < 10], atol=0.001)
    assert places[1, 1, 0] == 255


def test_bounds_count_rows_from_below() -> None:
    ids = np.full((10, 20), -1, np.int32)
    ids[2:5, 3:8] = 0
    assert bounds(ids, [(1, 2, 3)]) == [{"color": [1, 2, 3], "bounds": [3, 5, 7, 7]}]
