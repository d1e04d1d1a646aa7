"""A flat in another process: Unity, or a server with its protocol."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.core import Determinism, SceneError, SimulatorError
from inhabit.envs.virtualhome.graph.failures import Failure
from inhabit.envs.virtualhome.graph.script import ScriptLine
from inhabit.envs.virtualhome.graph.world import FlatWorld
from inhabit.envs.virtualhome.tasks.scene import VirtualHomeScene, build_world
from inhabit.envs.virtualhome.unity.client import VirtualHomeClient
from inhabit.envs.virtualhome.unity.launch import Unity
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings

_CAMERAS: Mapping[str, Sequence[str]] = {
    "first_person": ("FIRST_PERSON", "PERSON_FRONT"),
    "over_the_shoulder": ("PERSON_FROM_BACK", "PERSON_BACK"),
    "top_down": ("PERSON_TOP",),
}
"""The character's camera for a view, by the names that releases have for it."""


class Remote:
    """Drives a server. The graph fetched after every line determines what happened."""

    determinism = Determinism.NONE

    def __init__(self, settings: VirtualHomeSettings) -> None:
        """Start the user's Unity build, or connect to what listens.

        Raises:
            UnavailableError: `executable` is not a program.
            SimulatorError: it did not start, or nothing answers.
        """
        self._settings = settings
        self._unity: Unity | None = None
        if settings.executable is not None:
            self._unity = Unity(
                settings.executable, graphics=settings.view != "none", timeout=settings.timeout
            )
        host, port = settings.host, settings.port
        if self._unity is not None:
            host, port = "127.0.0.1", self._unity.port
        self._client = VirtualHomeClient(host, port, timeout=settings.timeout)
        self._equivalence: Mapping[str, Sequence[str]] = {}
        self._hour = 12.0
        self._camera = 0
        try:
            self._refuse_others()
        except SimulatorError:
            self.close()
            raise

    def reset(self, scene: VirtualHomeScene) -> FlatWorld:
        """Load the flat's plan, and change it to the scene's graph.

        Raises:
            SceneError: the scene cannot be built, or the simulator cannot take its graph.
            SimulatorError: the simulator failed.
        """
        wanted = build_world(scene)
        self._equivalence, self._hour = wanted.equivalence, scene.time
        self._client.reset(scene.flat or 0)
        reply = self._client.ask("expand_scene", strings=("{}", json.dumps(wanted.graph())))
        if not reply.success:
            raise SceneError(f"{self._client.address} can't load this scene: {reply.message}")
        self._client.set_time(scene.time)
        world = self._fetch()
        if not world.characters():
            self._client.add_character(scene.room if scene.eai is None else "")
            world = self._fetch()
        if self._settings.view != "none":
            self._camera = self._camera_of(self._settings.view)
        return world

    def run(self, world: FlatWorld, line: ScriptLine) -> tuple[FlatWorld, Failure | None]:
        """Execute one line there, and fetch what it made of the flat.

        Raises:
            SimulatorError: the simulator failed; with its last output if we started it.
        """
        try:
            failure = self._client.run([line])
            return (world, failure) if failure is not None else (self._fetch(), None)
        except SimulatorError as error:
            raise self._with_last_words(error) from error

    def picture(self, world: FlatWorld) -> NDArray[np.uint8] | None:
        """What its camera shows: the world is where it is, not necessarily where `world` is."""
        if self._settings.view == "none":
            return None
        width, height = self._settings.width, self._settings.height
        (image,) = self._client.camera_images([self._camera], width=width, height=height)
        return np.asarray(image, np.uint8)

    def pixels(self, world: FlatWorld) -> Mapping[int, int]:
        """Counted by colour in its image of instances, taken from the same camera."""
        if self._settings.view == "none":
            return {}
        width, height = self._settings.width, self._settings.height
        (image,) = self._client.camera_images(
            [self._camera], width=width, height=height, mode="seg_inst"
        )
        codes, counts = np.unique(_code(np.asarray(image, np.int64)), return_counts=True)
        shown = dict(zip(codes.tolist(), counts.tolist(), strict=True))
        colors = self._client.instance_colors()
        found = {
            i: shown.get(int(_code(np.round(255 * np.array(c[:3])))), 0) for i, c in colors.items()
        }
        return {i: count for i, count in found.items() if count}

    def close(self) -> None:
        """Stop what we started; leave alone what we found."""
        if self._unity is not None:
            self._unity.close()
            self._unity = None

    def _refuse_others(self) -> None:
        health = self._client.health()
        if health.missing:
            raise SimulatorError(
                f"{self._client.address} is not release 2.3.0: it refuses "
                f"{', '.join(health.missing)} ({health})."
            )

    def _fetch(self) -> FlatWorld:
        return FlatWorld.of(self._client.graph(), self._equivalence, self._hour)

    def _camera_of(self, view: str) -> int:
        names = self._client.character_cameras()
        known = [name for name in _CAMERAS[view] if name in names]
        if not known:
            raise SimulatorError(
                f"{self._client.address} has no camera for the view {view!r}: a character's are "
                f"{', '.join(names) or 'unknown'}."
            )
        return self._client.camera_count() - len(names) + [*names].index(known[0])

    def _with_last_words(self, error: SimulatorError) -> SimulatorError:
        if self._unity is None:
            return error
        ended = self._unity.ended
        state = "still runs" if ended is None else f"has ended with code {ended}"
        return SimulatorError(
            f"{error}\nUnity {state}. Its last words:\n{self._unity.last_words()}"
        )


def _code(rgb: NDArray[Any]) -> NDArray[np.int64]:
    """Colours, 0 to 255 along the last axis, as one number each."""
    return rgb.astype(np.int64) @ np.array((65536, 256, 1), np.int64)
