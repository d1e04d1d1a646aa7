"""The agent's body: THOR's low-level actions through the `ai2thor` client.

Low-level steps of the agent are counted; queries are not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.alfred.thor.objects import Point, ThorObjects, point
from inhabit.envs.core import SimulatorError

_BLIND: Mapping[str, bool] = {
    "renderImage": False,
    "renderDepthImage": False,
    "renderInstanceSegmentation": False,
}
"""Arguments for a step without images; Unity renders none at all with the first."""
REACH = 1.5
"""Metres along the floor within which interaction is possible, as in THOR."""
HORIZON_STEP = 15
"""Degrees per tilt of the head, as in ALFRED."""
LOWEST, HIGHEST = 60, -30
"""Limits of the head's tilt, degrees below the horizontal."""


class Controller(Protocol):
    """The part of `ai2thor.controller.Controller` that is used."""

    last_event: Any

    def reset(self, scene: str) -> Any:
        """Load a scene; returns an event."""
        ...

    def step(self, action: str, **arguments: Any) -> Any:
        """Execute one action; returns an event."""
        ...

    def stop(self) -> None:
        """Stop the simulator."""
        ...


@dataclass(frozen=True, slots=True)
class AgentPose:
    """The agent's pose, metres and degrees."""

    x: float
    y: float
    z: float
    rotation: float
    horizon: float


