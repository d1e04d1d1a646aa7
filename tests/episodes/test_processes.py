"""Whatever is struck, and by whatever signal: nothing is left, and each episode counts once.

For each outer process: a signal to the runner, to a worker, or to the process itself, in the midst
of an episode. Then what was struck takes along what it had started, within five seconds; no port
and no temporary file stays; the same command completes the run.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from signal import SIG_DFL, SIGCONT, SIGHUP, SIGINT, SIGKILL, SIGSTOP, SIGTERM, Signals, signal

import psutil
import pytest
from stand_in import stand_in
from waiting import PATIENCE, wait_for

from inhabit.envs.minedojo.luanti.world import lacking
from inhabit.envs.virtualhome.graph.library import interpreter
from inhabit.episodes.recording.reader import Run

INHABIT = [sys.executable, "-c", "from inhabit.cli import main; main()"]
LOOPBACK = ("127.0.0.1", "::ffff:127.0.0.1", "::1")
WORKER = "inhabit.envs.host"


@dataclass(frozen=True)
class Outer:
    """A command that starts an outer process, and how that is known."""

    command: Sequence[str]
    process: str
    """Part of its command line."""
    lacking: Callable[[], bool] = lambda: False
    episodes: int = 2
    victims: Sequence[str] = ("runner", "worker", "process")
    vital: bool = False
    """Whether the command can't go on without the process, and has to be given again."""


NO_PICTURE = ("--set", "view=none")
SMALL = ("--set", "width=64", "--set", "height=64")
OUTER = {
    "household": Outer(["alfred", *SMALL], "inhabit.envs.simulators.household.wire"),
    "virtualhome": Outer(["virtualhome", *NO_PICTURE], WORKER, lambda: not interpreter().exists()),
    "unity": Outer(
        ["virtualhome", "--backend", "unity", *NO_PICTURE, "--set", "executable={virtualhome}"],
        "stand-in-virtualhome",
        lambda: not interpreter().exists(),
    ),
    "thor": Outer(
        ["alfred", "--backend", "unity", *SMALL, "--set", "executable={alfred}"], "stand-in-alfred"
    ),
    "luanti": Outer(["minedojo"], "luanti.conf", lambda: bool(lacking())),
    "xvfb": Outer(["minedojo"], "Xvfb", lambda: bool(lacking()), victims=["process"]),
    "ray": Outer(["toy", "--ray", "--set", "delay=0.1"], "raylet/raylet", episodes=6, vital=True),
}
SIGNALS = (SIGINT, SIGTERM, SIGHUP, SIGKILL)
CELLS = [
    pytest.param(outer, number, victim, id=f"{outer}-{number.name}-{victim}")
    for turn, outer in enumerate(OUTER)
    for which, number in enumerate(SIGNALS)
    for victim in [OUTER[outer].victims[(turn + which) % len(OUTER[outer].victims)]]
]
"""Each program with each signal and each victim, and each signal with each victim."""


