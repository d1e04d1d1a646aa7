"""Many rooms in one process: a simulator for each, stepped together on all cores.

Images are made by compiled code that lets go of the GIL, so threads draw at the same time. The
simulators share what does not change: rooms, meshes, and memory for images. Nothing that one of
them does reaches another, and results do not depend on the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from inhabit.envs.core import SceneError
from inhabit.envs.simulators.household.rooms.shared import Shared
from inhabit.envs.simulators.household.simulator import ActionResult, Simulator
from inhabit.envs.simulators.render.stage import Frame

T = TypeVar("T")


class Batch:
    """N simulators that are reset, act and are observed in one call each."""

    def __init__(
        self,
        scenes: Sequence[str],
        *,
        width: int = 300,
        height: int = 300,
        seed: int = 0,
        threads: int | None = None,
        shared: Shared | None = None,
        **initialization: Any,
    ) -> None:
        """Load a room for each simulator.

        Args:
            scenes: names of the first rooms, one for each simulator.
            width: of the images, pixels.
            height: of the images, pixels.
            seed: chooses where the agents start; `Simulator`'s.
            threads: how many rooms are worked on at once; None for one per core.
            shared: what the simulators share with others; None for something of their own.
            initialization: parameters of THOR's `Initialize`, such as `gridSize=0.25`.

        Raises:
            SceneError: there is no such room, or an initialization that is refused.
            UnavailableError: the rooms are not installed.
        """
        common = shared or Shared()
        self._initialization = initialization
        self._pool = ThreadPoolExecutor(threads or len(os.sched_getaffinity(0)), "inhabit-batch")

        def load(scene: str) -> Simulator:
            return Simulator(scene, width=width, height=height, seed=seed, shared=common)

        self._simulators = self._together(load, scenes)
        self._together(self._initialize, self._simulators)

    def __len__(self) -> int:
        return len(self._simulators)

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def simulators(self) -> Sequence[Simulator]:
        """The simulators, to read their state between two calls."""
        return self._simulators

    def reset(self, scenes: Sequence[str | None]) -> None:
        """Load rooms again or others; `None` leaves a simulator as it is.

        Raises:
            SceneError: there is no such room. The others are loaded.
            ValueError: there are not as many names as simulators.
        """
        self._together(self._reset, self._simulators, self._each(scenes))

    def act(self, requests: Sequence[Mapping[str, Any] | None]) -> list[ActionResult | None]:
        """Execute one action in each room; `None` does nothing there, and is its result.

        Args:
            requests: THOR's JSON, such as {"action": "MoveAhead"}, one for each simulator.

        Raises:
            ValueError: there are not as many requests as simulators.
        """
        return self._together(_act, self._simulators, self._each(requests))

    def observe(self, *, rgb: bool = True) -> list[Frame]:
        """Every agent's view: depth and ids, and colours on request."""
        return self._together(lambda simulator: simulator.frame(rgb=rgb), self._simulators)

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()

    def _reset(self, simulator: Simulator, scene: str | None) -> None:
        if scene is None:
            return
        result = simulator.act({"action": "Reset", "sceneName": scene})
        if not result.success:
            raise SceneError(result.message)
        self._initialize(simulator)

    def _initialize(self, simulator: Simulator) -> None:
        result = simulator.act({"action": "Initialize", **self._initialization})
        if not result.success:
            raise SceneError(f"The simulator rejected the initialization: {result.message}")

    def _each(self, asked: Sequence[T]) -> Sequence[T]:
        if len(asked) != len(self._simulators):
            raise ValueError(f"Expected {len(self._simulators)} entries; got {len(asked)}.")
        return asked

    def _together(self, function: Callable[..., T], *columns: Sequence[Any]) -> list[T]:
        """Call it for every row; then raise the first error, or return the results in order."""
        futures = [self._pool.submit(function, *row) for row in zip(*columns, strict=True)]
        for future in futures:
            future.exception()
        return [future.result() for future in futures]


def _act(simulator: Simulator, request: Mapping[str, Any] | None) -> ActionResult | None:
    return None if request is None else simulator.act(request)
