"""What the configuration of another framework may say of rollouts."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, Field, JsonValue

from inhabit.frameworks.factory import rollouts
from inhabit.frameworks.reward import Reward
from inhabit.frameworks.rollout import RolloutFactory


class RolloutSettings(BaseModel):
    """Which episodes: the arguments of `rollouts` that a file or a command line can hold."""

    env: str
    """A registered environment, such as "alfred"."""
    n: int | None = Field(default=None, ge=1)
    """How many tasks."""
    tasks: str | None = None
    """Where they come from, as `--tasks` has it; None samples them."""
    seed: int = 0
    reward: Reward = Reward.CONDITIONS
    settings: Mapping[str, JsonValue] = Field(default_factory=dict)
    """Of the environment, as `--set` has it."""
    max_steps: int | None = Field(default=None, ge=1)
    """Actions an episode may take, instead of each task's own limit."""

    def factory(self) -> RolloutFactory:
        """The episodes.

        Raises:
            UnknownNameError, SettingError, TaskError: as `rollouts`.
        """
        return rollouts(**{name: getattr(self, name) for name in RolloutSettings.model_fields})