@pytest.mark.slow  # what the quick tests kill: test_resume.py, tests/envs/worker/test_household.py
@pytest.mark.parametrize(("outer", "number", "victim"), CELLS)
def test_nothing_is_left_and_the_run_completes(
    outer: str, number: Signals, victim: str, tmp_path: Path
) -> None:
    chosen = OUTER[outer]
    if chosen.lacking():
        pytest.skip("its programs are not on this machine: see `inhabit setup`")
    command, temporary = _command(chosen, tmp_path), tmp_path / "temporary"
    temporary.mkdir()
    surroundings = {**os.environ, "TMPDIR": str(temporary), "DISPLAY": ":0"}
    with (tmp_path / "said").open("wb") as said:
        runner = subprocess.Popen(
            command,
            stdout=said,
            stderr=said,
            env=surroundings,
            start_new_session=True,
            preexec_fn=_mind_all,
        )
    try:
        wait_for(lambda: _written(tmp_path / "run") > 2 or runner.poll() is not None)
        # Stopped meanwhile, so that it is in the midst of an episode when the signal comes.
        os.kill(runner.pid, SIGSTOP)
        family = psutil.Process(runner.pid).children(recursive=True)
        ports = _ports(family)
        struck = _struck(victim, runner.pid, family, chosen)
        below = [p for p in family if victim == "runner" or p in _below(struck)]
        os.kill(struck.pid, number)
        os.kill(runner.pid, SIGCONT)
        begun = time.monotonic()
        if victim == "runner":
            assert runner.wait(timeout=PATIENCE) != 0
        elif number == SIGKILL or victim == "worker":
            below.append(struck)
        wait_for(lambda: not any(map(_runs, below)))
        took = time.monotonic() - begun
        code = runner.wait(timeout=PATIENCE)
        ends = victim == "runner" or (chosen.vital and victim == "process")
        assert ends or code == 0, (tmp_path / "said").read_text()
        wait_for(lambda: not any(map(_runs, family)))
        wait_for(lambda: not list(temporary.iterdir()))
        wait_for(lambda: all(map(_free, ports)))
    finally:
        _end(runner)
    again = subprocess.run(
        command, capture_output=True, text=True, env=surroundings, timeout=PATIENCE, check=False
    )
    assert again.returncode == 0, again.stderr
    figures = json.loads(again.stdout.splitlines()[-1])
    assert figures["episodes"] == chosen.episodes == sum(figures["endings"].values())
    index = [json.loads(line) for line in (tmp_path / "run" / "index.jsonl").open()]
    # A record that was whole when the runner was killed may lack its line in the index.
    listed = [line["number"] for line in index]
    assert len(set(listed)) == len(listed)
    assert set(listed) <= set(range(chosen.episodes))
    assert all(episode.end() is not None for episode in Run.open(tmp_path / "run").episodes())
    cell = f"{outer}, {number.name} to the {victim}"
    sys.stdout.write(f"{cell}: gone after {took:.1f} s, {len(ports)} ports free, each counted\n")


def _mind_all() -> None:
    """Whoever runs these tests may have signals ignored, as `nohup` has."""
    for number in SIGNALS:
        if number != SIGKILL:
            signal(number, SIG_DFL)


def _command(outer: Outer, folder: Path) -> list[str]:
    programs = {env: str(stand_in(folder, env)) for env in ("virtualhome", "alfred")}
    words = [word.format(**programs) for word in outer.command]
    more = ["--agent", "random", "--workers", "2", "--n", str(outer.episodes), "--seed", "5"]
    more += ["--max-steps", "8", "--json"]
    return [*INHABIT, "run", *words, *more, "--out", str(folder / "run")]


def _struck(
    victim: str, runner: int, family: Sequence[psutil.Process], outer: Outer
) -> psutil.Process:
    if victim == "runner":
        return psutil.Process(runner)
    part = WORKER if victim == "worker" else outer.process
    return next(p for p in family if part in " ".join(_words(p)))


def _words(process: psutil.Process) -> Sequence[str]:
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return ()


def _below(process: psutil.Process) -> Sequence[psutil.Process]:
    return process.children(recursive=True)


def _ports(family: Sequence[psutil.Process]) -> Sequence[int]:
    found = set()
    for process in family:
        try:
            lines = process.net_connections("tcp")
        except psutil.Error:
            continue
        listening = [line.laddr for line in lines if line.status == psutil.CONN_LISTEN]
        assert all(place.ip in LOOPBACK for place in listening), listening
        found |= {place.port for place in listening}
    return sorted(found)


def _free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _end(runner: subprocess.Popen[bytes]) -> None:
    if runner.poll() is None:
        for process in psutil.Process(runner.pid).children(recursive=True):
            process.kill()
        runner.kill()
        runner.wait()


def _written(folder: Path) -> int:
    return sum(f.read_bytes().count(b"\n") for f in folder.glob("episodes/*/episode.jsonl"))
