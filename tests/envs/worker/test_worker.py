from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from sampling import every
from waiting import PATIENCE, alive, wait_for

from inhabit.envs.contract import EnvContract
from inhabit.envs.core import (
    Action,
    Determinism,
    Env,
    Expert,
    Forkable,
    Privileged,
    SceneError,
    SimulatorError,
    Task,
    TaskError,
    Tools,
    UnavailableError,
)
from inhabit.envs.host.env import Link, WorkerEnv, WorkerError
from inhabit.envs.toy.env import Toy
from inhabit.envs.toy.house import ToyScene, ToySettings
from inhabit.envs.toy.tasks import sample

PLUGIN = Path(__file__).with_name("plugin")


@pytest.mark.slow  # what a worker answers is compared with the environment inside below
class TestToyInAWorker(EnvContract):
    def make(self) -> Env:
        return WorkerEnv("toy", "grid", {}, deadline=30)

    def tasks(self) -> Sequence[Task]:
        return list(sample(3, seed=0))


def install(patch: pytest.MonkeyPatch) -> None:
    """Makes `trouble` a package that workers find."""
    paths = [str(PLUGIN), os.environ.get("PYTHONPATH", "")]
    patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))


@pytest.fixture(autouse=True)
def plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)


def started() -> Iterator[WorkerEnv]:
    with WorkerEnv("trouble", "only", {}, deadline=20) as env:
        yield env


trouble = pytest.fixture(started)
"""One that a test may end."""


@pytest.fixture(scope="module")
def lasting() -> Iterator[WorkerEnv]:
    """One for all tests that leave it as it is."""
    with pytest.MonkeyPatch.context() as patch:
        install(patch)
        yield from started()


def do(env: Env, verb: str, *arguments: str) -> str:
    return env.act(Action(verb, verb, arguments)).feedback


def task(kind: str = "", **changes: Any) -> Task:
    return Task(id="t", env="trouble", kind=kind, goal="g", scene={}).model_copy(update=changes)


def test_capabilities_are_those_of_the_environment_inside(lasting: WorkerEnv) -> None:
    trouble = lasting
    with WorkerEnv("toy", "grid", {}) as toy:
        for capability in (Expert, Forkable, Tools, Privileged):
            assert isinstance(toy, capability)
            assert not isinstance(trouble, capability)
        assert isinstance(toy, WorkerEnv) and isinstance(trouble, WorkerEnv)
        assert toy.determinism is Determinism.FRAMES and toy.Scene is ToyScene
        assert not toy.realtime and trouble.realtime
        assert trouble.determinism is Determinism.NONE


def test_template_that_is_not_importable_here_is_named(lasting: WorkerEnv) -> None:
    with pytest.raises(UnavailableError, match="trouble:TroubleScene"):
        _ = lasting.Scene


def test_answers_are_those_of_the_environment_inside() -> None:
    settings = {"pixels": 64}
    direct = Toy(ToySettings(**settings))
    with WorkerEnv("toy", "grid", settings) as env:
        for one in sample(3, seed=5):
            direct.reset(one, seed=0)
            env.reset(one, seed=0)
            for action in [*direct.plan()[:2], *direct.vocabulary()[::5]]:
                assert env.act(action) == direct.act(action)
                assert env.state() == direct.state() and env.digest() == direct.digest()
                assert list(env.plan()) == list(direct.plan())
                assert env.best_actions() == direct.best_actions()
                assert list(env.admissible()) == list(direct.admissible())
                seen, shown = env.observe(), direct.observe()
                assert np.array_equal(seen.rgb, shown.rgb) and seen.text == shown.text
            assert [dict(t) for t in env.tools()] == [dict(t) for t in direct.tools()]
            assert env.call("object_detection", {}) == direct.call("object_detection", {})


def test_actions_keep_their_verb_and_arguments(lasting: WorkerEnv) -> None:
    said = lasting.parse('put "{0}"\n%s in ü\udcff')
    assert said is not None and said.text == said.verb == 'put "{0}"\n%s in ü\udcff'
    assert lasting.parse("") is None


