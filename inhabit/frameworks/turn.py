"""What a rollout shows after a reset or an action."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from inhabit.agents.models.core import Image
from inhabit.envs.core import Reason
from inhabit.envs.pictures import data_url
from inhabit.episodes.recording.schema import Ending

Block = TypeVar("Block")

ENDED: Mapping[Ending, str] = {
    Ending.STOPPED: "The episode has ended: you have stopped.",
    Ending.SUCCESS: "The goal is reached: the episode has ended.",
    Ending.WRONG_ANSWER: "The episode has ended, and the goal is not reached.",
    Ending.FORMAT_ERROR: "The episode has ended: the answer could not be understood.",
    Ending.INVALID_LIMIT: "The episode has ended: too many actions had no effect.",
    Ending.STEP_LIMIT: "The episode has ended: no steps are left.",
}
"""The last line of an episode's last text."""


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """What there is to see and to know after a reset or an action."""

    parts: tuple[str | Image, ...]
    """Parts for a model, as `rank` with `history=whole` has it: after a reset the goal, after an
    action its feedback; what is seen and told; and the candidates where they are listed."""
    reward: float
    """Reward of this step; 0 after a reset."""
    ending: Ending | None
    """Why the episode has ended; None while it goes on."""
    met: int
    """Goal conditions that hold, out of `total`. Agents under evaluation never see this."""
    total: int
    steps: int
    """Actions taken since the reset."""
    reason: Reason | None = None
    """Why the last action had no effect; None if it worked, or after a reset."""
    candidates: tuple[str, ...] = ()
    """Texts of the plausible actions, without those that have just failed; listed or not."""

    def blocks(
        self, text: Callable[[str], Block], picture: Callable[[NDArray[np.uint8]], Block]
    ) -> list[Block]:
        """The parts as a framework has them: each door makes its own of a text and of a picture."""
        return [text(part) if isinstance(part, str) else picture(part.rgb) for part in self.parts]

    @property
    def chat_parts(self) -> list[dict[str, Any]]:
        """The parts as the content of a chat message, with pictures as `data:` URLs."""
        return self.blocks(
            lambda text: {"type": "text", "text": text},
            lambda rgb: {"type": "image_url", "image_url": {"url": data_url(rgb)}},
        )

    @property
    def text(self) -> str:
        """What `parts` say."""
        return "".join(part for part in self.parts if isinstance(part, str))

    @property
    def picture(self) -> NDArray[np.uint8] | None:
        """What they show, (H, W, 3); None where the environment has no image."""
        shown = [part.rgb for part in self.parts if isinstance(part, Image)]
        return shown[-1] if shown else None

    @property
    def info(self) -> dict[str, Any]:
        """Success, the share of goal conditions that hold, the ending, why nothing was done.

        For the trainer and not for the agent.
        """
        return {
            "success": self.success,
            "conditions": self.met / self.total,
            "ending": self.ending,
            "reason": self.reason,
        }

    @property
    def metrics(self) -> dict[str, float]:
        """Success, the share of goal conditions that hold, and the steps, as numbers."""
        return {
            "success": float(self.success),
            "conditions": self.met / self.total,
            "steps": float(self.steps),
        }

    @property
    def done(self) -> bool:
        """Whether the episode has ended."""
        return self.ending is not None

    @property
    def success(self) -> bool:
        """Whether all goal conditions hold."""
        return self.met == self.total
