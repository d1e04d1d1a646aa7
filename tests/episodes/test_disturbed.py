"""Whatever befalls a run, in the end it comes to what the undisturbed run comes to."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from toy_runs import Dying, play_toy, results, toy_tasks

from inhabit.agents.core import Agent, Decision, View
from inhabit.agents.planners.plain import Random
from inhabit.envs.core import Env
from inhabit.envs.host.env import WorkerEnv
from inhabit.envs.toy.env import Toy
from inhabit.envs.toy.house import ToySettings
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import Ending
from inhabit.episodes.scoring.scores import score

TASKS = toy_tasks(4, seed=3)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return play_toy(tmp_path_factory.mktemp("undisturbed"), tasks=TASKS)


class Strikes(Agent):
    """Decides by lot, and strikes once at every step: before it says what it wants."""

    def __init__(self, strike: Callable[[], None]) -> None:
        self._agent = Random()
        self._strike = strike
        self._struck: set[int] = set()
        self.asked: list[int] = []

    async def decide(self, view: View) -> Decision:
        step = len(view.history)
        self.asked.append(step)
        if step not in self._struck:
            self._struck.add(step)
            self._strike()
        return await self._agent.decide(view)


class Workers:
    """Makes workers, and sends a signal to the one that was made last."""

    def __init__(self, deadline: float = 20) -> None:
        self.made: list[WorkerEnv] = []
        self._deadline = deadline

    def make(self) -> Env:
        self.made.append(WorkerEnv("toy", "grid", {}, deadline=self._deadline))
        return self.made[-1]

    def strike(self, number: signal.Signals) -> None:
        os.kill(self.made[-1].pid, number)


def nobody_is_left() -> bool:
    children = psutil.Process().children(recursive=True)
    return not [
        p for p in children if p.status() != "zombie" and "inhabit.envs.host" in p.cmdline()
    ]


@pytest.mark.slow
def test_a_worker_killed_at_every_step_of_an_episode(undisturbed: Run, tmp_path: Path) -> None:
    steps = len(undisturbed.episode(0).attempts()[0].steps) - 1
    workers = Workers()
    agent = Strikes(lambda: workers.strike(signal.SIGKILL))
    run = play_toy(
        tmp_path,
        tasks=TASKS[:1],
        made=agent,
        make=workers.make,
        assignments=["retries=99", "pause=0"],
    )
    assert results(run) == results(undisturbed)[:1]
    attempts = run.episode(0).attempts()
    assert [a.end and a.end.again for a in attempts] == [True] * steps + [False]
    assert "SIGKILL" in str(attempts[0].end and attempts[0].end.error)
    assert agent.asked == list(range(steps)), "What was decided is never asked again."
    assert (score(run).attempts, score(run).episodes) == (steps + 1, 1)
    assert nobody_is_left()


def test_a_simulator_that_stands_still_is_given_up(undisturbed: Run, tmp_path: Path) -> None:
    workers = Workers(deadline=3)
    strikes = iter([signal.SIGSTOP])

    def strike() -> None:
        if (number := next(strikes, None)) is not None:
            workers.strike(number)

    run = play_toy(
        tmp_path, tasks=TASKS[:1], made=Strikes(strike), make=workers.make,
        assignments=["retries=1", "pause=0"],
    )  # fmt: skip
    assert results(run) == results(undisturbed)[:1]
    first = run.episode(0).attempts()[0].end
    assert first is not None
    assert "did not answer" in str(first.error)
    assert nobody_is_left()


def test_retries_have_a_limit(tmp_path: Path) -> None:
    run = play_toy(
        tmp_path, tasks=TASKS[:2], make=lambda: Dying(1), assignments=["retries=2", "pause=0.01"]
    )
    ends = [episode.end() for episode in run.episodes()]
    assert [end and end.ending for end in ends] == [Ending.SIMULATOR_FAULT] * 2
    assert [len(episode.attempts()) for episode in run.episodes()] == [3, 3]
    figures = score(run)
    assert (figures.episodes, figures.attempts) == (2, 6)
    assert figures.endings[Ending.SIMULATOR_FAULT] == 2


@pytest.mark.parametrize("moments", [12, pytest.param(50, marks=pytest.mark.slow)])
def test_the_runner_killed_at_random_moments(
    moments: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    tasks = toy_tasks(16)
    folder = tmp_path_factory.mktemp("killed")
    lot = random.Random(8)
    for _ in range(moments):
        before = written(folder)
        pid = os.fork()
        if pid == 0:
            with contextlib.suppress(BaseException):
                play_toy(folder, tasks=tasks, make=slow_toy, workers=2)
            os._exit(0)
        until = time.monotonic() + 2
        while written(folder) == before and time.monotonic() < until:
            time.sleep(0.001)
        time.sleep(lot.uniform(0.0, 0.02))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    run = play_toy(folder, tasks=tasks, workers=2)
    assert results(run) == results(play_toy(tmp_path_factory.mktemp("undisturbed"), tasks=tasks))
    figures = score(run)
    assert figures.episodes == len(tasks) == sum(figures.endings.values())
    assert figures.attempts > len(tasks), "It was cut off in the middle of episodes."


def written(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.glob("episodes/*/episode.jsonl"))


def slow_toy() -> Env:
    return Toy(ToySettings(delay=0.001))


@pytest.mark.parametrize("spoilt", [b'{"kind":"act","st', b"\0" * 700, b"\0" * 700 + b"\n", b"}\n"])
@pytest.mark.parametrize("lines", [2, 9])
def test_a_spoilt_last_line_is_taken_away(
    undisturbed: Run, tmp_path: Path, spoilt: bytes, lines: int
) -> None:
    shutil.copytree(undisturbed.folder, tmp_path / "run")
    file = Run.open(tmp_path / "run").episode(2).file
    kept = b"".join(file.read_bytes().splitlines(keepends=True)[:lines])
    file.write_bytes(kept + spoilt)
    assert Run.open(tmp_path / "run").episode(2).end() is None
    run = play_toy(tmp_path / "run", tasks=TASKS)
    assert results(run) == results(undisturbed)
    content = run.episode(2).file.read_bytes()
    assert content.startswith(kept)
    assert all(json.loads(line) for line in content.splitlines())


def test_a_spoilt_line_after_the_end_does_not_undo_it(undisturbed: Run, tmp_path: Path) -> None:
    shutil.copytree(undisturbed.folder, tmp_path / "run")
    file = Run.open(tmp_path / "run").episode(2).file
    with file.open("ab") as stream:
        stream.write(b"\0\0\n")
    assert results(play_toy(tmp_path / "run", tasks=TASKS)) == results(undisturbed)


def test_a_clock_that_jumps_changes_nothing(
    undisturbed: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lot = random.Random(1)
    monkeypatch.setattr(time, "time", lambda: lot.uniform(-1e9, 4e9))
    run = play_toy(tmp_path, tasks=TASKS)
    assert results(run) == results(undisturbed)
    seconds = score(run).seconds
    assert all(0 <= part < 60 for part in seconds.model_dump().values())


def test_half_an_episode_goes_on_where_it_stopped(undisturbed: Run, tmp_path: Path) -> None:
    shutil.copytree(undisturbed.folder, tmp_path / "run")
    file = Run.open(tmp_path / "run").episode(0).file
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:9]))  # start; see, decide, act, twice; see, decide
    agent = Strikes(lambda: None)
    run = play_toy(tmp_path / "run", tasks=TASKS, made=agent)
    assert results(run) == results(undisturbed)
    assert agent.asked[0] == 3, "What was decided is on record, acted or not."
    first, second = run.episode(0).attempts()
    assert (first.end, second.start.continues) == (None, 1)


def test_half_an_episode_begins_anew_if_asked_to(undisturbed: Run, tmp_path: Path) -> None:
    shutil.copytree(undisturbed.folder, tmp_path / "run")
    file = Run.open(tmp_path / "run").episode(0).file
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:9]))
    agent = Strikes(lambda: None)
    run = play_toy(tmp_path / "run", tasks=TASKS, made=agent, assignments=["resume=restart"])
    assert results(run) == results(undisturbed)
    assert agent.asked[0] == 0
    assert run.episode(0).attempts()[1].start.continues is None


@pytest.mark.parametrize(("kind", "change"), [
    ("see", {"digest": "0123456789abcdef"}),
    ("act", {"feedback": "All is well."}),
    ("decide", {"action": "fly to the {moon}"}),
])  # fmt: skip
def test_half_an_episode_that_comes_out_differently_begins_anew(
    undisturbed: Run, tmp_path: Path, kind: str, change: dict[str, Any]
) -> None:
    shutil.copytree(undisturbed.folder, tmp_path / "run")
    file = Run.open(tmp_path / "run").episode(0).file
    lines = [json.loads(line) for line in file.read_bytes().splitlines()[:9]]
    next(line for line in lines if line["kind"] == kind and line["step"] == 1).update(change)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    run = play_toy(tmp_path / "run", tasks=TASKS)
    assert results(run) == results(undisturbed)
    attempts = run.episode(0).attempts()
    assert [a.start.continues for a in attempts] == [None, 1, None]
    assert attempts[1].end is None, "It stops at the step that differs."


def test_an_episode_has_its_time(tmp_path: Path) -> None:
    run = play_toy(tmp_path, tasks=TASKS[:1], make=slow_toy, assignments=["max_seconds=0.001"])
    end = run.episode(0).end()
    assert end is not None
    assert end.ending is Ending.BUDGET
    assert "0.001 s" in str(end.error)