def test_every_kind_of_picture_comes_through(trouble: WorkerEnv) -> None:
    for side in (4, 1, 700, 33):
        do(trouble, "grow", str(side))
        trouble.reset(task(), seed=0)
        seen = trouble.observe()
        assert seen.text == "{not} a %s format \udcff\n" and seen.names == ("mug {|} ü",)
        assert seen.rgb is not None and seen.depth is not None and seen.instances is not None
        expected = np.arange(side * side * 3, dtype=np.uint32).astype(np.uint8)
        assert np.array_equal(seen.rgb.ravel(), expected) and seen.rgb.shape == (side, side, 3)
        assert np.array_equal(np.isinf(seen.depth), np.eye(side, dtype=bool))
        assert np.array_equal(seen.instances, np.eye(side) - 1)
        assert seen.depth.dtype == np.float32 and seen.instances.dtype == np.int32
        (clip,) = seen.clips
        assert clip.frames.shape == (3, side, side, 3) and (clip.frames == 7).all()
        assert clip.text == "first"


def test_an_observation_is_not_overwritten_by_the_next(lasting: WorkerEnv) -> None:
    first = lasting.observe().rgb
    assert first is not None
    first[:] = 99
    again = lasting.observe().rgb
    assert (first == 99).all() and not np.array_equal(first, again)


KINDS = (SimulatorError, UnavailableError, SceneError, TaskError)


@pytest.mark.parametrize("kind", KINDS)
def test_errors_travel_as_themselves(lasting: WorkerEnv, kind: type[Exception]) -> None:
    travels(kind, lambda: do(lasting, kind.__name__))
    travels(kind, lambda: lasting.reset(task(kind.__name__), seed=0))
    assert do(lasting, "wait") == "ok"


@pytest.mark.parametrize("kind", every(4, KINDS))
def test_errors_of_a_start_travel_as_themselves(kind: type[Exception]) -> None:
    travels(kind, lambda: WorkerEnv("trouble", "only", {"start": kind.__name__}))


def travels(kind: type[Exception], attempt: Callable[[], object]) -> None:
    with pytest.raises(kind) as caught:
        attempt()
    assert type(caught.value) is (WorkerError if kind is SimulatorError else kind)
    assert str(caught.value) == f"a {{plain}} {kind.__name__}"


def test_a_bug_shows_where_it_is(lasting: WorkerEnv) -> None:
    with pytest.raises(SimulatorError, match=r"(?s)RuntimeError: a \{bug\} of ours.*in _fail"):
        do(lasting, "bug")
    assert do(lasting, "wait") == "ok"


def test_wrong_names_and_settings_are_refused() -> None:
    with pytest.raises(ValueError, match=r"There is no environment 'toi'\. Did you mean: toy"):
        WorkerEnv("toi", "grid", {})
    with pytest.raises(ValueError, match="no_such"):
        WorkerEnv("toy", "grid", {"no_such": 1})
    with pytest.raises(SimulatorError, match="/no/such/python"):
        WorkerEnv("toy", "grid", {}, interpreter="/no/such/python")


def test_a_tool_that_is_not_there_is_the_callers_mistake() -> None:
    with WorkerEnv("toy", "grid", {}) as env:
        assert isinstance(env, Tools)
        with pytest.raises(KeyError, match="no_such_tool"):
            env.call("no_such_tool", {})
        with pytest.raises(TypeError):
            env.call("object_detection", {"not plain": object()})  # type: ignore[dict-item]
        assert isinstance(env.call("object_detection", {}), list)


@pytest.mark.parametrize(
    ("how", "cause"),
    [("exit", "exit code 3"), ("segfault", "SIGSEGV")],
)
def test_death_is_told_at_once(trouble: WorkerEnv, how: str, cause: str) -> None:
    simulator = int(do(trouble, "simulator"))
    start = time.monotonic()
    with pytest.raises(SimulatorError, match=f"trouble worker died in 'act' .*{cause}") as caught:
        do(trouble, how)
    assert time.monotonic() - start < PATIENCE
    shown = "about to exit" if how == "exit" else "trouble.py"
    assert shown in str(caught.value)
    wait_for(lambda: not alive(simulator) and not alive(trouble.pid))
    with pytest.raises(SimulatorError, match=cause):
        trouble.observe()


def test_death_between_calls_takes_the_simulator_along(trouble: WorkerEnv) -> None:
    simulator = int(do(trouble, "simulator"))
    os.kill(trouble.pid, signal.SIGKILL)
    wait_for(lambda: not alive(simulator))
    start = time.monotonic()
    with pytest.raises(SimulatorError, match="SIGKILL"):
        trouble.progress()
    assert time.monotonic() - start < PATIENCE


def test_temporary_files_of_a_killed_worker_are_removed(trouble: WorkerEnv) -> None:
    litter = Path(do(trouble, "litter"))
    assert litter.is_dir()
    with pytest.raises(SimulatorError):
        do(trouble, "exit")
    assert not litter.exists()


