"""Who carries out script lines and takes pictures: the evolving graph here, or a server."""

from __future__ import annotations

from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from envs.core import Determinism
from envs.virtualhome.drawing.picture import Picture, View
from envs.virtualhome.failures import Failure
from envs.virtualhome.lines import Line
from envs.virtualhome.scene import VirtualHomeScene, build_world, character_of
from envs.virtualhome.world import World


class Simulation(Protocol):
    """A flat that something simulates. Every call gives the world as it then is."""

    determinism: Determinism

    def reset(self, scene: VirtualHomeScene) -> World:
        """Furnish the flat.

        Raises:
            SceneError: the scene can't be built.
            SimulatorError: the simulator failed.
        """
        ...

    def run(self, world: World, line: Line) -> tuple[World, Failure | None]:
        """Carry out one line.

        Raises:
            SimulatorError: the simulator failed.
        """
        ...

    def picture(self, world: World) -> NDArray[np.uint8] | None:
        """What the character sees, uint8 (H, W, 3); None where no pictures were asked for."""
        ...

    def close(self) -> None:
        """Let go of it. Safe to call twice."""
        ...


class Embedded:
    """The evolving graph in this process, drawn by `envs.render`."""

    determinism = Determinism.FRAMES

    def __init__(self, width: int, height: int, view: View | Literal["none"]) -> None:
        self._width, self._height, self._view = width, height, view
        self._stage: Picture | None = None

    def reset(self, scene: VirtualHomeScene) -> World:
        """Build the flat's graph."""
        return build_world(scene)

    def run(self, world: World, line: Line) -> tuple[World, Failure | None]:
        """One step of the evolving graph."""
        return world.step(line)

    def picture(self, world: World) -> NDArray[np.uint8] | None:
        """Drawn from the graph alone: the same world gives the same bytes."""
        if self._view == "none":
            return None
        if self._stage is None or self._stage.sources is not world.sources:
            self._stage = Picture(world)
        frame = self._stage.take(world, character_of(world), self._view, self._width, self._height)
        return frame.rgb

    def close(self) -> None:
        """Nothing to let go of."""
