"""The worker process: creates an environment and answers the runner's calls.

Started by `inhabit.envs.host.env` as `python -m inhabit.envs.host SOCKET MEMORY`: two file
descriptors.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from inhabit.envs.core import Action, Env, Forkable, SimulatorError, Task, UnknownNameError
from inhabit.envs.host import checks
from inhabit.envs.host.checked_env import THEMSELVES, checked, unexpected
from inhabit.envs.host.wire import (
    ClosedError,
    SharedMemory,
    Wire,
    from_action,
    from_actions,
    from_observation,
    from_outcome,
    from_things,
    pack,
    to_action,
)
from inhabit.envs.registry import find


class WorkerEnvs:
    """The environments of one worker, by number: 0 is the original, the others are its forks."""

    def __init__(self, memory: SharedMemory) -> None:
        self._memory = memory
        self._envs: dict[int, Env] = {}
        self._next = 0

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """The answer to one call; exceptions of the environment are returned as answers."""
        call, arguments = question["call"], question["arguments"]
        try:
            if call == "make":
                return {"value": self._make(**arguments)}
            if call == "close":
                self._close(question["env"])
                return {"value": None}
            if question["env"] not in self._envs:
                raise SimulatorError("This environment is closed.")
            env = self._envs[question["env"]]
            if call == "fork":
                assert isinstance(env, Forkable)
                return {"value": self._keep(env.fork())}
            if call == "observe":
                return {"value": from_observation(env.observe(), self._memory)}
            return {"value": _ask(env, call, arguments)}
        except Exception as error:  # noqa: BLE001 - the runner re-raises it
            return _failure(call, error)

    def close(self) -> None:
        """Close the forks, then the original."""
        for number in sorted(self._envs, reverse=True):
            self._close(number)

    def _close(self, number: int) -> None:
        if number in self._envs:
            self._envs.pop(number).close()

    def _make(self, name: str, backend: str, settings: dict[str, Any]) -> dict[str, Any]:
        registration = find(name)
        chosen = registration.settings.model_validate(settings)
        return self._keep(checked(registration.make(backend, chosen)))

    def _keep(self, env: Env) -> dict[str, Any]:
        number, self._next = self._next, self._next + 1
        self._envs[number] = env
        scene = env.Scene
        return {
            "env": number,
            "capabilities": checks.capabilities_of(env),
            "determinism": env.determinism.value,
            "realtime": env.realtime,
            # `reset` reports a missing one.
            "scene": f"{scene.__module__}:{scene.__qualname__}" if scene else "",
        }


def _best(actions: Iterable[Action] | None) -> list[list[str]] | None:
    return None if actions is None else from_actions(sorted(actions, key=lambda a: a.text))


_READ: Mapping[str, Callable[[Any], Any]] = {
    "progress": list,
    **dict.fromkeys(("vocabulary", "actions", "plan", "admissible"), from_actions),
    "best_actions": _best,
    "tools": lambda tools: [dict(tool) for tool in tools],
    "state": dict,
    "digest": str,
    "things": from_things,
}
"""Calls without arguments, and what makes their answers plain."""


def _ask(env: Any, call: str, arguments: dict[str, Any]) -> Any:
    """The calls that need only the environment."""
    match call:
        case "reset":
            return env.reset(Task.model_validate(arguments["task"]), seed=arguments["seed"])
        case "act":
            return from_outcome(env.act(to_action(arguments["action"])))
        case "pursue":
            return env.pursue(Task.model_validate(arguments["task"]))
        case "parse":
            said = env.parse(arguments["text"])
            return said and from_action(said)
        case "call":
            return env.call(arguments["name"], arguments["arguments"])
    if call not in _READ:
        raise SimulatorError(f"Unknown worker call {call!r}.")
    return _READ[call](getattr(env, call)())


def _failure(call: str, error: Exception) -> dict[str, str]:
    """An exception as plain data, for the runner to raise."""
    for kind in THEMSELVES:
        if isinstance(error, kind):
            return {"error": kind.__name__, "message": str(error)}
    if call == "make" and isinstance(error, UnknownNameError | ValidationError):
        return {"error": "ValueError", "message": str(error)}
    if call == "call" and isinstance(error, KeyError | ValueError):
        message = error.args[0] if error.args else ""
        return {
            "error": "KeyError" if isinstance(error, KeyError) else "ValueError",
            "message": str(message),
        }
    return {"error": "SimulatorError", "message": unexpected(call, error)}


def main() -> None:
    """Answer calls until the runner disconnects."""
    end, memory = map(int, sys.argv[1:3])
    for descriptor in (end, memory):
        os.set_inheritable(descriptor, False)
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    wire = Wire(socket.socket(fileno=end))
    worker = WorkerEnvs(SharedMemory(memory))
    try:
        while (question := wire.receive())["call"] != "quit":
            wire.send(_packed(question["call"], worker.answer(question)))
        worker.close()
        wire.send(pack({"value": None}))
    except ClosedError:
        worker.close()


def _packed(call: str, answer: dict[str, Any]) -> bytes:
    try:
        return pack(answer)
    except (TypeError, ValueError) as error:
        return pack(_failure(call, error))


if __name__ == "__main__":
    main()