def test_a_late_answer_costs_the_worker_its_life() -> None:
    with WorkerEnv("trouble", "only", {}, deadline=5) as env:
        simulator = int(do(env, "simulator"))
        start = time.monotonic()
        with pytest.raises(SimulatorError, match="'act' within 5 s") as caught:
            do(env, "hang")
        assert time.monotonic() - start < PATIENCE
        # What it printed, and where it hung.
        assert "about to hang" in str(caught.value) and "_fail" in str(caught.value)
        wait_for(lambda: not alive(simulator) and not alive(env.pid))


def test_a_stopped_worker_is_killed() -> None:
    with WorkerEnv("trouble", "only", {}, deadline=0.3) as env:
        os.kill(env.pid, signal.SIGSTOP)
        with pytest.raises(SimulatorError, match=r"within 0\.3 s"):
            env.progress()
        wait_for(lambda: not alive(env.pid))


def test_the_first_image_may_take_as_long_as_a_reset() -> None:
    with WorkerEnv("trouble", "only", {}, deadline=0.3) as env:
        env.reset(task(), seed=0)
        os.kill(env.pid, signal.SIGSTOP)
        threading.Timer(1.0, os.kill, (env.pid, signal.SIGCONT)).start()
        env.observe()
        os.kill(env.pid, signal.SIGSTOP)
        with pytest.raises(SimulatorError, match=r"'observe' within 0\.3 s"):
            env.observe()


@pytest.mark.slow
def test_a_reset_has_a_deadline_of_its_own() -> None:
    with WorkerEnv("trouble", "only", {}, deadline=PATIENCE, reset_deadline=15) as env:
        env.reset(task(), seed=0)
        with pytest.raises(SimulatorError, match="'reset' within 15 s"):
            env.reset(task("hang"), seed=0)


@pytest.mark.slow
def test_a_start_has_a_deadline_of_its_own() -> None:
    with pytest.raises(SimulatorError, match="'make' within 15 s"):
        WorkerEnv("trouble", "only", {"start": "hang"}, reset_deadline=15)


def test_the_last_lines_are_kept(trouble: WorkerEnv) -> None:
    do(trouble, "print")
    wait_for(lambda: bool(trouble.printed) and trouble.printed[-1] == "line 499")
    assert list(trouble.printed) == [f"line {n}" for n in range(300, 500)]
    with pytest.raises(SimulatorError) as caught:
        do(trouble, "exit")
    assert "line 499" in str(caught.value) and "line 300" not in str(caught.value)


def test_forks_share_the_worker_and_end_with_it() -> None:
    env = WorkerEnv("toy", "grid", {})
    assert isinstance(env, Forkable)
    env.reset(next(iter(sample(1, 0))), seed=0)
    fork, other = env.fork(), env.fork()
    assert isinstance(fork, WorkerEnv) and isinstance(fork, Expert) and fork.pid == env.pid
    fork.act(fork.plan()[0])
    assert isinstance(env, Privileged) and isinstance(other, Privileged)
    assert env.digest() == other.digest()
    fork.close()
    fork.close()
    assert env.progress() and other.progress()
    with pytest.raises(SimulatorError, match="closed"):
        fork.observe()
    env.close()
    other.close()
    wait_for(lambda: not alive(env.pid))


def test_closing_is_quick_and_leaves_nothing() -> None:
    env = WorkerEnv("trouble", "only", {})
    simulator, descriptors = int(do(env, "simulator")), psutil.Process().num_fds()
    family = [p.pid for p in psutil.Process(env.pid).children(recursive=True)]
    start = time.monotonic()
    env.close()
    env.close()
    assert time.monotonic() - start < PATIENCE
    assert simulator in family
    wait_for(lambda: not any(map(alive, [env.pid, *family])))
    assert psutil.Process().num_fds() < descriptors
    with pytest.raises(SimulatorError, match="closed"):
        env.observe()


def test_closing_an_environment_that_will_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TROUBLE_CLOSE", "hang")
    env = WorkerEnv("trouble", "only", {})
    start = time.monotonic()
    env.close()
    assert time.monotonic() - start < PATIENCE
    wait_for(lambda: not alive(env.pid))


def test_closing_ends_a_call_that_another_thread_waits_for(trouble: WorkerEnv) -> None:
    raised: list[str] = []

    def wait() -> None:
        with contextlib.suppress(SimulatorError):
            try:
                do(trouble, "hang")
            except SimulatorError as error:
                raised.append(str(error))
                raise

    waiting = threading.Thread(target=wait)
    waiting.start()
    wait_for(lambda: "about to hang" in trouble.printed)
    trouble.close()
    waiting.join(timeout=PATIENCE)
    assert raised and "was closed in 'act'" in raised[0]


