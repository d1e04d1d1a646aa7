"""Calls the embedded household in this process, in place of the client.

Simulators that are alive in one process share rooms and meshes.

It answers as AI2-THOR's client would, with the same bytes, but computes images and visibility only
when they are read. This is several times faster when many actions are tried and few images are
read, as in data generation. It cannot be killed separately, and it does not test the wire protocol:
the pipes do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.alfred.thor.objects import PartlyKnown
from inhabit.envs.core import SimulatorError, UnavailableError
from inhabit.envs.simulators.household.episode.house import ObjectVisibility
from inhabit.envs.simulators.household.rooms.shared import Shared
from inhabit.envs.simulators.household.rooms.user_rooms import Catalog
from inhabit.envs.simulators.household.simulator import ActionResult, Simulator
from inhabit.envs.simulators.household.state.agent import FAR_PLANE
from inhabit.envs.simulators.household.wire.packing import Palette, result, standing
from inhabit.envs.simulators.render.stage import Frame


class Direct:
    """A simulator in this process with the interface of
    `inhabit.envs.alfred.thor.body.Controller`.
    """

    def __init__(
        self,
        *,
        scene: str,
        width: int,
        height: int,
        rooms: str = "",
        recorded: bool = False,
        catalog: Catalog | None = None,
        **initialization: Any,
    ) -> None:
        """Load the first room.

        Args:
            scene: its name.
            width: of the images, pixels.
            height: of the images, pixels.
            rooms: a folder with rooms of the user's own.
            recorded: whether the reachable positions in iTHOR's rooms are those recorded in THOR.
            catalog: the rooms, in place of the two above.
            initialization: parameters of THOR's `Initialize`, such as `gridSize=0.25`.

        Raises:
            SceneError: there is no such room.
            SimulatorError: it refuses the initialization.
            UnavailableError: the rooms are not installed.
        """
        shared = Shared.of(catalog or Catalog.of(rooms, recorded=recorded))
        self._simulator = Simulator(scene, width=width, height=height, shared=shared)
        self._initialization = initialization
        self._palette = Palette()
        self.last_event: Any = self._initialized()

    def reset(self, scene: str) -> Seen:
        """Load a room.

        Raises:
            SimulatorError: it cannot.
            ValueError: there is no such room.
        """
        if not self.step("Reset", sceneName=scene).metadata["lastActionSuccess"]:
            raise ValueError(self.last_event.metadata["errorMessage"])
        self._palette = Palette()
        return self._initialized()

    def step(self, action: str, **arguments: Any) -> Seen:
        """Execute one action.

        Raises:
            SimulatorError: the simulator fails.
        """
        with _failing(f"in {action!r}"):
            reply = self._simulator.act({"action": action, **arguments})
        self.last_event = seen = Seen(self._simulator, self._palette, reply)
        return seen

    def stop(self) -> None:
        """Nothing to stop."""

    def _initialized(self) -> Seen:
        seen = self.step("Initialize", **self._initialization)
        if not seen.metadata["lastActionSuccess"]:
            raise SimulatorError(
                f"The simulator rejected the request: {seen.metadata['errorMessage']}"
            )
        return seen


@contextmanager
def _failing(where: str) -> Iterator[None]:
    """Turn any error of the simulator into a `SimulatorError`."""
    try:
        yield
    except (SimulatorError, UnavailableError):
        raise
    except Exception as error:
        raise SimulatorError(f"The simulator failed {where}: {error}") from error


class Seen:
    """The counterpart of the client's event: the result of an action, and the lazy images."""

    def __init__(self, simulator: Simulator, palette: Palette, reply: ActionResult) -> None:
        """The state at this event, though it may be read later."""
        self._simulator = simulator
        self._palette = palette
        self._now = simulator.now()
        self.metadata = Metadata(self, {**standing(simulator), **result(reply)})

    @property
    def objects(self) -> list[Record]:
        """All objects, as in THOR's metadata."""
        things = self._now.snapshot.things.values()
        return [Record(thing.metadata, self) for thing in things if thing.away is None]

    @cached_property
    def sights(self) -> Mapping[str, ObjectVisibility]:
        """The visibility of every object, by id."""
        with _failing("to tell what is visible"), self._simulator.back(self._now):
            return self._simulator.visibility()

    @cached_property
    def pixels(self) -> Mapping[str, int]:
        """Number of pixels of every object in the image, by id; no colours are needed for it."""
        things = self._now.snapshot.things
        with _failing("to draw a picture"), self._simulator.back(self._now):
            return {id: count for id, count in self._simulator.shown().items() if id in things}

    @cached_property
    def near(self) -> Sequence[str]:
        """Ids of the objects that are visible and within reach, in THOR's order."""
        with _failing("to tell what is visible"), self._simulator.back(self._now):
            return self._simulator.near()

    @property
    def frame(self) -> NDArray[np.uint8]:
        """The image, uint8 (H, W, 3)."""
        pictured = self._framed(rgb=True).rgb
        assert pictured is not None
        return pictured.copy()

    def frame_at(self, width: int, height: int) -> NDArray[np.uint8]:
        """The image in another size in pixels, uint8 (height, width, 3)."""
        with _failing("to draw a picture"), self._simulator.back(self._now):
            return self._simulator.picture(width, height)

    @property
    def depth_frame(self) -> NDArray[np.float32]:
        """Depth in metres, float32 (H, W); background is at the far plane."""
        return np.minimum(self._framed().depth, np.float32(FAR_PLANE))

    @cached_property
    def instance_masks(self) -> Masks:
        """Instance segmentation, in colours."""
        return Masks(self._framed(), self._palette, self._now.snapshot.things)

    def _framed(self, *, rgb: bool = False) -> Frame:
        with _failing("to draw a picture"), self._simulator.back(self._now):
            return self._simulator.frame(rgb=rgb)


