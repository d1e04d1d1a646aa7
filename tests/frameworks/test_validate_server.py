"""`inhabit validate` of what an OpenEnv server offers, through OpenEnv's own server and client."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from socket import socket
from typing import Any, Literal

import pytest
from serving import served

from inhabit.envs.core import SimulatorError, UnavailableError
from inhabit.envs.host.server_gate import Gate
from inhabit.episodes.validating.check import CheckVerdict
from inhabit.episodes.validating.report import chosen, validate
from inhabit.episodes.validating.subject import Subject
from inhabit.frameworks.factory import rollouts

pytest.importorskip("openenv", reason="needs the extra `openenv`")


@pytest.mark.slow
def test_ours_raises_no_false_alarm() -> None:
    with _served(40) as address, Subject.open(address, n=4, fast=True) as subject:
        assert all("the " in task.goal for task in subject.tasks)
        report = validate(subject)
    assert not report.failed
    assert report.counts[CheckVerdict.OK] >= 36


def test_one_whose_seed_changes_nothing_is_named() -> None:
    with _served(1) as address, Subject.open(address, n=3, fast=True) as subject:
        found = validate(subject, chosen(["runtime.seed_control.starts"])).failed
    assert [one.name for one in found] == ["runtime.seed_control.starts"]


def test_choices_are_listed_by_the_schema_or_by_a_field() -> None:
    from openenv.core.env_server import Environment, create_app
    from openenv.core.env_server.types import Action, Observation, State

    class Move(Action):
        way: Literal["left", "right"]

    class Corridor(Environment):
        SUPPORTS_CONCURRENT_SESSIONS = True
        place = 0

        def reset(self, **_: Any) -> Observation:
            self.place = 0
            return Observation(done=False, reward=0.0)

        def step(self, action: Move, **_: Any) -> Observation:
            self.place += 1 if action.way == "right" else -1
            return Observation(done=self.place == 2, reward=float(self.place == 2))

        @property
        def state(self) -> State:
            return State()

    with served(create_app(Corridor, Move, Observation, env_name="corridor")) as port:
        address = f"http://127.0.0.1:{port}"
        with Subject.open(address, n=2) as subject:
            env = subject.env
            env.reset(subject.tasks[0], seed=0)
            right = env.parse("right")
            assert [one.text for one in env.vocabulary()] == ["left", "right"] and right
            assert [env.act(right).met for _ in range(2)] == [0, 1]
    with _served(1) as address:
        env = Subject.open(address, n=2, assignments=["choices=nowhere"])
        with env, pytest.raises(UnavailableError, match="choices=NAME"):
            env.begin(env.tasks[0])


def test_a_bad_image_is_a_fault_of_the_server() -> None:
    from openenv.core.env_server import Environment, create_app
    from openenv.core.env_server.types import Action, Observation, State

    class Wait(Action):
        how: Literal["long"]

    class Shown(Observation):
        image: str = "data:image/png;base64,AAAA"

    class Broken(Environment):
        SUPPORTS_CONCURRENT_SESSIONS = True

        def reset(self, **_: Any) -> Observation:
            return Shown(done=False, reward=0.0)

        def step(self, action: Wait, **_: Any) -> Observation:
            return self.reset()

        @property
        def state(self) -> State:
            return State()

    with served(create_app(Broken, Wait, Shown, env_name="broken")) as port:
        address = f"http://127.0.0.1:{port}"
        with Subject.open(address, n=1) as subject, pytest.raises(SimulatorError, match="image"):
            subject.env.reset(subject.tasks[0], seed=0)


def test_choices_may_end_with_the_episode_and_have_spaces_around() -> None:
    from openenv.core.env_server import Environment, create_app
    from openenv.core.env_server.types import Action, Observation, State

    class Say(Action):
        words: str

    class Listed(Observation):
        candidates: list[str] | None = None

    class Once(Environment):
        SUPPORTS_CONCURRENT_SESSIONS = True

        def reset(self, **_: Any) -> Observation:
            return Listed(done=False, reward=0.0, candidates=[" go", "stay"])

        def step(self, action: Say, **_: Any) -> Observation:
            return Listed(done=True, reward=float(action.words == " go"))

        @property
        def state(self) -> State:
            return State()

    app = create_app(Once, Say, Listed, env_name="once")
    with served(app) as port, Subject.open(f"http://127.0.0.1:{port}", n=1) as subject:
        env = subject.env
        env.reset(subject.tasks[0], seed=0)
        go = env.parse("go")
        assert go and go.text == " go"
        after = env.act(go)
        assert (after.met, after.over, env.actions()) == (1, True, [])


def test_what_is_no_server_is_said() -> None:
    with socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()

        def greet() -> None:
            asking, _ = other.accept()
            asking.recv(100)
            asking.sendall(b"SSH-2.0-nobody\r\n")
            asking.close()

        thread = threading.Thread(target=greet)
        thread.start()
        address = f"http://127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(SimulatorError, match=r"can't be read: SSH-2\.0-nobody"):
            Subject.open(address, n=1)
        thread.join()
    with pytest.raises(SimulatorError, match=r"refused.*Start the server"):
        Subject.open(address, n=1)


@contextmanager
def _served(n: int) -> Iterator[str]:
    """The address of a server with `n` tasks."""
    from inhabit.frameworks.openenv import application

    gate = Gate("127.0.0.1")
    with served(application({"sampled": rollouts("toy", n)}, gate)) as port:
        yield f"http://127.0.0.1:{port}/{gate.token}"
