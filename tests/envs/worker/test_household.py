"""Runner, worker, AI2-THOR's client, simulator: whoever of them is killed, none is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import psutil
import pytest
from waiting import PATIENCE, alive, wait_for

from inhabit.envs.alfred.world.settings import AlfredSettings
from inhabit.envs.core import Env, Expert, Forkable, Privileged, SimulatorError, Task, Tools
from inhabit.envs.host.env import WorkerEnv
from inhabit.envs.registry import find


@pytest.fixture(scope="module")
def task() -> Task:
    return next(iter(find("alfred").sample(1, 0, AlfredSettings())))


def started(task: Task) -> Iterator[WorkerEnv]:
    with WorkerEnv("alfred", "embedded", {}) as made:
        made.reset(task, seed=0)
        yield made


env = pytest.fixture(started)
"""One that a test may kill."""
lasting = pytest.fixture(started, scope="module")
"""One for all tests that leave it as it is."""


def simulator(env: Env) -> psutil.Process:
    assert isinstance(env, WorkerEnv)
    family = psutil.Process(env.pid).children(recursive=True)
    return next(p for p in family if "inhabit.envs.simulators.household.wire" in p.cmdline())


@pytest.mark.slow
def test_it_is_all_that_the_environment_inside_is(lasting: WorkerEnv) -> None:
    env = lasting
    for capability in (Expert, Forkable, Tools, Privileged):
        assert isinstance(env, capability)
    assert isinstance(env, Expert)
    seen = env.observe()
    assert seen.rgb is not None and seen.rgb.shape == (300, 300, 3) and seen.rgb.std() > 5
    outcome = env.act(env.plan()[0])
    assert outcome.reason is None


@pytest.mark.slow
def test_a_simulator_killed_in_mid_episode(env: WorkerEnv) -> None:
    assert isinstance(env, Expert)
    plan = env.plan()
    env.act(plan[0])
    victim = simulator(env)
    victim.kill()
    start = time.monotonic()
    with pytest.raises(SimulatorError, match="exit status -9"):
        env.act(plan[1])
    assert time.monotonic() - start < PATIENCE
    env.close()
    assert not alive(victim.pid)


@pytest.mark.slow
def test_a_simulator_that_stops_answering(task: Task) -> None:
    with WorkerEnv("alfred", "embedded", {}, deadline=10, reset_deadline=PATIENCE) as env:
        env.reset(task, seed=0)
        victim = simulator(env)
        victim.suspend()
        with pytest.raises(SimulatorError, match="within 10 s") as caught:
            assert isinstance(env, Expert)
            env.act(env.plan()[0])
        assert "fifo_server.py" in str(caught.value)
        wait_for(lambda: not alive(victim.pid))


@pytest.mark.slow
def test_a_worker_killed_takes_its_simulator_along(env: WorkerEnv) -> None:
    victim = simulator(env)
    os.kill(env.pid, signal.SIGKILL)
    wait_for(lambda: not alive(victim.pid))
    with pytest.raises(SimulatorError, match="SIGKILL"):
        env.observe()


RUNNER = """
import sys, time
from inhabit.envs.core import Task
from inhabit.envs.host.env import WorkerEnv
env = WorkerEnv("alfred", "embedded", {})
env.reset(Task.model_validate_json(sys.argv[1]), seed=0)
print(env.pid, flush=True)
while True:
    env.act(env.actions()[0])
"""


def test_a_runner_killed_leaves_nothing(task: Task) -> None:
    command = [sys.executable, "-c", RUNNER, task.model_dump_json()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as runner:
        assert runner.stdout is not None
        worker = psutil.Process(int(runner.stdout.readline()))
        family = [worker, *worker.children(recursive=True)]
        assert len(family) == 3
        time.sleep(0.2)
        runner.kill()
    wait_for(lambda: not any(alive(p.pid) for p in family))


@pytest.mark.slow
def test_memory_of_a_worker_with_a_room(lasting: WorkerEnv) -> None:
    worker = psutil.Process(lasting.pid)
    family = [worker, *worker.children(recursive=True)]
    assert sum(p.memory_info().rss for p in family) < 600e6
