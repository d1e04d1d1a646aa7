"""Environments for VAGEN: its asynchronous environment, and a handler for its environment service.

Duck-typed after VAGEN's `GymImageEnv` and `BaseGymHandler.create_env` (read in November 2026), so
that VAGEN need not be installed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from PIL import Image as Picture
from pydantic import Field

from inhabit.agents.dialogue.prompt import instructions
from inhabit.agents.models.core import Image
from inhabit.frameworks.factory import RolloutSettings
from inhabit.frameworks.rollout import RolloutFactory
from inhabit.frameworks.turn import Turn

IMAGE = "<image>"


class VagenSettings(RolloutSettings, extra="forbid"):
    """What VAGEN's `env_config` may say."""

    max_actions_per_step: int = Field(default=1, ge=1)
    """Actions that one reply may hold, with "|" between them."""


class VagenEnv:
    """One environment, with VAGEN's `system_prompt`, `reset`, `step` and `close`.

    Args:
        env_config: see `VagenSettings`.
        factory: instead of what `env_config` says of environment and tasks, so that many
            environments share them.

    Raises:
        ValidationError: the configuration is wrong.
        UnknownNameError, SettingError, TaskError: as `rollouts`.
    """

    def __init__(
        self, env_config: Mapping[str, Any], factory: RolloutFactory | None = None
    ) -> None:
        self.config = dict(env_config)
        self._settings = VagenSettings.model_validate(self.config)
        self._rollout = (factory or self._settings.factory()).open()

    async def system_prompt(self) -> dict[str, Any]:
        """What the model is told once."""
        return {"obs_str": instructions("tags", self._settings.max_actions_per_step)}

    async def reset(self, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start the task with number `seed` modulo how many there are."""
        turn = await asyncio.to_thread(self._rollout.reset, seed=seed)
        return _observation(turn), {"success": turn.success, "task": self._rollout.task.id}

    async def step(self, action_str: str) -> tuple[dict[str, Any], float, bool, dict[str, Any]]:
        """Carry out the actions of a reply until one has no effect or the episode ends."""
        before = len(self._rollout.session.history)
        most = self._settings.max_actions_per_step
        turn = await asyncio.to_thread(self._rollout.act, action_str, most=most)
        done = [step.action for step in self._rollout.session.history[before:]]
        info = {"success": turn.success, "ending": turn.ending, "actions": done}
        return _observation(turn), turn.reward, turn.done, info

    async def close(self) -> None:
        """Let go of the simulator."""
        await asyncio.to_thread(self._rollout.close)


class VagenHandler:
    """Makes environments for VAGEN's service; environments of one configuration share tasks.

    Mix it in before VAGEN's own base: `class Handler(VagenHandler, BaseGymHandler): pass`.
    """

    _factories: dict[str, RolloutFactory]

    async def create_env(self, env_config: Mapping[str, Any]) -> VagenEnv:
        """One environment for one client."""
        settings = VagenSettings.model_validate(dict(env_config))
        factories = self.__dict__.setdefault("_factories", {})
        key = settings.model_dump_json()
        if key not in factories:
            factories[key] = await asyncio.to_thread(settings.factory)
        return VagenEnv(env_config, factories[key])


def _observation(turn: Turn) -> dict[str, Any]:
    # What an environment says may hold the placeholder; only ours counts.
    said = (p.replace(IMAGE, "(image)") if isinstance(p, str) else IMAGE for p in turn.parts)
    shown = [Picture.fromarray(part.rgb) for part in turn.parts if isinstance(part, Image)]
    pictures = {"multi_modal_input": {IMAGE: shown}} if shown else {}
    return {"obs_str": "".join(said), **pictures}
