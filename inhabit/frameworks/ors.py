"""An environment for the Open Reward Standard (extra `ors`; package openreward 0.1.167).

The server and its clients are openreward's own. Each session plays an episode; the prompt and the
answers of the tool `act` hold texts and the picture, as text and image blocks.
"""

from __future__ import annotations

from typing import Any

from openreward.environments import (
    Environment,
    ImageBlock,
    Server,
    Split,
    TextBlock,
    ToolOutput,
    tool,
)
from pydantic import BaseModel, Field

from inhabit.agents.dialogue.prompt import instructions
from inhabit.envs.errors import UserError
from inhabit.envs.pictures import base64_png
from inhabit.frameworks.rollout import RolloutFactory
from inhabit.frameworks.turn import Turn


class Act(BaseModel):
    """The argument of the tool."""

    action: str = Field(
        description='In the words of the list, such as "go to the fridge"; "stop" ends the episode.'
    )


class InhabitSession(Environment):
    """One session: an episode of the task that its specification names."""

    _factory: RolloutFactory
    _split: str

    def __init__(self, task_spec: Any, secrets: Any = None) -> None:
        super().__init__(task_spec, secrets or {})
        self._rollout = self._factory.open()

    @classmethod
    def list_splits(cls) -> list[Split]:
        """The one split."""
        return [Split(name=cls._split, type=cls._split)]

    @classmethod
    def list_tasks(cls, split: str) -> list[dict[str, Any]]:
        """Number, id and kind of all tasks.

        Raises:
            UserError: there is no such split.
        """
        if split != cls._split:
            raise UserError(f"There is no split {split!r}: this server has {cls._split!r}.")
        tasks = cls._factory.tasks
        return [{"task": i, "id": task.id, "kind": task.kind} for i, task in enumerate(tasks)]

    def setup(self) -> None:
        """Start the episode.

        Raises:
            TaskError: there is no such task.
            SceneError, SimulatorError, UnavailableError: it can't be started.
        """
        self._rollout.reset(self._factory.of_row(self.task_spec))

    def teardown(self) -> None:
        """Let go of the simulator."""
        self._rollout.close()

    def get_prompt(self) -> list[TextBlock | ImageBlock]:
        """How to play, the goal, and what there is to see now."""
        return [TextBlock(text=f"{instructions('tools')}\n"), *_blocks(self._rollout.turn)]

    @tool
    def act(self, args: Act) -> ToolOutput:
        """Do one thing in the world, and see what it changes."""
        turn = self._rollout.act(args.action)
        return ToolOutput(
            blocks=_blocks(turn), reward=turn.reward, finished=turn.done, metadata=turn.info
        )


def environment_class(factory: RolloutFactory, split: str = "train") -> type[InhabitSession]:
    """A class for openreward's server.

    Args:
        factory: which episodes.
        split: "train", "validation" or "test": the one split under which they are offered.
    """
    members = {"_factory": factory, "_split": split, "__doc__": InhabitSession.__doc__}
    return type(factory.registration.name, (InhabitSession,), members)


def server(*factories: RolloutFactory) -> Server:
    """A server of these environments; `run("127.0.0.1", 8080)` serves it.

    It has no token of its own: whoever reaches it may play.
    """
    return Server([environment_class(factory) for factory in factories])


def _blocks(turn: Turn) -> list[TextBlock | ImageBlock]:
    return turn.blocks(
        lambda text: TextBlock(text=text),
        lambda rgb: ImageBlock(data=base64_png(rgb), mimeType="image/png"),
    )