class Metadata(Mapping[str, Any]):
    """The metadata that `AgentBody` reads. Objects are described when they are read."""

    def __init__(self, seen: Seen, known: Mapping[str, Any]) -> None:
        self._seen = seen
        self._known = known

    def __getitem__(self, key: str) -> Any:
        return self._seen.objects if key == "objects" else self._known[key]

    def __iter__(self) -> Iterator[str]:
        yield from self._known
        yield "objects"

    def __len__(self) -> int:
        return len(self._known) + 1


class Record(PartlyKnown):
    """THOR's record of one object. Its visibility is computed when it is read."""

    __slots__ = ("_seen",)

    def __init__(self, known: Mapping[str, Any], seen: Seen) -> None:
        self.known = known
        self._seen = seen

    def __getitem__(self, key: str) -> Any:
        if key == "visible":
            return self.known["objectId"] in self._seen.near
        if key in _PER_VIEW_KEYS:
            return getattr(self._seen.sights[self.known["objectId"]], _PER_VIEW_KEYS[key])
        return self.known[key]

    def __iter__(self) -> Iterator[str]:
        return iter({**self.known, **_PER_VIEW_KEYS})

    def __len__(self) -> int:
        return len({**self.known, **_PER_VIEW_KEYS})


_PER_VIEW_KEYS = {"distance": "distance", "visible": "visible", "isInteractable": "interactable"}
"""Keys of a record that depend on the agent's pose -> attributes of `ObjectVisibility`."""


class Masks:
    """Instance segmentation, in the colours that the client would receive."""

    def __init__(self, frame: Frame, palette: Palette, things: Mapping[str, Any]) -> None:
        palette.add(frame.names)
        palette.add(things)
        colors = palette.pixels(frame.names)
        self.instance_segmentation_frame_uint32: NDArray[np.uint32] = colors[frame.ids]
        self.instance_colors = dict(zip(things, palette.colors([*things]), strict=True))
