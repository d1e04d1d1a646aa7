"""The agent's body: where it stands, what it sees, and its ways over the grid."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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
        """Carry out an action without counting a step: to build scenes and to look ahead.

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
        # The embedded household in this process tells them without records of all objects.
        near: Sequence[str] | None = getattr(self._event, "near", None)
        return [thing.id for thing in self.world if thing.visible] if near is None else near

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


Cell = tuple[int, int]
"""A grid cell: x and z in grid steps."""
_KEPT = 64
"""Number of start poses whose paths are cached."""
STEP = 0.25
"""Metres between neighbouring cells."""
HEADINGS: Mapping[int, Cell] = {0: (0, 1), 90: (1, 0), 180: (0, -1), 270: (-1, 0)}
"""Heading in degrees -> direction of a step ahead."""
Stand = tuple[int, int, int]
"""Cell and heading: (x, z, degrees), in grid steps."""


def cell(x: float, z: float) -> Cell:
    """The grid cell nearest to a point on the floor."""
    return round(x / STEP), round(z / STEP)


def heading(degrees: float) -> int:
    """The nearest multiple of 90 degrees."""
    return round(degrees / 90) % 4 * 90


@dataclass(frozen=True, slots=True)
class ShortestPaths:
    """Shortest paths from one start to all other poses."""

    start: Stand
    cost: Mapping[Stand, int]
    """Low-level steps from `start` to each pose."""
    before: Mapping[Stand, tuple[Stand, str]] = field(repr=False)

    def to(self, goal: Stand) -> Sequence[str]:
        """THOR's actions along a shortest path.

        Raises:
            KeyError: there is no way.
        """
        actions: list[str] = []
        while goal != self.start:
            goal, action = self.before[goal]
            actions.append(action)
        return actions[::-1]


class Grid:
    """The free cells, and the steps that turned out to be blocked."""

    def __init__(self, places: Iterable[Cell]) -> None:
        self.places = frozenset(places)
        self._blocked: set[tuple[Cell, Cell]] = set()
        self._paths: dict[Stand, ShortestPaths] = {}

    def block(self, stand: Stand) -> None:
        """Remember that the step ahead from there is blocked."""
        self._blocked.add(_ahead(stand))
        self._paths = {}

    def copy(self) -> Grid:
        """An independent copy. Paths that either finds are known to both until one is blocked."""
        twin = Grid(self.places)
        twin._blocked, twin._paths = set(self._blocked), self._paths
        return twin

    def ways(self, start: Stand) -> ShortestPaths:
        """Shortest paths from `start` by breadth-first search; ties are always resolved the same
        way.
        """
        if start not in self._paths:
            if len(self._paths) == _KEPT:
                self._paths.clear()
            self._paths[start] = self._search(start)
        return self._paths[start]

    def _search(self, start: Stand) -> ShortestPaths:
        cost = {start: 0}
        before: dict[Stand, tuple[Stand, str]] = {}
        ahead = deque([start])
        while ahead:
            stand = ahead.popleft()
            for action, there in self._next(stand):
                if there not in cost:
                    cost[there] = cost[stand] + 1
                    before[there] = stand, action
                    ahead.append(there)
        return ShortestPaths(start, cost, before)

    def _next(self, stand: Stand) -> Iterable[tuple[str, Stand]]:
        x, z, degrees = stand
        here, there = _ahead(stand)
        if there in self.places and (here, there) not in self._blocked:
            yield "MoveAhead", (*there, degrees)
        yield "RotateRight", (x, z, (degrees + 90) % 360)
        yield "RotateLeft", (x, z, (degrees - 90) % 360)


def _ahead(stand: Stand) -> tuple[Cell, Cell]:
    x, z, degrees = stand
    dx, dz = HEADINGS[degrees]
    return (x, z), (x + dx, z + dz)