def test_closing_while_an_answer_arrives_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    link = Link("toy", sys.executable)
    made = {"name": "toy", "backend": "grid", "settings": {}}
    answered, closing = threading.Event(), threading.Event()

    def read(answer: object) -> object:
        answered.set()
        closing.wait(PATIENCE)
        return answer

    def ask() -> None:
        link.ask("make", made, read, env=0, seconds=PATIENCE)

    asking = threading.Thread(target=ask)
    asking.start()
    assert answered.wait(PATIENCE) and list(tmp_path.iterdir())
    ending = threading.Thread(target=link.close)
    ending.start()
    wait_for(lambda: not alive(link.pid))
    closing.set()
    asking.join(PATIENCE)
    ending.join(PATIENCE)
    assert link.broken and not list(tmp_path.iterdir())


RUNNER = """
import os, sys, time
from inhabit.envs.core import Action
from inhabit.envs.host.env import WorkerEnv
env = WorkerEnv("trouble", "only", {}, deadline=100)
simulator = env.act(Action("simulator", "simulator")).feedback
litter = env.act(Action("litter", "litter")).feedback
print(env.pid, simulator, litter, flush=True)
if sys.argv[1] != "end":
    env.act(Action(sys.argv[1], sys.argv[1]))
    time.sleep(1000)
"""


ASKING = """
import sys
from inhabit.envs.core import Action
from inhabit.envs.host.env import WorkerEnv
env = WorkerEnv("trouble", "only", {}, deadline=5.0)
print(env.pid, flush=True)
print(env.act(Action("slow", "slow", ("2",))).feedback)
env.close()
"""


@pytest.mark.parametrize(
    "machine", [pytest.param(False, marks=pytest.mark.slow), True], ids=["runner", "machine"]
)
def test_time_in_which_the_runner_is_stopped_does_not_count(machine: bool) -> None:
    """Stopped for longer than the deadline, alone or with its worker: the answer still counts."""
    command = [sys.executable, "-c", ASKING]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as runner:
        assert runner.stdout is not None
        pids = [runner.pid, int(runner.stdout.readline())]
        stopped = pids if machine else pids[:1]
        time.sleep(0.2)
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(6)
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
        assert runner.stdout.read() == "ok\n"


@pytest.mark.slow
def test_an_environment_that_keeps_the_interpreter_has_its_whole_deadline() -> None:
    with WorkerEnv("trouble", "only", {}, deadline=60) as env:
        assert do(env, "hold", "45") == "ok"


def test_an_environment_that_keeps_the_interpreter_is_killed_at_its_deadline() -> None:
    with WorkerEnv("trouble", "only", {}, deadline=1) as env:
        begun = time.monotonic()
        with pytest.raises(WorkerError, match="did not answer 'act' within 1 s"):
            do(env, "hold", "30")
        assert time.monotonic() - begun < PATIENCE


@pytest.mark.parametrize("worker", every(2, ["wait", "hang", "end", "stopped"]))
def test_nothing_outlives_the_runner(worker: str) -> None:
    doing = "wait" if worker == "stopped" else worker
    command = [sys.executable, "-c", RUNNER, doing]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as runner:
        assert runner.stdout is not None
        first, second, litter = runner.stdout.readline().split()
        pids = [int(first), int(second)]
        if worker != "end":
            assert all(map(alive, pids))
            pids += [p.pid for p in psutil.Process(pids[0]).children(recursive=True)]
        if worker == "stopped":
            os.kill(pids[0], signal.SIGSTOP)
        if worker != "end":
            runner.kill()
    wait_for(lambda: not any(map(alive, pids)))
    wait_for(lambda: not Path(litter).exists())


def test_nothing_outlives_runner_and_worker_killed_together() -> None:
    command = [sys.executable, "-c", RUNNER, "wait"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as runner:
        assert runner.stdout is not None
        worker, simulator = (int(p) for p in runner.stdout.readline().split()[:2])
        runner.kill()
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)
    wait_for(lambda: not alive(simulator) and not alive(worker))


def test_a_folder_called_envs_where_one_stands_is_not_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs" / "__init__.py").write_text("raise SystemExit('not this one')")
    monkeypatch.chdir(tmp_path)
    with WorkerEnv("toy", "grid", {}) as env:
        env.reset(next(iter(sample(1, 0))), seed=0)
