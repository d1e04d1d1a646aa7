"""What an agent observes at a step, and the grants beyond that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from inhabit.agents.core import Grant, Grants, Trial
from inhabit.envs.core import (
    Action,
    Clip,
    Env,
    Expert,
    Forkable,
    Observation,
    Privileged,
    Reason,
    Tools,
)
from inhabit.envs.errors import UserError
from inhabit.episodes.recording.schema import Choice, Sight
from inhabit.episodes.recording.writer import ObservedState
from inhabit.episodes.running.env_thread import EnvThread
from inhabit.episodes.running.poses import pose_of


class LackingError(UserError, ValueError):
    """An environment can't give what a run asks of it. Names both."""


def look(env: Env, choice: Choice, *, pose: bool = False) -> ObservedState:
    """Everything about the current step that the agent or the record needs.

    Args:
        env: at that observed.
        choice: which candidates.
        pose: whether to ask where the agent is, too.

    Raises:
        LackingError: `choice` is ORACLE and the environment doesn't show what would succeed.
    """
    return ObservedState(
        env.observe(),
        tuple(candidates_of(env, choice)),
        env.digest() if isinstance(env, Privileged) else None,
        pose_of(env.state()) if pose and isinstance(env, Privileged) else None,
    )


def state_of(env: Env) -> Mapping[str, JsonValue]:
    """The state of an environment, empty where it does not show it. For the record alone."""
    return env.state() if isinstance(env, Privileged) else {}


def shown(observation: Observation, sight: Sight) -> Observation:
    """What the agent sees of it: with `NONE` no image of any kind, with `BLANK` black ones."""
    if sight is Sight.SHOWN:
        return observation
    blank = sight is Sight.BLANK
    return replace(
        observation,
        rgb=_black(observation.rgb) if blank and observation.rgb is not None else None,
        clips=tuple(Clip(_black(c.frames), c.text) for c in observation.clips) if blank else (),
        depth=None,
        instances=None,
        names=(),
    )


def check(env: Env, choice: Choice, granted: frozenset[Grant]) -> None:
    """See that an environment can give what a run asks of it.

    Raises:
        LackingError: it can't.
    """
    if choice is Choice.ORACLE and not isinstance(env, Privileged):
        raise LackingError(
            "This environment can't tell which actions would succeed, as --candidates "
            "oracle needs. Use --candidates seen."
        )
    for grant in sorted(granted):
        if not isinstance(env, _CAPABILITY[grant]):
            raise LackingError(
                f"This environment can't grant {grant.value!r}: {_WHY[grant]}. Choose another "
                "agent or environment, or leave the grant out."
            )


async def grants(
    env_thread: EnvThread, granted: frozenset[Grant], choice: Choice, sight: Sight
) -> Grants:
    """The means behind what is granted, each on the environment's own thread.

    Copies of the scene are observed like the scene itself, by `choice` and `sight`.
    """

    async def plan() -> Sequence[Action]:
        return await env_thread.call(_plan)

    async def fork() -> Trial:
        return _Copy(env_thread, await env_thread.call(_fork), choice, sight)

    async def call(name: str, arguments: Mapping[str, JsonValue]) -> JsonValue:
        return await env_thread.call(lambda env: _tools(env).call(name, arguments))

    tools = Grant.TOOLS in granted
    return Grants(
        plan=plan if Grant.EXPERT in granted else None,
        fork=fork if Grant.LOOKAHEAD in granted else None,
        tools=await env_thread.call(lambda env: _tools(env).tools()) if tools else (),
        call=call if tools else None,
    )


_CAPABILITY: Mapping[Grant, type] = {
    Grant.EXPERT: Expert,
    Grant.LOOKAHEAD: Forkable,
    Grant.TOOLS: Tools,
}
_CHECKED = "A run checks what its environment can do before it starts."
_WHY = {
    Grant.EXPERT: "it has no expert",
    Grant.LOOKAHEAD: "it can't copy its state",
    Grant.TOOLS: "it answers no questions",
}


def candidates_of(env: Env, choice: Choice) -> Sequence[Action]:
    """What an agent may choose from; `check` says whether `env` can tell."""
    match choice:
        case Choice.VOCABULARY:
            return env.vocabulary()
        case Choice.SEEN:
            return env.actions()
        case Choice.ORACLE:
            assert isinstance(env, Privileged), _CHECKED
            return env.admissible()


def _plan(env: Env) -> Sequence[Action]:
    assert isinstance(env, Expert), _CHECKED
    return env.plan()


def _fork(env: Env) -> Env:
    assert isinstance(env, Forkable), _CHECKED
    return env.fork()


@dataclass(frozen=True, slots=True)
class _Copy:
    """A fork as an agent is given it: what it would be worth to act so stays behind."""

    env_thread: EnvThread
    env: Env
    choice: Choice
    sight: Sight

    async def act(self, action: Action) -> tuple[Reason | None, str]:
        outcome = await self.env_thread.call(lambda _: self.env.act(action))
        return outcome.reason, outcome.feedback

    async def look(self) -> tuple[Observation, tuple[Action, ...]]:
        return await self.env_thread.call(
            lambda _: (
                shown(self.env.observe(), self.sight),
                tuple(candidates_of(self.env, self.choice)),
            )
        )

    async def fork(self) -> Trial:
        fork = await self.env_thread.call(lambda _: _fork(self.env))
        return _Copy(self.env_thread, fork, self.choice, self.sight)

    async def close(self) -> None:
        await self.env_thread.call(lambda _: self.env.close())


def _tools(env: Env) -> Tools:
    assert isinstance(env, Tools), _CHECKED
    return env


def _black(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.zeros_like(pixels)