class AgentBody:
    """One agent in one running simulator."""

    def __init__(self, controller: Controller, least_pixels: int) -> None:
        """Act through `controller`; objects count as seen from `least_pixels` pixels on."""
        self._controller = controller
        self._least_pixels = least_pixels
        self._event: Any = None
        self._world: ThorObjects | None = None
        self._before: ThorObjects | None = None
        """The last state that was read, before this one."""
        self._blind = False
        self._masks: Any = None
        self._error = "", ""
        self.changes = 0
        """Number of requests so far that may have changed the state."""
        self.broken = False
        """Whether the simulator has failed."""
        self.steps = 0
        """Low-level steps since the last `count_from_zero`."""
        self.film: list[NDArray[np.uint8]] | None = None
        """The list that collects the image of every step, if any."""
        self.film_size: tuple[int, int] | None = None
        """Width and height of these images in pixels, if the simulator is in this process; None
        for those of the agent's images."""

    def reset(self, room: str) -> None:
        """Load a room.

        Raises:
            SimulatorError: the simulator died.
        """
        try:
            self.changes += 1
            self._take(self._controller.reset(room))
        except SimulatorError:
            self.broken = True
            raise
        self.steps = 0

    def count_from_zero(self) -> None:
        """Reset the step counter."""
        self.steps = 0

    def step(
        self, action: str, *, blind: bool = False, masks: bool = False, **arguments: Any
    ) -> bool:
        """One low-level step. True if it succeeded.

        Args:
            action: THOR's name of it.
            blind: without images, for intermediate steps; many times faster.
            masks: with masks, though blind.
            arguments: THOR's arguments of the action.
        """
        self.steps += 1
        done = self.tell(action, blind=blind, masks=masks, **arguments)
        if self.film is not None:
            self.film.append(self.filmed)
        return done

    def tell(
        self, action: str, *, blind: bool = False, masks: bool = False, **arguments: Any
    ) -> bool:
        """The same without counting a step: to build scenes and to look ahead.

        Args:
            action: THOR's name of it.
            blind: without images.
            masks: with masks, though blind: they will be asked for.
            arguments: THOR's arguments of the action.
        """
        self.changes += action != "Pass"
        if blind:
            arguments = {**arguments, **_BLIND, "renderInstanceSegmentation": masks}
        self._take(self._send(action, arguments))
        self._blind = blind
        metadata = self._event.metadata
        if action != "Pass":  # this requests an image afterwards
            code, message = metadata.get("errorCode"), metadata.get("errorMessage")
            self._error = str(code or ""), str(message or "")
        return bool(metadata["lastActionSuccess"])

    def ask(self, action: str, **arguments: Any) -> Any:
        """A query that changes nothing; None if the simulator has no answer."""
        event = self._send(action, {**arguments, **_BLIND})
        return event.metadata["actionReturn"] if event.metadata["lastActionSuccess"] else None

    def _send(self, action: str, arguments: Mapping[str, Any]) -> Any:
        try:
            return self._controller.step(action, **arguments)
        except ValueError:
            # The client raises for an action unknown to the simulator, and keeps the event.
            return self._controller.last_event
        except SimulatorError:
            self.broken = True
            raise

    def _take(self, event: Any) -> None:
        self._before = self._world or self._before
        self._event, self._world, self._masks, self._blind = event, None, None, False

    def _pictured(self) -> Any:
        """The current event with its image."""
        if self._blind:
            self.tell("Pass")
        return self._event

    @property
    def world(self) -> ThorObjects:
        """All objects now."""
        if self._world is None:
            self._world = ThorObjects(self._event.metadata["objects"], self._before)
        return self._world

    @property
    def pose(self) -> AgentPose:
        """The agent's pose."""
        agent = self._event.metadata["agent"]
        x, y, z = point(agent["position"])
        turn = float(agent["rotation"]["y"]) % 360
        horizon = (float(agent["cameraHorizon"]) + 180) % 360 - 180
        return AgentPose(x, y, z, turn, horizon)

    @property
    def eye(self) -> Point:
        """The camera's position."""
        return point(self._event.metadata["cameraPosition"])

    @property
    def field_of_view(self) -> float:
        """Degrees, vertical."""
        return float(self._event.metadata["fov"])

    @property
    def room(self) -> str:
        """The room's name, such as "FloorPlan1"."""
        return str(self._event.metadata["sceneName"]).removesuffix("_physics")

    @property
    def error(self) -> tuple[str, str]:
        """THOR's code and message of the last action; empty if it succeeded."""
        return self._error

    @property
    def frame(self) -> NDArray[np.uint8]:
        """The image, uint8 (H, W, 3)."""
        return np.ascontiguousarray(self._pictured().frame[..., :3])

    @property
    def filmed(self) -> NDArray[np.uint8]:
        """The image for a video, uint8 (H, W, 3), in the size of `film_size`."""
        if self.film_size is None:
            return self.frame
        larger: NDArray[np.uint8] = self._event.frame_at(*self.film_size)
        return larger

    @property
    def depth(self) -> NDArray[np.float32]:
        """Metres along the optical axis, float32 (H, W)."""
        return np.ascontiguousarray(self._pictured().depth_frame, dtype=np.float32)

    def near(self) -> Sequence[str]:
        """Ids of the objects that are visible and within reach."""
        return [thing.id for thing in self.world if thing.visible]

    def noticed(self) -> Sequence[str]:
        """Ids of the objects that count as seen: enough pixels in the image, or any pixel within
        reach.
        """
        return list(dict.fromkeys([*self.in_view(), *self.near()]))

    def place(self, pose: AgentPose, *, blind: bool = False, masks: bool = False) -> bool:
        """Teleport to a pose, without counting a step. False if it is not possible."""
        return self.tell(
            "TeleportFull",
            blind=blind,
            masks=masks,
            position={"x": pose.x, "y": pose.y, "z": pose.z},
            rotation={"x": 0, "y": pose.rotation, "z": 0},
            horizon=pose.horizon,
            standing=True,
            forceAction=True,
        )

    def instances(self) -> tuple[NDArray[np.int32], Sequence[str]]:
        """The instance index of every pixel, int32 (H, W), and THOR's ids by index; -1 for none."""
        image, keys = self._instance_image()
        shown, places = np.unique(image, return_inverse=True)
        ids = [keys.get(int(key)) for key in shown]
        names = [id for id in ids if id is not None]
        index = np.array([-1 if id is None else names.index(id) for id in ids], np.int32)
        return index[places].reshape(image.shape), names

    def in_view(self) -> Mapping[str, int]:
        """Number of pixels of every object that is large enough in the image, by THOR id, in the
        order of the ids.
        """
        counted = self._counted().items()
        return dict(sorted((id, count) for id, count in counted if count >= self._least_pixels))

    def _counted(self) -> Mapping[str, int]:
        """Number of pixels of every object in the image, by THOR id."""
        # The embedded household in this process counts without masks.
        counted: Mapping[str, int] | None = getattr(self._event, "pixels", None)
        if counted is not None:
            return {id: n for id, n in counted.items() if id in self.world}
        image, keys = self._instance_image()
        return {keys[key]: count for key, count in _pixels(image).items() if key in keys}

    def _instance_image(self) -> tuple[NDArray[np.uint32], Mapping[int, str]]:
        masks = self._masked()
        image: NDArray[np.uint32] = masks.instance_segmentation_frame_uint32
        world = self.world
        keys = {_key(color): id for id, color in masks.instance_colors.items() if id in world}
        return image & np.uint32(0xFFFFFF), keys

    def _masked(self) -> Any:
        """The instance masks of the current event, requested once."""
        if self._masks is None:
            masks = self._event.instance_masks
            if not _drawn(masks):
                # Without an image Unity sends no masks either; the embedded household does.
                masks = self._send("Pass", {"renderImage": False}).instance_masks
            self._masks = masks if _drawn(masks) else self._pictured().instance_masks
        return self._masks


def _pixels(image: NDArray[np.uint32]) -> Mapping[int, int]:
    """Number of pixels of each colour. Rows consist of few runs, which makes this fast."""
    flat = image.ravel()
    starts = np.concatenate(([0], np.flatnonzero(flat[1:] != flat[:-1]) + 1))
    colors, which = np.unique(flat[starts], return_inverse=True)
    lengths = np.diff(starts, append=flat.size)
    counts = np.bincount(which, weights=lengths)
    return dict(zip(colors.tolist(), counts.astype(int).tolist(), strict=True))


def _drawn(masks: Any) -> bool:
    return hasattr(masks, "instance_segmentation_frame_uint32")


def _key(color: Sequence[int]) -> int:
    red, green, blue = color[:3]
    return int(red) | int(green) << 8 | int(blue) << 16
