"""The means behind what a run grants to an agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from inhabit.agents.core import Decision, Grant, Grants, Trial
from inhabit.envs.core import Action, Env, Expert, Observation, Reason, Tools
from inhabit.episodes.episode import Episode
from inhabit.episodes.playing.env_thread import EnvThread

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
