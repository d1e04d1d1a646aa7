"""A run that is killed, interrupted or out of disk goes on, and comes to the same in the end."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil
import pytest
from in_process import inhabit
from toy_runs import play_toy, results, toy_tasks
from waiting import PATIENCE, wait_for

from inhabit.cli import main
from inhabit.episodes.recording.reader import RecordError, Run
from inhabit.episodes.recording.schema import EndLine

INHABIT = [sys.executable, "-c", "from inhabit.cli import main; main()"]
RUN = ["run", "toy", "--agent", "random", "--n", "8", "--seed", "3", "--workers", "2", "--json"]
SLOW = ["--set", "delay=0.004"]
SLOWER = ["--set", "delay=0.03"]
"""Seconds a call: the run does not end before the signal arrives, however busy the machine is."""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    ran = inhabit(*RUN, *SLOW, "--out", str(folder))
    assert ran.returncode == 0, ran.stderr
    return Run.open(folder)


def test_killed_again_and_again_it_comes_to_the_same(undisturbed: Run, tmp_path: Path) -> None:
    folder, lot = tmp_path / "run", random.Random(0)
    for _ in range(2):
        running = subprocess.Popen(
            [*INHABIT, *RUN, *SLOW, "--out", str(folder)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        lines = lot.randrange(60)
        wait_for(lambda r=running, n=lines: r.poll() is not None or written(folder) > n)
        theirs = psutil.Process(running.pid).children(recursive=True) if not running.poll() else []
        running.kill()
        running.wait()
        wait_for(lambda t=theirs: not any(p.is_running() and p.status() != "zombie" for p in t))
    ran = inhabit(*RUN, *SLOW, "--out", str(folder))
    assert ran.returncode == 0, ran.stderr
    again = Run.open(folder)
    assert results(again) == results(undisturbed)
    figures = json.loads(ran.stdout.splitlines()[-1])
    assert figures["episodes"] == 8
    assert sum(figures["endings"].values()) == 8


def written(folder: Path) -> int:
    return sum(f.read_bytes().count(b"\n") for f in folder.glob("episodes/*/episode.jsonl"))


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_interrupted_it_ends_cleanly_and_goes_on(
    undisturbed: Run, tmp_path: Path, number: signal.Signals
) -> None:
    folder = tmp_path / "run"
    running = subprocess.Popen(
        [*INHABIT, *RUN, *SLOWER, "--out", str(folder)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_for(lambda: written(folder) > 30)
    theirs = psutil.Process(running.pid).children(recursive=True)
    assert theirs, "Environments live in processes of their own."
    running.send_signal(number)
    _, said = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130
    assert "Traceback" not in said
    assert f"Run the same command again to continue {folder}" in said.replace("\n", "")
    wait_for(lambda: not any(p.is_running() and p.status() != "zombie" for p in theirs))
    assert inhabit(*RUN, *SLOWER, "--out", str(folder)).returncode == 0
    assert results(Run.open(folder)) == results(undisturbed)


def test_a_finished_run_plays_nothing_again(undisturbed: Run) -> None:
    before = {f: f.stat().st_mtime_ns for f in undisturbed.folder.rglob("*")}
    ran = inhabit(*RUN, *SLOW, "--out", str(undisturbed.folder))
    assert ran.returncode == 0
    assert {f: f.stat().st_mtime_ns for f in undisturbed.folder.rglob("*")} == before
    assert json.loads(ran.stdout.splitlines()[-1])["episodes"] == 8


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (["--agent", "expert"], "agent 'random', not 'expert'"),
        (["--seed", "4"], "seed 3, not 4"),
        (["--n", "7"], "holds 8 tasks, more than 7"),
        (["--set", "delay=0.5"], "env.delay 0.004, not 0.5"),
        (["--sight", "none"], "image 'shown', not 'none'"),
        (["--max-steps", "5"], "max_steps None, not 5"),
    ],
)
def test_another_command_is_refused(
    undisturbed: Run, change: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = written(undisturbed.folder)
    with pytest.raises(SystemExit) as left:
        main([*RUN, *SLOW, *change, "--out", str(undisturbed.folder)])
    assert left.value.code == 2
    assert says in " ".join(capsys.readouterr().err.split())
    assert written(undisturbed.folder) == before


def test_more_tasks_are_added(tmp_path: Path) -> None:
    """It comes to what one command gives, even if it was cut off between its two files."""
    words = ["run", "toy", "--agent", "random", "--seed", "3", "--set", "in_process=true"]
    whole, grown = tmp_path / "whole", tmp_path / "grown"
    assert inhabit(*words, "--n", "5", "--out", str(whole)).returncode == 0
    assert inhabit(*words, "--n", "3", "--out", str(grown)).returncode == 0
    before = (grown / "episodes" / "00002" / "episode.jsonl").read_bytes()
    (grown / "tasks.jsonl").write_bytes((whole / "tasks.jsonl").read_bytes())
    assert len(Run.open(grown).tasks) == 3
    ran = inhabit(*words, "--n", "5", "--out", str(grown))
    assert ran.returncode == 0, ran.stderr
    assert results(Run.open(grown)) == results(Run.open(whole))
    assert (grown / "episodes" / "00002" / "episode.jsonl").read_bytes() == before


def test_two_runs_never_write_into_one_folder(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    running = subprocess.Popen(
        [*INHABIT, *RUN, "--set", "delay=1", "--out", str(folder)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        wait_for(lambda: written(folder) > 0)
        ran = inhabit(*RUN, "--set", "delay=1", "--out", str(folder))
        assert ran.returncode == 2
        assert "is being written to by another run" in ran.stderr
    finally:
        running.kill()
        running.wait()


def test_out_of_disk_it_stops_and_goes_on(undisturbed: Run, tmp_path: Path) -> None:
    """No file may grow beyond 8 kB: some episode can't be written to its end."""
    folder = tmp_path / "run"
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 1 << 40)); "
    # In this process, because a worker would run into the limit too.
    words = [*RUN, "--set", "in_process=true", "--out", str(folder)]
    limited = [sys.executable, "-c", limit + INHABIT[-1], *words]
    ran = subprocess.run(limited, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert ran.returncode == 1, ran.stderr
    assert "can't be written: File too large" in ran.stderr
    assert "Traceback" not in ran.stderr
    for file in folder.glob("episodes/*/episode.jsonl"):
        # Empty where another episode had not got to its first line yet.
        content = file.read_bytes()
        assert not content or content.endswith(b"\n"), "A half line was taken away again."
    assert inhabit(*words).returncode == 0
    assert results(Run.open(folder)) == results(undisturbed)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "file"),
    [((), "index.html"), (("--gif",), "episode.gif")],
)
def test_pages_of_a_full_disk_are_whole_or_absent(
    more: Sequence[str], file: str, undisturbed: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(undisturbed.folder, folder)
    (folder / "index.jsonl").unlink()
    before = content(folder)
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 1 << 40)); "
    shown = subprocess.run(
        [sys.executable, "-c", limit + INHABIT[-1], "show", str(folder), *more],
        capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert shown.returncode == 1, shown.stderr
    assert f"{file} can't be written: File too large" in shown.stderr
    assert "Traceback" not in shown.stderr
    assert content(folder) == before
    assert inhabit("show", str(folder)).returncode == 0


def content(folder: Path) -> Mapping[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_run_cut_off_before_it_began_begins(tmp_path: Path) -> None:
    (tmp_path / "tasks.jsonl").write_text("half a ta")
    (tmp_path / "run.json.half").write_text("{")
    run = play_toy(tmp_path, tasks=toy_tasks(1), agent="expert")
    end = run.episode(0).end()
    assert isinstance(end, EndLine)
    assert end.success


def test_half_an_episode_is_a_new_attempt(tmp_path: Path) -> None:
    run = play_toy(tmp_path, tasks=toy_tasks(1), agent="expert")
    lines = run.episode(0).file.read_bytes().splitlines(keepends=True)
    run.episode(0).file.write_bytes(b"".join(lines[:6]))
    again = play_toy(tmp_path, tasks=toy_tasks(1), agent="expert").episode(0)
    first, second = again.attempts()
    assert (first.start.attempt, second.start.attempt) == (1, 2)
    assert first.end is None
    assert second.end is not None
    assert again.file.read_bytes().startswith(b"".join(lines[:6]))


def test_a_broken_record_stops_the_run_and_loses_nothing(tmp_path: Path) -> None:
    run = play_toy(tmp_path, tasks=toy_tasks(2), agent="expert")
    broken = run.episode(1).file
    broken.write_bytes(b"{not json}\n{}\n")
    with pytest.raises(RecordError, match=r"00001/episode\.jsonl, line 1"):
        play_toy(tmp_path, tasks=toy_tasks(2), agent="expert")
    assert broken.read_bytes() == b"{not json}\n{}\n"


def test_interrupted_twice_it_ends_at_once(tmp_path: Path) -> None:
    """A simulator in this process can't be ended in the middle of a call that takes a minute."""
    folder = tmp_path / "run"
    stuck = ["--set", "in_process=true", "--set", "delay=60", "--out", str(folder)]
    running = subprocess.Popen([*INHABIT, *RUN, *stuck], stderr=subprocess.PIPE, text=True)
    try:
        wait_for(lambda: written(folder) >= 3)
        running.send_signal(signal.SIGINT)
        assert running.stderr is not None
        # A line of progress may come first.
        assert any("again to stop at once" in line for line in running.stderr)
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=PATIENCE) == 130
    finally:
        running.kill()
