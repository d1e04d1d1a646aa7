"""An environment in a worker, as the runner sees it: an `Env` like any other.

`Link` is the connection to one worker: calls, answers, deadlines and messages of failures.
"""

from __future__ import annotations

import contextlib
import functools
import socket
import sys
import threading
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
    SceneError,
    SceneObject,
    SimulatorError,
    Task,
    TaskError,
    UnavailableError,
)
from inhabit.envs.host.checks import with_these
from inhabit.envs.host.credentials import without_credentials
from inhabit.envs.host.process_group import Child, ProcessGroup
from inhabit.envs.host.wire import (
    ClosedError,
    SharedMemory,
    Wire,
    from_action,
    nameless_file,
    pack,
    to_action,
    to_actions,
    to_observation,
    to_outcome,
    to_things,
)

T = TypeVar("T")

_GRACE = 2.0
"""Seconds for a worker to close its simulator, or to be found dead."""


class WorkerError(SimulatorError):
    """A worker, or the simulator in it, failed."""

    def __init__(self, message: str, printed: Sequence[str]) -> None:
        super().__init__(message)
        self.printed = tuple(printed)
        """The last 200 lines that it and its child processes printed, oldest first."""


_ERRORS: Mapping[str, type[Exception]] = {
    error.__name__: error
    for error in (SceneError, TaskError, UnavailableError, SimulatorError, KeyError, ValueError)
}
"""Exceptions that a worker's answer may raise here."""


class Link:
    """One worker. It answers one call at a time; calls of other threads wait."""

    def __init__(self, name: str, interpreter: str) -> None:
        """Start a worker that can make any environment; `name` is what messages call it.

        Raises:
            SimulatorError: the interpreter can't be started.
        """
        self._name = name
        self._lock = threading.Lock()
        self._broken = ""
        self._closing = False
        ours, theirs = socket.socketpair()
        memory = nameless_file()
        self._wire, self.memory = Wire(ours), SharedMemory(memory)
        share = (theirs.fileno(), memory)
        # -P: do not import a folder `envs` of the current directory.
        module = [interpreter, "-P", "-u", "-m", "inhabit.envs.host"]
        command = [*module, *map(str, share)]
        # A killed worker can't remove its temporary files, so the group removes them.
        self._group = ProcessGroup("inhabit-worker-")
        environment = without_credentials() | {"TMPDIR": str(self._group.folder)}
        try:
            self._child = Child(self._group, command, share=share, environment=environment)
        except OSError as error:
            self._release()
            raise SimulatorError(f"Can't start the {name} worker: {error}.") from error
        finally:
            theirs.close()

    @property
    def pid(self) -> int:
        """The worker's process."""
        return self._child.pid

    @property
    def lines(self) -> list[str]:
        """The last 200 lines that the worker and its simulator have printed."""
        return self._child.lines()

    @property
    def broken(self) -> bool:
        """Whether it is closed."""
        return bool(self._broken)

    def ask(
        self,
        call: str,
        arguments: Mapping[str, Any],
        read: Callable[[Any], T],
        *,
        env: int,
        seconds: float,
    ) -> T:
        """Send one call to environment number `env`, and `read` the answer.

        Raises:
            SimulatorError: it failed, died, or did not answer within `seconds`; in the last two
                cases it and all that it started are dead now, and so is this link.
            SceneError, TaskError, UnavailableError: as the environment raised them.
            KeyError, ValueError: as a tool raised them; or the environment's name or settings are
                wrong.
        """
        packed = pack({"call": call, "env": env, "arguments": arguments})
        with self._lock:
            if self._broken:
                raise SimulatorError(self._broken)
            try:
                self._wire.send(packed, seconds=seconds)
                answer = self._wire.receive(seconds=seconds)
                if "error" not in answer:
                    return read(answer["value"])
                error = self._error(answer["error"], answer["message"])
            except TimeoutError as late:
                self._child.ask_where()
                raise self._failed(f"did not answer {call!r} within {seconds:g} s") from late
            except ClosedError as gone:
                raise self._failed(self._end_in(call)) from gone
            except Exception as wrong:
                raise self._failed(f"answered {call!r} wrongly ({wrong!r})") from wrong
            except BaseException:
                # After an interrupt the answer would be read as that of the next call.
                self._failed(f"was interrupted in {call!r}")
                raise
        raise error

    def close(self) -> None:
        """End the worker and its child processes. Safe to call at any time and repeatedly."""
        self._closing = True
        if not self._lock.acquire(blocking=False):
            # Another thread waits for an answer: killing the worker wakes it.
            self._kill()
            self._lock.acquire()
        try:
            if not self._broken:
                self._broken = f"The {self._name} worker is closed."
                with contextlib.suppress(ClosedError, TimeoutError, ValueError):
                    self._wire.send(pack({"call": "quit"}), seconds=_GRACE)
                    self._wire.receive(seconds=_GRACE)
                self._kill()
                self._release()
        finally:
            self._lock.release()

    def _end_in(self, call: str) -> str:
        if self._closing:
            return f"was closed in {call!r}"
        if self._child.ended(_GRACE):
            return f"died in {call!r} ({self._child.cause()})"
        return f"hung up in {call!r}"

    def _error(self, kind: str, message: str) -> Exception:
        """The exception that the environment raised."""
        if kind == SimulatorError.__name__:
            return WorkerError(message, self._child.lines())
        return _ERRORS[kind](message)

    def _failed(self, what: str) -> WorkerError:
        self._kill()
        self._broken = f"The {self._name} worker {what}. {self._child.last_words()}"
        self._release()
        return WorkerError(self._broken, self._child.lines())

    def _kill(self) -> None:
        self._child.kill()
        self._child.ended(_GRACE)

    def _release(self) -> None:
        self._wire.close()
        self.memory.close()
        self._group.close()


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
            interpreter: a Python >= 3.11 that can import `inhabit.envs` and what the backend needs.
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


_CAPABLE = (_Expert, _Forkable, _Redirectable, _Tools, _Privileged, _Factual)


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
