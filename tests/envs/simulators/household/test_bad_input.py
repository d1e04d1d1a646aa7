"""What strangers' programs get wrong, through the client as it comes, under `inhabit thor`."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from waiting import PATIENCE

THOR = "from inhabit.cli import main; main()"
SETUP = """
import json, warnings
warnings.simplefilter("ignore")
from ai2thor.controller import Controller
from ai2thor.wsgi_server import WsgiServer

def refused(call):
    try:
        return call()
    except (ValueError, RuntimeError, OSError) as error:
        return f"{type(error).__name__}: {error}"
"""


def program(folder: Path, text: str) -> list[str]:
    file = folder / "program.py"
    file.write_text(SETUP + text)
    return [sys.executable, "-c", THOR, "thor", "--", sys.executable, str(file)]


def output(folder: Path, text: str) -> tuple[list[str], str]:
    """What a program prints, as JSON, and its stderr."""
    done = subprocess.run(program(folder, text), capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def test_scenes_and_poses_that_there_are_not(tmp_path: Path) -> None:
    told, _ = output(
        tmp_path,
        """
c = Controller(scene="FloorPlan1", width=64, height=64)
outside = c.step("Teleport", position=dict(x=900, y=0.9, z=0)).metadata
nan = c.step("Teleport", position=dict(x=float("nan"), y=0.9, z=0)).metadata
told = [refused(lambda: c.reset("FloorPlan999")), outside["errorMessage"], nan["errorMessage"],
        refused(lambda: c.reset(scene={"rooms": 3})), c.reset("FloorPlan2").metadata["sceneName"]]
c.stop()
print(json.dumps([str(one) for one in told]))
""",
    )
    unknown, outside, nan, broken, then = told
    assert "FloorPlan999" in unknown
    assert "900" in outside and nan
    assert "rooms" in broken
    assert then == "FloorPlan2_physics"


@pytest.mark.slow
def test_too_many_agents_are_refused_in_a_sentence(tmp_path: Path) -> None:
    told, _ = output(
        tmp_path,
        """
print(json.dumps(str(refused(lambda: Controller(scene="FloorPlan1", agentCount=20)))))
""",
    )
    assert "agentCount must be 1 to 8; got 20" in told


@pytest.mark.slow
def test_images_that_are_not_drawn_are_named_once_and_missing(tmp_path: Path) -> None:
    told, said = output(
        tmp_path,
        """
c = Controller(scene="FloorPlan1", width=64, height=64, renderNormalsImage=True,
               renderFlowImage=True)
event = c.step("Pass")
print(json.dumps([event.metadata["lastActionSuccess"], event.flow_frame is None,
                  event.normals_frame.shape]))
c.stop()
""",
    )
    assert told == [True, True, [64, 64, 4]]
    assert said.count("renderFlowImage is ignored") == 1


@pytest.mark.slow
def test_two_controllers_on_one_port(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    text = f"""
options = dict(server_class=WsgiServer, port={port}, width=64, height=64)
c = Controller(scene="FloorPlan1", **options)
print(c.server.unity_proc.pid, c.step("Pass").metadata["sceneName"], flush=True)
Controller(scene="FloorPlan2", **options)
"""
    done = subprocess.run(program(tmp_path, text), capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 1
    assert f"Port {port} is in use" in done.stderr, "the client's own words"
    pid, scene = done.stdout.split()
    assert scene == "FloorPlan1_physics"
    assert gone(int(pid))


def gone(pid: int) -> bool:
    """Whether a process ends within ten seconds."""
    try:
        psutil.Process(pid).wait(10)
    except psutil.NoSuchProcess:
        return True
    except psutil.TimeoutExpired:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_no_simulator_outlives_its_client(tmp_path: Path, how: signal.Signals) -> None:
    client = subprocess.Popen(
        program(
            tmp_path,
            """
import sys, time
one = Controller(scene="FloorPlan1", width=64, height=64)
two = Controller(scene="FloorPlan2", width=64, height=64, server_class=WsgiServer)
print("ready", flush=True)
time.sleep(1000)
""",
        ),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert client.stdout is not None and client.stdout.readline() == "ready\n"
    simulators = psutil.Process(client.pid).children(recursive=True)
    assert len(simulators) >= 2
    os.kill(client.pid, how)
    client.wait(timeout=PATIENCE)
    _, alive = psutil.wait_procs(simulators, timeout=PATIENCE)
    assert not alive
