"""The same disturbances with a real simulator: its own program behind the worker."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil
import pytest
from toy_runs import results
from waiting import wait_for

from inhabit.agents.core import Agent, Decision, View
from inhabit.agents.planners.plain import ExpertAgent
from inhabit.envs.core import Env
from inhabit.envs.host.env import WorkerEnv
from inhabit.envs.registry import find
from inhabit.episodes.playing.plan import plan
from inhabit.episodes.playing.run import run_episodes
from inhabit.episodes.recording.folder import begin, earlier
from inhabit.episodes.recording.reader import Run

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

INHABIT = [sys.executable, "-c", "from inhabit.cli import main; main()"]
STEPS = 6


class Strikes(Agent):
    """Follows the expert, whose actions all need the simulator, and strikes once at every step,
    before it says what it wants.
    """

    def __init__(self, strike: Callable[[], None]) -> None:
        self._agent = ExpertAgent()
        self._strike = strike
        self._struck: set[int] = set()

    async def decide(self, view: View) -> Decision:
        if (step := len(view.history)) not in self._struck:
            self._struck.add(step)
            self._strike()
        return await self._agent.decide(view)


class Household:
    """Makes workers with a household in them, and finds the simulator of the latest."""

    def __init__(self, deadline: float = 60) -> None:
        self._made: list[WorkerEnv] = []
        self._deadline = deadline

    def make(self) -> Env:
        made = WorkerEnv("alfred", "embedded", {}, deadline=self._deadline, reset_deadline=180)
        self._made.append(made)
        return made

    def worker(self) -> psutil.Process:
        return psutil.Process(self._made[-1].pid)

    def simulator(self) -> psutil.Process:
        """The youngest program that the worker has started, other than its guard."""
        started = [p for p in self.worker().children(recursive=True) if p.name() != "sh"]
        return max(started, key=lambda p: p.create_time())

    def left(self) -> Sequence[psutil.Process]:
        family = psutil.Process().children(recursive=True)
        return [p for p in family if p.status() != "zombie" and "inhabit.envs.host" in p.cmdline()]


def play(folder: Path, agent: Agent, make: Callable[[], Env], retries: int) -> Run:
    tasks = tuple(find("alfred").sample(1, 5, find("alfred").settings()))
    chosen = plan(
        "alfred", "expert", max_steps=STEPS, assignments=[f"retries={retries}", "pause=0"]
    )
    folder.mkdir(parents=True, exist_ok=True)
    with make() as env:
        determinism = env.determinism
    run = earlier(folder) or begin(folder, chosen.header(determinism, tasks, ["test"]), tasks)
    asyncio.run(run_episodes(run, make, agent, chosen))
    return Run.open(folder)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return play(tmp_path_factory.mktemp("undisturbed"), ExpertAgent(), Household().make, 0)


@pytest.mark.parametrize("whom", ["worker", "simulator"])
def test_killed_at_every_step(undisturbed: Run, tmp_path: Path, whom: str) -> None:
    household = Household()
    agent = Strikes(lambda: os.kill(getattr(household, whom)().pid, signal.SIGKILL))
    run = play(tmp_path, agent, household.make, 2 * STEPS)
    assert results(run) == results(undisturbed)
    assert len(run.episode(0).attempts()) > STEPS // 2
    assert not household.left()


def test_a_simulator_that_stands_still(undisturbed: Run, tmp_path: Path) -> None:
    household = Household(deadline=10)
    strikes = iter([lambda: os.kill(household.simulator().pid, signal.SIGSTOP)])
    agent = Strikes(lambda: next(strikes, lambda: None)())
    run = play(tmp_path, agent, household.make, 1)
    assert results(run) == results(undisturbed)
    first = run.episode(0).attempts()[0].end
    assert first is not None
    assert "did not answer" in str(first.error)
    assert not household.left()


def test_the_runner_killed_at_random_moments(tmp_path: Path) -> None:
    words = ["run", "alfred", "--agent", "random", "--n", "2", "--seed", "5", "--workers", "2"]
    words += ["--max-steps", "8", "--out"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    assert subprocess.run([*INHABIT, *words, str(tmp_path / "whole")], **quiet).returncode == 0  # type: ignore[call-overload]
    folder, lot = tmp_path / "run", random.Random(1)
    for _ in range(6):
        running = subprocess.Popen([*INHABIT, *words, str(folder)], **quiet)  # type: ignore[call-overload]
        before, more = written(folder), lot.randrange(1, 8)
        wait_for(lambda r=running, n=before + more: r.poll() is not None or written(folder) > n)  # type: ignore[misc]
        family = psutil.Process(running.pid).children(recursive=True) if not running.poll() else []
        running.kill()
        running.wait()
        wait_for(lambda f=family: not any(p.is_running() and p.status() != "zombie" for p in f))  # type: ignore[misc]
    assert subprocess.run([*INHABIT, *words, str(folder)], **quiet).returncode == 0  # type: ignore[call-overload]
    assert results(Run.open(folder)) == results(Run.open(tmp_path / "whole"))


def written(folder: Path) -> int:
    return sum(f.read_bytes().count(b"\n") for f in folder.glob("episodes/*/episode.jsonl"))
