"""Programs of others, with the client as it comes, under `inhabit thor`."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from waiting import PATIENCE

from inhabit.envs.simulators.household.attach import environment, startup
from inhabit.envs.simulators.household.attach.startup import inhabit_thor_hook

THOR = "from inhabit.cli import main; main()"
ASKS_FOR_EVERYTHING = """
import json, os, subprocess, sys, warnings
warnings.simplefilter("ignore")
import ai2thor.build, ai2thor.platform, ai2thor.util.metrics
from ai2thor.controller import Controller
from ai2thor.fifo_server import FifoServer
from ai2thor.platform import CloudRendering
from ai2thor.wsgi_server import WsgiServer

class Odd(FifoServer):
    pass

told = []
def tell(c):
    event = c.step("RotateRight")
    told.append([event.metadata["lastActionSuccess"], event.metadata["sceneName"],
                 None if event.frame is None else list(event.frame.shape)])
one = Controller("Ultra", False, False, 0, True, None, True, "f00", "main", 400, 300, ":99",
                 scene="FloorPlan1", platform=CloudRendering, gpu_device=3, server_class=Odd)
two = Controller(scene="FloorPlan2", headless=True, server_class=WsgiServer, commit_id="f00",
                 local_executable_path="/no/such/unity", x_display="7", agentMode="locobot")
tell(one), tell(two)
Controller(download_only=True, branch="main")
one.start()
one.reset("FloorPlan3")
tell(one)
one.stop(), two.stop()
if len(sys.argv) == 1:
    subprocess.run([sys.executable, __file__, "child"], check=True)
print(json.dumps(told))
"""


def under_thor(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    import os

    return subprocess.run(
        [sys.executable, "-c", THOR, "thor", "--", *command],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, **environment},
    )


@pytest.mark.slow
def test_whatever_a_program_asks_for_it_gets_the_household(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(ASKS_FOR_EVERYTHING)
    home = tmp_path / "home"
    home.mkdir()
    cache = {"XDG_CACHE_HOME": str(Path("~/.cache").expanduser())}
    done = under_thor(
        sys.executable, str(program), HOME=str(home), CUDA_VISIBLE_DEVICES="0,1,2,3", **cache
    )
    assert done.returncode == 0, done.stderr[-3000:]
    child, own = (json.loads(line) for line in done.stdout.splitlines())
    expected = [[True, "FloorPlan1_physics", [300, 400, 3]], [True, "FloorPlan2_physics", None]]
    assert own[:2] == expected and own[2][:2] == [True, "FloorPlan3_physics"]
    assert child == own
    assert not list(home.glob(".ai2thor/releases/*")), "a build was downloaded"
    said = [line for line in done.stderr.splitlines() if line.startswith("inhabit thor: ")]
    told = ("commit_id='f00'", "branch='main'", "local_executable_path", "agentMode='locobot'")
    for word in told:
        assert sum(word in line for line in said) == 2, (word, said)  # once in each process


@pytest.mark.slow
def test_a_notebook_needs_one_line(tmp_path: Path) -> None:
    program = (
        "import inhabit.thor\n"
        "from ai2thor.controller import Controller\n"
        "c = Controller(scene='FloorPlan301')\n"
        "print(c.step('Pass').metadata['sceneName'])\n"
        "c.stop()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.stdout.split() == ["FloorPlan301_physics"], done.stderr[-2000:]


def test_another_release_is_refused_in_a_sentence(tmp_path: Path) -> None:
    package = tmp_path / "ai2thor"
    package.mkdir()
    (package / "__init__.py").write_text("from ai2thor._version import __version__\n")
    (package / "_version.py").write_text("__version__ = '3.5.1'\n")
    (package / "controller.py").write_text("class Controller:\n    pass\n")
    program = "from ai2thor.controller import Controller; Controller()"
    done = under_thor(sys.executable, "-c", program, PYTHONPATH=f"{tmp_path}:{root()}")
    assert "works with the ai2thor client 2.1.0, 2.7.*, 4.3.0 and 5.0.0; this one is 3.5.1" in (
        done.stderr
    )


def test_a_sitecustomize_that_is_hidden_runs_too(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import builtins; builtins.theirs = 7\n")
    done = under_thor(sys.executable, "-c", "print(theirs)", PYTHONPATH=f"{tmp_path}:{root()}")
    assert done.stdout.strip() == "7", done.stderr[-2000:]


def test_exit_codes_are_the_programs() -> None:
    assert under_thor("sh", "-c", "exit 7").returncode == 7
    missing = under_thor("/no/such/program")
    assert missing.returncode == 127 and "/no/such/program" in missing.stderr


def test_the_hook_runs_on_old_pythons() -> None:
    for file in Path(next(iter(startup.__path__))).glob("*.py"):
        ast.parse(file.read_text(), feature_version=(3, 7))


def test_the_environment_is_changed_once() -> None:
    once = environment({"PYTHONPATH": "/a:/b"})
    assert environment(once) == once
    assert once["PYTHONPATH"].endswith("/a:/b")


def root() -> Path:
    """Where `inhabit` is imported from."""
    import inhabit

    return Path(inhabit.__file__).parents[1]


OTHERS: dict[str, tuple[str, ...]] = {"2.1.0": (), "2.7.4": (), "4.3.0": ()}
SMALL = """
import json, warnings
warnings.simplefilter("ignore")
import ai2thor.controller, ai2thor._version
old = ai2thor._version.__version__ == "2.1.0"
if old:
    c = ai2thor.controller.Controller()
    c.start(x_display="0")
    c.reset("FloorPlan1")
    step = lambda **action: c.step(action)
    step(action="Initialize", renderDepthImage=True, renderObjectImage=True)
