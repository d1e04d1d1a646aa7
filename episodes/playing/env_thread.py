"""An environment on a thread of its own, so that a slow simulator does not block the others; and
what a run grants to an agent there.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from pydantic import JsonValue

from inhabit.agents.core import Decision, Grant, Grants, Trial
from inhabit.envs.core import (
    Action,
    Env,
    Expert,
    Observation,
    Reason,
    SimulatorError,
    Tools,
    UnavailableError,
)
from inhabit.envs.entries import is_interrupt, same_folder
from inhabit.envs.host.checked_env import checked, unexpected
from inhabit.envs.host.env import WorkerEnv
from inhabit.episodes.episode import Episode

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
    """Make an environment, and hold it to its contract; workers do so themselves."""
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


_CHECKED = "A run checks what its environment can do before it starts."


async def grants(env_thread: EnvThread, granted: frozenset[Grant], episode: Episode) -> Grants:
    """The means behind what is granted in an episode, each on the environment's own thread."""

    async def plan() -> Sequence[Action]:
        return await env_thread.call(_plan)

    async def fork() -> Trial:
        return _Copy(env_thread, await env_thread.call(lambda _: episode.fork()))

    async def call(name: str, arguments: Mapping[str, JsonValue]) -> JsonValue:
        return await env_thread.call(lambda env: _tools(env).call(name, arguments))

    tools = Grant.TOOLS in granted
    return Grants(
        plan=plan if Grant.EXPERT in granted else None,
        fork=fork if Grant.LOOKAHEAD in granted else None,
        tools=await env_thread.call(lambda env: _tools(env).tools()) if tools else (),
        call=call if tools else None,
    )


@dataclass(frozen=True, slots=True)
class _Copy:
    """A fork as an agent is given it: what it would be worth to act so stays behind."""

    env_thread: EnvThread
    episode: Episode

    async def act(self, action: Action) -> tuple[Reason | None, str]:
        now = await self.env_thread.call(lambda _: self.episode.act(Decision(action)))
        return now.reason, now.feedback

    async def look(self) -> tuple[Observation, tuple[Action, ...]]:
        return await self.env_thread.call(
            lambda _: (self.episode.now.shown, self.episode.now.candidates)
        )

    async def fork(self) -> Trial:
        fork = await self.env_thread.call(lambda _: self.episode.fork())
        return _Copy(self.env_thread, fork)

    async def close(self) -> None:
        await self.env_thread.call(lambda _: self.episode.close())


def _plan(env: Env) -> Sequence[Action]:
    assert isinstance(env, Expert), _CHECKED
    return env.plan()


def _tools(env: Env) -> Tools:
    assert isinstance(env, Tools), _CHECKED
    return env
