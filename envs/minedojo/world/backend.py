"""The interface of the world behind the environment.

Luanti implements it (`luanti.world`). A bridge to another server, such as mineflayer's, can be
passed to `MineDojo(settings, start=...)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


class Backend(Protocol):
    """A running world with one scene."""

    def ask(self, op: str, **fields: Any) -> Any:
        """Send one request. The environment uses four operations.

        state: the current state, see `game_state.read`.
        skill: `skill` (a verb), `name`, `deadline` (ticks) -> feedback, ticks, reason if it failed.
        view: `across` and `down` (rays), `wide` and `high` (tangents of half the angles) ->
            `blocks` (name -> rays that meet one) and `mobs` (`id`, `rays`).
        blocks: `distance` -> names of the blocks around, seen or not.

        Raises:
            SimulatorError: the world is gone.
        """

    def settled(self) -> NDArray[np.uint8]:
        """The fully rendered image, uint8 (H, W, 3)."""

    def close(self) -> None:
        """Stop the world. Safe to call twice."""


@runtime_checkable
class Restartable(Protocol):
    """A backend that can begin another episode on the same land."""

    def restart(self, scene: Mapping[str, Any]) -> None:
        """Begin a scene with the land of the present one, in which no action was taken.

        Raises:
            SimulatorError: the world is gone.
        """


Start = Callable[[Mapping[str, Any], int, int], Backend]
"""(scene from `scene.as_world`, width, height in pixels) -> a running world."""