else:
    c = ai2thor.controller.Controller(
        scene="FloorPlan1", renderDepthImage=True, renderInstanceSegmentation=True)
    step = c.step
event = step(action="RotateLeft")
told = {"done": event.metadata["lastActionSuccess"], "masks": len(event.instance_masks)}
told["depth"] = float(event.depth_frame.mean()) / (1000 if old else 1)
x, z = (event.metadata["agent"]["position"][k] for k in "xz")
event = step(action="TeleportFull", x=x, y=0.9, z=z, rotation=90.0, horizon=0.0, standing=True)
told["teleported"] = event.metadata["lastActionSuccess"]
if old:  # as EmbodiedBench and ALFWorld say it
    event = step(action="TeleportFull", x=x, y=0.9, z=z, rotation=90, horizon=30,
                 rotateOnTeleport=True)
    told["without standing"] = event.metadata["lastActionSuccess"]
c.stop()
print(json.dumps(told))
"""


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("release", OTHERS)
def test_other_releases_in_interpreters_of_their_own(release: str, tmp_path: Path) -> None:
    home = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True, timeout=PATIENCE)
    done = subprocess.run(
        [str(home / "bin" / "pip"), "install", "--quiet", f"ai2thor=={release}"],
        capture_output=True,
        text=True,
        timeout=900,
    )
    if done.returncode:
        pytest.skip(f"pip can't bring ai2thor {release}: {done.stderr[-200:]}")
    done = under_thor(str(home / "bin" / "python"), "-c", SMALL)
    assert done.returncode == 0, done.stderr[-2000:]
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert told["done"] and told["teleported"] and told.get("without standing", True)
    assert told["masks"] > 3 and 0.5 < told["depth"] < 6


def test_the_hook_knows_our_own_executables(tmp_path: Path) -> None:
    ours = environment({})["INHABIT_THOR_EXECUTABLE"]
    assert inhabit_thor_hook._is_ours(ours)
    other = tmp_path / "unity"
    other.write_bytes(b"\x7fELF")
    assert not inhabit_thor_hook._is_ours(other)
