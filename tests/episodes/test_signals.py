"""Whatever a command is doing, signals end it, and a decision that takes too long is a fault."""

from __future__ import annotations

import json
import random
import subprocess
import time
from pathlib import Path
from signal import SIG_DFL, SIGHUP, SIGINT, SIGTERM, Signals, signal

import psutil
import pytest
from signal_rounds import COMMANDS, INHABIT, one_round, run_readable
from waiting import PATIENCE, wait_for

from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import Ending

STUCK = """
import asyncio, re, time
from pathlib import Path

def begun():
    Path(__file__).with_name("begun").touch()

def python(view):
    begun()
    while True:
        try:
            while True:
                pass
        except Exception:
            pass

def regex(view):
    begun()
    re.match(r"(a+)+$", "a" * 60 + "b")

def c(view):
    begun()
    return str(sum(range(10**14)))

async def waits(view):
    begun()
    await asyncio.sleep(10**6)
"""


TWO = [("regex", SIGHUP), ("c", SIGTERM)]


@pytest.mark.parametrize(
    ("agent", "number"),
    [
        *TWO,
        *(
            pytest.param(agent, number, marks=pytest.mark.slow)
            for agent in ("python", "regex", "c")
            for number in (SIGINT, SIGTERM, SIGHUP)
            if (agent, number) not in TWO
        ),
    ],
)
def test_the_second_signal_ends_what_is_stuck(agent: str, number: Signals, tmp_path: Path) -> None:
    process = _stuck(agent, tmp_path)
    family = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(number)
    time.sleep(0.2)
    process.send_signal(number)
    assert process.wait(PATIENCE) != 0
    wait_for(lambda: not any(map(_runs, family)))
    run_readable(tmp_path / "run")


@pytest.mark.slow
def test_one_signal_is_enough_in_the_end(tmp_path: Path) -> None:
    process = _stuck("regex", tmp_path)
    process.send_signal(SIGTERM)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "Run the same command again to continue" in said


@pytest.mark.parametrize(
    "agent", ["regex", *(pytest.param(a, marks=pytest.mark.slow) for a in ("python", "waits"))]
)
def test_a_decision_has_a_deadline(agent: str, tmp_path: Path) -> None:
    words = [*_words(agent, tmp_path), "--set", "decision_deadline=0.3", "--json"]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert ran.returncode == 1, "No episode was decided."
    end = Run.open(tmp_path / "run").episode(0).end()
    assert end is not None
    assert end.ending is Ending.MODEL_FAULT
    assert end.error == f"The agent {agent} had not decided after 0.3 s, the decision_deadline."
    assert json.loads(ran.stdout.splitlines()[-1])["faults"] == 1
    assert "1 of 1 ended by a fault" in " ".join(ran.stderr.split())


@pytest.mark.slow
@pytest.mark.parametrize("command", ["run", "synth", "watch"])
def test_signals_at_random_moments_leave_nothing(command: str, tmp_path: Path) -> None:
    lot = random.Random(command)
    one_round(COMMANDS[command], tmp_path / "out", lot, longest=6.0, at_once=PATIENCE)


def test_an_mcp_server_ends_at_the_first_signal(tmp_path: Path) -> None:
    pytest.importorskip("mcp", reason="needs the extra `mcp`")
    process = subprocess.Popen(
        [*INHABIT, "mcp", "toy"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=_mind_all,
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None
    try:
        asked = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
        assert process.stdout.readline(), "It serves."
        process.send_signal(SIGINT)
        assert process.wait(PATIENCE) == 130
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("command", COMMANDS)
def test_rounds_of_signals(command: str, tmp_path: Path) -> None:
    lot = random.Random(command)
    if command == "mcp":
        pytest.importorskip("mcp", reason="needs the extra `mcp`")
    if command == "serve":
        pytest.importorskip("openenv", reason="needs the extra `openenv`")
    for _ in range(12):
        one_round(COMMANDS[command], tmp_path / "out", lot)


def _words(agent: str, folder: Path) -> list[str]:
    (folder / "stuck.py").write_text(STUCK)
    words = ["run", "toy", "--n", "1", "--agent", f"{folder / 'stuck.py'}:{agent}"]
    return [*INHABIT, *words, "--out", str(folder / "run")]


def _stuck(agent: str, folder: Path) -> subprocess.Popen[str]:
    """A run whose agent is stuck in its first decision."""
    process = subprocess.Popen(
        _words(agent, folder),
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=_mind_all,
    )  # fmt: skip
    try:
        wait_for(lambda: (folder / "begun").exists())
    except BaseException:
        process.kill()
        raise
    return process


def _mind_all() -> None:
    """Whoever runs these tests may have signals ignored, as `nohup` has."""
    for number in (SIGINT, SIGTERM, SIGHUP):
        signal(number, SIG_DFL)


def _runs(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
