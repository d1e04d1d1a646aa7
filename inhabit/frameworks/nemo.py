"""A resources server for NeMo Gym (package nemo-gym 0.7, which asks for Python 3.13.14).

It is driven by NeMo Gym's own `gymnasium_agent`, whose observations are texts. Pictures travel in
the row's first message and in the results of the tool `act`, which may hold images.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, ClassVar

from resources_servers.gymnasium import GymnasiumServer, extract_text

from inhabit.agents.dialogue.prompt import instructions
from inhabit.envs.pictures import data_url
from inhabit.frameworks.rollout import Rollout, RolloutFactory
from inhabit.frameworks.turn import Turn

_TOOL: Mapping[str, Any] = {
    "type": "function",
    "name": "act",
    "description": "Do one thing in the world, and see what it changes.",
    "parameters": {
        "type": "object",
        "properties": {"action": {"type": "string"}},
        "required": ["action"],
        "additionalProperties": False,
    },
    "strict": True,
}
_ONLY_TEXT = "\n(Pictures come with the results of the tool act: this was no call of it.)"


class NemoServer(GymnasiumServer):
    """One episode for each session, of the task that the row names."""

    ray_enabled = False
    factory: ClassVar[RolloutFactory]

    async def reset(
        self, metadata: dict[str, Any], session_id: str | None = None
    ) -> tuple[str | None, dict[str, Any]]:
        """Start the episode, whose first observation the row holds.

        Raises:
            TaskError: there is no such task.
            SceneError, SimulatorError, UnavailableError: it can't be started.
        """
        task = self.factory.of_row(metadata)
        self._cleanup_session(session_id)
        rollout = self.session_state[session_id] = self.factory.open()
        await asyncio.to_thread(rollout.reset, task)
        return None, {"task": rollout.task.id}

    async def step(
        self, action: Any, metadata: dict[str, Any], session_id: str | None = None
    ) -> tuple[str | None, float, bool, bool, dict[str, Any]]:
        """Carry out all calls of `act`, or else what the model says, until the episode ends.

        Raises:
            SimulatorError: the simulator failed.
        """
        rollout: Rollout = self.session_state[session_id]
        calls = [item for item in action.output if item.type == "function_call"]
        reward, results, turn = 0.0, [], rollout.turn
        for said in [call.arguments for call in calls] or [extract_text(action)]:
            if not turn.done:
                turn = await asyncio.to_thread(rollout.act, said)
                reward += turn.reward
            results.append(_content(turn))
        told = {
            **turn.info,
            "tool_outputs": [
                {"call_id": call.call_id, "output": result}
                for call, result in zip(calls, results, strict=False)
            ],
        }
        return None if calls else turn.text + _ONLY_TEXT, reward, turn.done, False, told

    def _cleanup_session(self, session_id: str | None) -> None:
        rollout = self.session_state.pop(session_id, None)
        if rollout is not None:
            rollout.close()


def server_class(factory: RolloutFactory) -> type[NemoServer]:
    """A class whose `run_webserver()` serves these episodes, as the entry point of a config."""
    return type("InhabitServer", (NemoServer,), {"factory": factory, "__doc__": NemoServer.__doc__})


def dataset_rows(factory: RolloutFactory) -> list[dict[str, Any]]:
    """A row for each task, for NeMo Gym's JSONL file. Each starts its episode to show its start.

    Raises:
        SceneError, SimulatorError, UnavailableError: an episode can't be started.
    """
    found = []
    with factory.open() as rollout:
        for number in range(len(factory.tasks)):
            shown = [{"role": "user", "content": _content(rollout.reset(number))}]
            system = {"role": "system", "content": instructions("tools")}
            asked = {"input": [system, *shown], "tools": [_TOOL]}
            found.append({"task": number, "responses_create_params": asked})
    return found


def _content(turn: Turn) -> list[dict[str, Any]]:
    return turn.blocks(
        lambda text: {"type": "input_text", "text": text},
        lambda rgb: {"type": "input_image", "image_url": data_url(rgb), "detail": "auto"},
    )
