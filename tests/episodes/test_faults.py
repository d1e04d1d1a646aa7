"""Simulators that die, hang, lie or never start: a result or an exit code, and never an orphan.

`trouble` is an environment that fails in every way there is, installed as a stranger's would be.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest
from in_process import inhabit
from waiting import PATIENCE, wait_for

from inhabit.envs.core import Task
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import Ending, EndLine

INHABIT = [sys.executable, "-c", "from inhabit.cli import main; main()"]
PLUGIN = Path(__file__).parents[1] / "envs" / "worker" / "plugin"
PATH = os.pathsep.join([str(PLUGIN), os.environ.get("PYTHONPATH", "")])


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """`trouble`, for this process and for workers."""
    monkeypatch.syspath_prepend(str(PLUGIN))
    monkeypatch.setenv("PYTHONPATH", PATH)


def troubles(folder: Path, resets: Sequence[str]) -> list[str]:
    """Tasks of which each fails to start in its own way ("" starts), as words for `run`."""
    file = folder / "tasks.jsonl"
    tasks = [
        Task(id=f"{i} {how}", env="trouble", kind=how, goal="wait", scene={}, max_steps=3)
        for i, how in enumerate(resets)
    ]
    file.write_text("".join(task.model_dump_json() + "\n" for task in tasks))
    return ["run", "trouble", "--tasks", str(file), "--out", str(folder / "run"), "--json"]


def ends(folder: Path) -> list[EndLine]:
    found = [episode.end() for episode in Run.open(folder / "run").episodes()]
    assert all(found)
    return [end for end in found if end is not None]


def test_each_fault_is_the_result_of_its_own_episode(tmp_path: Path) -> None:
    words = troubles(tmp_path, ["", "segfault", "", "SceneError", "hang", "bug", "exit", ""])
    ran = inhabit(
        *words, "--agent", "scripted", "--set", "actions=wait;wait;wait",
        "--set", "reset_deadline=12", "--workers", "2",
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    fault, limit = Ending.SIMULATOR_FAULT, Ending.STEP_LIMIT
    found = ends(tmp_path)
    assert [end.ending for end in found] == [
        limit, fault, limit, Ending.SCENE_REFUSED, fault, fault, fault, limit,
    ]  # fmt: skip
    assert "SIGSEGV" in str(found[1].error)
    assert "{plain}" in str(found[3].error)
    assert "did not answer 'reset' within 12 s" in str(found[4].error)
    assert "a {bug} of ours" in str(found[5].error)
    assert "about to exit" in str(found[6].error), "With the last lines that it printed."
    figures = json.loads(ran.stdout.splitlines()[-1])
    assert figures["episodes"] == 8
    assert figures["endings"]["simulator_fault"] == 4


def test_a_fault_in_the_middle_keeps_what_came_before(tmp_path: Path) -> None:
    words = troubles(tmp_path, ["", ""])
    ran = inhabit(*words, "--agent", "scripted", "--set", "actions=wait; segfault; wait")
    assert ran.returncode == 1, "No episode was decided."
    for episode in Run.open(tmp_path / "run").episodes():
        attempt = episode.last()
        assert attempt is not None
        assert [s.decide and s.decide.action for s in attempt.steps] == ["wait", "segfault"]
        assert [s.act is not None for s in attempt.steps] == [True, False]
        assert attempt.end is not None
        assert (attempt.end.ending, attempt.end.steps) == (Ending.SIMULATOR_FAULT, 1)


def test_a_fault_is_not_tried_again(tmp_path: Path) -> None:
    words = [*troubles(tmp_path, ["exit"]), "--agent", "random"]
    assert inhabit(*words).returncode == 1
    before = (tmp_path / "run/episodes/00000/episode.jsonl").read_bytes()
    assert inhabit(*words).returncode == 1
    assert (tmp_path / "run/episodes/00000/episode.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("UnavailableError", "a {plain} UnavailableError"),
        ("exit", "exit code 3"),
        ("hang", "did not answer 'make' within 2 s"),
    ],
)
def test_what_can_not_start_is_exit_code_3(tmp_path: Path, how: str, says: str) -> None:
    words = [*troubles(tmp_path, [""]), "--agent", "random"]
    ran = inhabit(
        *words, "--set", f"start={how}", "--set", f"reset_deadline={2 if how == 'hang' else 100}"
    )
    assert ran.returncode == 3
    assert says in ran.stderr
    assert "Traceback" not in ran.stderr
    assert not (tmp_path / "run" / "run.json").exists(), "Nothing has begun."


def test_what_an_environment_lacks_is_a_sentence(tmp_path: Path) -> None:
    words = troubles(tmp_path, [""])
    ran = inhabit(*words, "--agent", "expert")
    assert ran.returncode == 2
    assert "can't grant 'expert': it has no expert" in " ".join(ran.stderr.split())
    ran = inhabit(*words, "--agent", "random", "--candidates", "oracle")
    assert ran.returncode == 2
    assert "Use --candidates seen" in " ".join(ran.stderr.split())
    ran = inhabit(*words, "--agent", "random")
    assert ran.returncode == 0
    ran = inhabit("replay", str(tmp_path / "run"))
    assert ran.returncode == 2
    assert "a replay cannot be compared" in " ".join(ran.stderr.split())


def test_a_simulator_killed_in_mid_episode(tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = ["run", "toy", "--agent", "random", "--n", "2", "--set", "delay=0.2", "--out", str(out)]
    running = subprocess.Popen([*INHABIT, *words], stderr=subprocess.PIPE, text=True)
    first = out / "episodes/00000/episode.jsonl"
    wait_for(lambda: first.exists() and first.read_bytes().count(b'"kind":"act"') >= 2)
    (worker,) = [
        p for p in psutil.Process(running.pid).children() if "inhabit.envs.host" in p.cmdline()
    ]
    worker.kill()
    killed = time.monotonic()
    wait_for(lambda: b'"kind":"end"' in first.read_bytes())
    assert time.monotonic() - killed < PATIENCE
    running.communicate(timeout=PATIENCE)
    assert running.returncode == 0
    one, two = ends(tmp_path)
    assert one.ending is Ending.SIMULATOR_FAULT
    assert "SIGKILL" in str(one.error)
    assert two.ending in (Ending.INVALID_LIMIT, Ending.STEP_LIMIT, Ending.SUCCESS)
