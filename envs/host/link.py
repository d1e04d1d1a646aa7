"""The runner's connection to one worker: calls, answers, deadlines and failure messages."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from inhabit.envs.core import SceneError, SimulatorError, TaskError, UnavailableError
from inhabit.envs.host.credentials import without_credentials
from inhabit.envs.host.process_group import Child, ProcessGroup
from inhabit.envs.host.wire import ClosedError, SharedMemory, Wire, nameless_file, pack

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
