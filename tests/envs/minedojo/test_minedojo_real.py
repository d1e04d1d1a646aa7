"""The backend that runs MineDojo itself: its line, and what is said where Minecraft can't start."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from waiting import PATIENCE

from inhabit.envs.core import SceneError, SimulatorError, Task, UnavailableError
from inhabit.envs.minedojo.interface.actions import sizes
from inhabit.envs.minedojo.real.env import HostConnection, MineDojoError, RealMineDojo
from inhabit.envs.minedojo.world.settings import MineDojoSettings

PYTHON = os.environ.get("INHABIT_MINEDOJO_PYTHON")
needs_minedojo = pytest.mark.skipif(
    not PYTHON, reason="needs an interpreter with minedojo: set INHABIT_MINEDOJO_PYTHON"
)
TASK = Task(
    id="wood", env="minedojo", kind="harvest", goal="Get a log.",
    scene={"task": "harvest", "target_names": ["log"], "specified_biome": "plains"},
)  # fmt: skip


@pytest.fixture
def line() -> Iterator[HostConnection]:
    opened = HostConnection(PYTHON)
    yield opened
    opened.close()
    opened.close()


def make(line: HostConnection, task_id: str, **fields: object) -> dict[str, list[int]]:
    made: dict[str, list[int]] = line.call(
        "make", 300, task_id=task_id, kind="harvest", fields=fields, image_size=[160, 256], seed=0
    )
    return made


@needs_minedojo
def test_tasks_are_made_by_id_and_by_class(line: HostConnection) -> None:
    assert make(line, "harvest_1_log")["sizes"] == list(sizes())
    given = [{"slot": 0, "name": "wooden_axe"}]
    made = make(line, "ours", target_names=["log"], target_quantities=2, initial_inventory=given)
    assert made["sizes"] == list(sizes())
    with pytest.raises(MineDojoError, match="no field start_time"):
        make(line, "ours", target_names=["log"], start_time=0)
    with pytest.raises(MineDojoError):
        make(line, "ours", target_names=["log"], specified_biome="plians")


@needs_minedojo
def test_a_silent_or_dead_program_is_said() -> None:
    for hurt in ("silent", "dead"):
        line = HostConnection(PYTHON)
        program = psutil.Process(line.pid)
        program.suspend() if hurt == "silent" else program.kill()
        begin = time.monotonic()
        with pytest.raises(SimulatorError, match="MineDojo"):
            make_soon(line)
        assert time.monotonic() - begin < PATIENCE
        line.close()
        assert not program.is_running() or program.status() == psutil.STATUS_ZOMBIE


def make_soon(line: HostConnection) -> None:
    line.call("make", 2, task_id="harvest_1_log", kind="harvest", fields={}, image_size=[64, 64],
             seed=0)  # fmt: skip


@needs_minedojo
@pytest.mark.slow  # MineDojo takes ten seconds to import
def test_where_minecraft_cannot_start_it_is_said() -> None:
    with RealMineDojo(MineDojoSettings(python=PYTHON, launch=1)) as env:
        with pytest.raises((SimulatorError, UnavailableError), match=r"MineDojo|Minecraft"):
            env.reset(TASK, seed=0)
        refused = TASK.model_copy(update={"scene": {**TASK.scene, "start_time": 5}})
        with pytest.raises((SceneError, UnavailableError), match=r"start_time|Java"):
            env.reset(refused, seed=0)


def test_no_interpreter_is_said(tmp_path: Path) -> None:
    (tmp_path / "text").touch(0o644)
    with pytest.raises(UnavailableError, match="text: Permission denied"):
        HostConnection(str(tmp_path / "text"))
    with pytest.raises(UnavailableError, match="inhabit setup minedojo --backend minedojo"):
        HostConnection(str(tmp_path / "python"))


def test_every_text_means_its_action() -> None:
    env = RealMineDojo(MineDojoSettings())
    for action in env.vocabulary():
        assert env.parse(action.text) == action
    assert env.parse("fly") is None
