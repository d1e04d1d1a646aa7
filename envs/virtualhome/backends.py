"""The simulation behind the environment: the embedded evolving graph, or a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.core import Determinism
from inhabit.envs.virtualhome.drawing.picture import FlatPicture, View, node_of
from inhabit.envs.virtualhome.graph.verbs import ScriptLine
from inhabit.envs.virtualhome.graph.world import Failure, FlatWorld
from inhabit.envs.virtualhome.tasks.scene import VirtualHomeScene, build_world, character_of


class Simulation(Protocol):
    """A simulated flat. Every call returns the new state of the world."""

    determinism: Determinism

    def reset(self, scene: VirtualHomeScene) -> FlatWorld:
        """Furnish the flat.

        Raises:
            SceneError: the scene cannot be built.
            SimulatorError: the simulator failed.
        """
        ...

    def run(self, world: FlatWorld, line: ScriptLine) -> tuple[FlatWorld, Failure | None]:
        """Execute one script line.

        Raises:
            SimulatorError: the simulator failed.
        """
        ...

    def picture(self, world: FlatWorld) -> NDArray[np.uint8] | None:
        """The character's image, uint8 (H, W, 3); None without images."""
        ...

    def pixels(self, world: FlatWorld) -> Mapping[int, int]:
        """Node id -> number of pixels in that image; empty without images."""
        ...

    def close(self) -> None:
        """Release the simulation. Safe to call twice."""
        ...


class Embedded:
    """The evolving graph in this process, rendered by `inhabit.envs.simulators.render`."""

    determinism = Determinism.FRAMES

    def __init__(self, width: int, height: int, view: View | Literal["none"]) -> None:
        self._width, self._height, self._view = width, height, view
        self._stage: FlatPicture | None = None
        self._counted: tuple[FlatWorld, Mapping[int, int]] | None = None
        """The last world whose pixels were counted; a world never changes."""

    def reset(self, scene: VirtualHomeScene) -> FlatWorld:
        """Build the flat's graph."""
        return build_world(scene)

    def run(self, world: FlatWorld, line: ScriptLine) -> tuple[FlatWorld, Failure | None]:
        """One step of the evolving graph."""
        return world.step(line)

    def picture(self, world: FlatWorld) -> NDArray[np.uint8] | None:
        """Rendered from the graph alone: equal graphs give equal bytes."""
        if self._view == "none":
            return None
        stage, character = self._staged(world), character_of(world)
        return stage.take(world, character, self._view, self._width, self._height).rgb

    def pixels(self, world: FlatWorld) -> Mapping[int, int]:
        """Counted in the instance mask of the same view."""
        if self._view == "none":
            return {}
        if self._counted is not None and self._counted[0] is world:
            return self._counted[1]
        stage, character = self._staged(world), character_of(world)
        frame = stage.take(world, character, self._view, self._width, self._height, rgb=False)
        counts = np.bincount(frame.ids.ravel() + 1, minlength=len(frame.names) + 1)[1:]
        found: dict[int, int] = {}
        for name, count in zip(frame.names, counts.tolist(), strict=True):
            if count:
                found[node_of(name)] = found.get(node_of(name), 0) + count
        self._counted = world, found
        return found

    def _staged(self, world: FlatWorld) -> FlatPicture:
        if self._stage is None or self._stage.sources is not world.sources:
            self._stage = FlatPicture(world)
        return self._stage

    def close(self) -> None:
        """Nothing to release."""
