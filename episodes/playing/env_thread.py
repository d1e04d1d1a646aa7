"""An environment on a thread of its own, so that a slow simulator does not block the others."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from inhabit.envs.core import Env, SimulatorError, UnavailableError
from inhabit.envs.entries import is_interrupt, same_folder
from inhabit.envs.host.checked_env import checked, unexpected
from inhabit.envs.host.env import WorkerEnv

T = TypeVar("T")


class EnvThread:
    """Runs one episode at a time.

    Everything that the environment does, from its making to its closing, happens on one thread:
    many simulators and graphics contexts insist on that.
    """

    def __init__(self, env: Env, thread: ThreadPoolExecutor) -> None:
        self._env = env
        self._thread = thread
        self._seconds = 0.0
        self._closed = False

    @classmethod
    async def build(cls, make: Callable[[], Env]) -> EnvThread:
        """Make an environment.

        Raises:
            UnavailableError: it lacks something on this machine.
            SimulatorError: it did not start.
        """
        thread = ThreadPoolExecutor(1, thread_name_prefix="env")
        try:
            env = await asyncio.get_running_loop().run_in_executor(thread, _make, make)
        except BaseException:
            thread.shutdown(wait=False)
            raise
        return cls(env, thread)

    @property
    def env(self) -> Env:
        """The environment itself, for what takes no time: its capabilities and determinism."""
        return self._env

    async def call(self, ask: Callable[[Env], T]) -> T:
        """Run `ask` on the thread of the environment, and measure its time."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._timed, ask)

    def seconds(self) -> float:
        """Seconds spent in the environment since the last call of this method."""
        seconds, self._seconds = self._seconds, 0.0
        return seconds

    async def close(self) -> None:
        """Close the environment. Safe to call twice, and while a call is still going on.

        A worker is ended in the middle of that call; an environment in this process can't be.
        """
        if self._closed:
            return
        self._closed = True
        loop = asyncio.get_running_loop()
        thread = None if isinstance(self._env, WorkerEnv) else self._thread
        try:
            await loop.run_in_executor(thread, self._env.close)
        except SimulatorError:
            # Its episode is on record. What it did not let go of ends with this process.
            return
        finally:
            self._thread.shutdown(wait=False)

    def _timed(self, ask: Callable[[Env], T]) -> T:
        begun = time.perf_counter()
        try:
            return ask(self._env)
        finally:
            self._seconds += time.perf_counter() - begun


def _make(make: Callable[[], Env]) -> Env:
    """Make an environment, and hold it to its contract; workers do so themselves.

    Raises:
        UnavailableError: it lacks something on this machine.
        SimulatorError: it did not start.
    """
    try:
        with same_folder():
            env = make()
    except (UnavailableError, SimulatorError, ValueError):
        raise
    except BaseException as error:
        if is_interrupt(error):
            raise
        raise SimulatorError(unexpected("make", error)) from error
    return env if isinstance(env, WorkerEnv) else checked(env)
