"""A taskset and an environment for Verifiers v1 (extra `verifiers`; package verifiers 0.4).

The environment speaks as the user: each message holds texts and the picture as content parts, and
each reply of the model is an action. Verifiers finds this by the id "inhabit-verifiers", the
top-level module `inhabit_verifiers`: its ids hold no dots.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import cached_property

import verifiers.v1 as vf

from inhabit.agents.dialogue.prompt import instructions
from inhabit.frameworks.factory import RolloutSettings
from inhabit.frameworks.rollout import Rollout, RolloutFactory
from inhabit.frameworks.turn import Turn


class InhabitConfig(vf.TasksetConfig, RolloutSettings):
    """What `--env.taskset.*` may say."""

    # Verifiers' command line reads the defaults before it reads what was given.
    env: str = ""
    """A registered environment."""
    pictures: bool = True
    """Whether messages show pictures; False for models without eyes."""


class InhabitTask(vf.Task[vf.TaskData]):
    """A task; the environment rewards it."""


class InhabitTaskset(vf.Taskset[InhabitTask, InhabitConfig]):
    """The tasks of an environment of this package."""

    @cached_property
    def factory(self) -> RolloutFactory:
        """The episodes of these tasks.

        Raises:
            UnknownNameError, SettingError, TaskError: as `rollouts`.
        """
        made: RolloutFactory = self.config.factory()
        return made

    def load(self) -> Iterator[InhabitTask]:
        """All tasks, in order. What to do is told as the system's message."""
        told = instructions("tags")
        for task in self.factory.tasks:
            data = vf.TaskData(id=task.id, description=task.goal, system_prompt=told)
            yield InhabitTask(data, self.config.task)


class InhabitEnvConfig(vf.EnvConfig):
    """One agent, which by default only talks, on this machine."""

    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"}, runtime=vf.SubprocessConfig())


class InhabitEnv(vf.Env[InhabitEnvConfig]):
    """Plays one task with one agent.

    The trace's reward is the episode's; its metrics are success, the share of goal conditions that
    hold, and the steps. The picture after the last action is not sent, as nothing follows it.
    """

    async def run(self, task: InhabitTask, agents: vf.Agents) -> None:
        """Show, let the model reply, act; until the episode or the agent's run ends."""
        with self.taskset.factory.open() as rollout:
            turn = await asyncio.to_thread(rollout.reset, task.data.idx)
            async with agents.player.interaction(task) as talk:
                while not turn.done:
                    segment = await talk.turn([self._message(turn)])
                    if segment.terminated:
                        break
                    turn = await asyncio.to_thread(rollout.act, segment.last_reply)
                # Before the interaction is closed: Verifiers scores when it closes.
                _record(talk.trace, rollout)

    def _message(self, turn: Turn) -> vf.UserMessage:
        shown = self.taskset.config.pictures
        return vf.UserMessage(content=turn.chat_parts if shown else turn.text)


def _record(trace: vf.Trace, rollout: Rollout) -> None:
    trace.record_reward("reward", rollout.value)
    trace.record_metrics(rollout.turn.metrics)
    trace.info["inhabit"] = {"task": rollout.task.id, "ending": rollout.turn.ending}
