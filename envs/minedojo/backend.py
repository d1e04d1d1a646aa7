"""What stands behind the environment: a world that carries out skills and tells of itself.

Luanti is one (`luanti.world`). A bridge to a server of one's own, such as mineflayer's, answers the
same questions, and is given to `MineDojo(settings, start=...)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Backend(Protocol):
    """A running world of one scene."""

    def ask(self, op: str, **fields: Any) -> Any:
        """One question; `env` asks four.

        state: everything of this moment, see `account.read`.
        skill: `skill` (a verb), `name`, `deadline` (ticks) -> feedback, ticks, reason if it failed.
        view: `across` and `down` (rays), `wide` and `high` (tangents of half the angles) ->
            `blocks` (name -> rays that meet one) and `mobs` (`id`, `rays`).
        blocks: `distance` -> names of the blocks around, seen or not.

        Raises:
            SimulatorError: the world is gone.
        """

    def settled(self) -> NDArray[np.uint8]:
        """What is seen now, all of it drawn, uint8 (H, W, 3)."""

    def close(self) -> None:
        """End it. Safe to call twice."""


Start = Callable[[Mapping[str, Any], int, int], Backend]
"""(scene as `scene.as_world` tells it, width, height in pixels) -> a running world."""
