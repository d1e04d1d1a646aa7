"""An environment in a worker, as the runner sees it: an `Env` like any other."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from operator import attrgetter
from typing import Any, TypeVar

from pydantic import BaseModel, JsonValue

from inhabit.envs.core import (
    Action,
    Determinism,
    Env,
    Observation,
    Outcome,
    SceneObject,
    Task,
    UnavailableError,
)
from inhabit.envs.host.checks import with_these
from inhabit.envs.host.link import Link
from inhabit.envs.host.wire import (
    from_action,
    to_action,
    to_actions,
    to_observation,
    to_outcome,
    to_things,
)

T = TypeVar("T")


class WorkerEnv(Env):
    """An environment in a separate process.

    It has the capabilities of the environment inside and no others, so the result is an instance
    of a subclass with exactly those. After its own `SimulatorError` (it died, hung, or was
    killed) it stays broken: make a new one.
    """

    _link: Link
    _number: int
    _deadline: float
    _reset_deadline: float
    _scene: str
    _observed: bool = False

    def __new__(
        cls,
        name: str,
        backend: str,
        settings: Mapping[str, Any],
        *,
        interpreter: str = sys.executable,
        deadline: float = 60.0,
        reset_deadline: float = 180.0,
    ) -> WorkerEnv:
        """Start a worker and create an environment in it.

        Args:
            name: of the environment in `inhabit.envs.registry`.
            backend: one of its registration's.
            settings: plain values for its registration's settings.
            interpreter: a Python >= 3.11 that can import `envs`, and what the backend needs.
            deadline: seconds that a call may take before the worker is killed.
            reset_deadline: the same for starting it, for each `reset`, and for the first
                `observe`, in which a renderer may compile itself.

        Raises:
            UnavailableError: the backend lacks something on this machine.
            SimulatorError: the worker did not start.
            ValueError: there is no such environment, or a setting is wrong.
        """
        link = Link(name, interpreter)
        arguments = {"name": name, "backend": backend, "settings": dict(settings)}
        try:
            made = link.ask("make", arguments, dict, env=0, seconds=reset_deadline)
        except BaseException:
            link.close()
            raise
        return _seen_through(link, made, deadline, reset_deadline)

    @property
    def pid(self) -> int:
        """The worker's process id."""
        return self._link.pid

    @property
    def printed(self) -> Sequence[str]:
        """The last 200 lines that the worker and its child processes printed, oldest first."""
        return self._link.lines

    def reset(self, task: Task, *, seed: int) -> None:
        """Start `task`."""
        arguments = {"task": task.model_dump(mode="json"), "seed": seed}
        self._ask("reset", _nothing, seconds=self._reset_deadline, **arguments)

    def observe(self) -> Observation:
        """The current observation; its images are copies that the caller owns."""
        seconds = self._deadline if self._observed else self._reset_deadline
        observation = self._ask(
            "observe", lambda seen: to_observation(seen, self._link.memory), seconds=seconds
        )
        self._observed = True
        return observation

    def vocabulary(self) -> Sequence[Action]:
        """All actions of this type of scene."""
        return self._ask("vocabulary", to_actions)

    def actions(self) -> Sequence[Action]:
        """Candidate actions, given what the agent has seen so far."""
        return self._ask("actions", to_actions)

    def parse(self, text: str) -> Action | None:
        """The action that `text` parses to, or None."""
        return self._ask("parse", lambda said: said and to_action(said), text=text)

    def act(self, action: Action) -> Outcome:
        """Execute one action."""
        return self._ask("act", to_outcome, action=from_action(action))

    def progress(self) -> tuple[int, int]:
        """The number of goal conditions that hold, and their total."""
        return self._ask("progress", lambda met: (met[0], met[1]))

    def close(self) -> None:
        """Close a fork; for the original environment, end the worker and all forks."""
        if self._number == 0:
            self._link.close()
        elif not self._link.broken:
            self._ask("close", _nothing)

    def _ask(
        self, call: str, read: Callable[[Any], T], seconds: float | None = None, **arguments: Any
    ) -> T:
        seconds = self._deadline if seconds is None else seconds
        return self._link.ask(call, arguments, read, env=self._number, seconds=seconds)

    def _template(self) -> type[BaseModel]:
        module, _, name = self._scene.partition(":")
        try:
            found: type[BaseModel] = attrgetter(name)(import_module(module))
        except ImportError as error:
            raise UnavailableError(
                f"Can't import the scene model {self._scene}: {error}."
            ) from error
        return found


class _Expert(WorkerEnv):
    def plan(self) -> Sequence[Action]:
        return self._ask("plan", to_actions)

    def best_actions(self) -> frozenset[Action] | None:
        return self._ask("best_actions", lambda b: None if b is None else frozenset(to_actions(b)))


class _Forkable(WorkerEnv):
    def fork(self) -> Env:
        made = self._ask("fork", dict)
        return _seen_through(self._link, made, self._deadline, self._reset_deadline)


class _Redirectable(WorkerEnv):
    def pursue(self, task: Task) -> None:
        self._ask("pursue", _nothing, task=task.model_dump(mode="json"))


class _Tools(WorkerEnv):
    def tools(self) -> Sequence[Mapping[str, JsonValue]]:
        return self._ask("tools", list)

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> JsonValue:
        return self._ask("call", _as_it_is, name=name, arguments=dict(arguments))


class _Privileged(WorkerEnv):
    def state(self) -> Mapping[str, JsonValue]:
        return self._ask("state", dict)

    def digest(self) -> str:
        return self._ask("digest", str)

    def admissible(self) -> Sequence[Action]:
        return self._ask("admissible", to_actions)


class _Factual(WorkerEnv):
    def things(self) -> Sequence[SceneObject]:
        return self._ask("things", to_things)


_CAPABLE: Mapping[str, type[WorkerEnv]] = {
    "Expert": _Expert,
    "Forkable": _Forkable,
    "Redirectable": _Redirectable,
    "Tools": _Tools,
    "Privileged": _Privileged,
    "Factual": _Factual,
}


def _seen_through(
    link: Link, made: Mapping[str, Any], deadline: float, reset_deadline: float
) -> WorkerEnv:
    """The environment that a worker has created."""
    env = object.__new__(_class(tuple(made["capabilities"]), made["realtime"]))
    env._link, env._number, env._scene = link, made["env"], made["scene"]
    env._deadline, env._reset_deadline = deadline, reset_deadline
    env.determinism = Determinism(made["determinism"])
    return env


@functools.cache
def _class(capabilities: tuple[str, ...], realtime: bool) -> type[WorkerEnv]:
    """The subclass with exactly these capabilities.

    `Scene` is imported on first use: its module may be heavy, or installed only in the
    worker's interpreter alone.
    """
    scene = property(WorkerEnv._template)
    return with_these(WorkerEnv, _CAPABLE, capabilities, realtime=realtime, Scene=scene)


def _as_it_is(answer: JsonValue) -> JsonValue:
    return answer


def _nothing(answer: None) -> None:
    return None
