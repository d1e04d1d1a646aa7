"""An environment for SkyRL's multimodal rollouts (extra `skyrl`; package skyrl-gym 0.4).

SkyRL's generator for models with eyes (`generator.is_vlm=true`) lets an environment write the whole
prompt, and appends what each step returns: chat messages whose pictures are `data:` URLs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput, ConversationType

from inhabit.agents.dialogue.prompt import instructions
from inhabit.frameworks.rollout import RolloutFactory
from inhabit.frameworks.turn import Turn


class SkyrlEnv(BaseTextEnv):
    """One episode, of the task that a row of `dataset_rows` names."""

    _factory: RolloutFactory

    def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None) -> None:
        """Take `task`, a number or an id, and SkyRL's `max_turns` from the row.

        Raises:
            TaskError: there is no such task.
        """
        super().__init__()
        said = extras or {}
        self._task = self._factory.of_row(said)
        self.max_turns = said.get("max_turns")
        self._rollout = self._factory.open()

    def init(self, prompt: ConversationType) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Start the episode: how to play, the goal, and what there is to see, in place of `prompt`.

        Raises:
            SceneError, SimulatorError, UnavailableError: it can't be started.
        """
        turn = self._rollout.reset(self._task)
        system = {"role": "system", "content": instructions("tags")}
        return [system, _message(turn)], {"task": self._rollout.task.id}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Carry out a reply of the model.

        Raises:
            SimulatorError: the simulator failed.
        """
        self.turns += 1
        turn = self._rollout.act(action)
        return BaseTextEnvStepOutput(
            observations=[_message(turn)],
            reward=turn.reward,
            done=turn.done or self.turns == self.max_turns,
            metadata=turn.info,
            postprocessed_action=None,
        )

    def get_metrics(self) -> dict[str, float]:
        """Success, the share of goal conditions that hold, and the steps; empty before `init`."""
        return self._rollout.turn.metrics if self._rollout.begun else {}

    def close(self) -> None:
        """Let go of the simulator."""
        self._rollout.close()


def environment_class(factory: RolloutFactory) -> type[SkyrlEnv]:
    """A class that `skyrl_gym.register(id, entry_point=CLASS)` takes.

    Args:
        factory: which episodes. All environments of the class share its tasks and its starts, so
            that a group of rollouts copies one start.
    """
    return type("SkyrlEnv", (SkyrlEnv,), {"_factory": factory, "__doc__": SkyrlEnv.__doc__})


def dataset_rows(factory: RolloutFactory, env_class: str) -> list[dict[str, Any]]:
    """A row for each task, for the parquet file that SkyRL reads.

    Args:
        factory: which tasks.
        env_class: the id under which the class is registered.
    """
    return [
        {"prompt": [{"role": "user", "content": task.goal}], "env_class": env_class, "task": number}
        for number, task in enumerate(factory.tasks)
    ]


def _message(turn: Turn) -> dict[str, Any]:
    return {"role": "user", "content": turn.chat_parts}
