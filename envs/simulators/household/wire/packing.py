"""Metadata and images as AI2-THOR sends them."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgpack
import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.household.episode.house import ObjectVisibility
from inhabit.envs.simulators.household.geometry.boxes import xyz
from inhabit.envs.simulators.household.simulator import ActionResult, Simulator
from inhabit.envs.simulators.household.state import robot_arm
from inhabit.envs.simulators.household.state.agent import FAR_PLANE
from inhabit.envs.simulators.household.state.world import SimObject

_PER_STEP = ("distance", "visible", "isInteractable")
"""Fields that depend on the agent's pose, and so change with every step."""


class Format(ABC):
    """A format for plain values that can also combine packed parts."""

    @abstractmethod
    def entries(self, table: Mapping[str, Any]) -> bytes:
        """The inside of a table, to combine with others by `table`."""

    @abstractmethod
    def entry(self, key: str, packed: bytes) -> bytes:
        """One entry with a packed value."""

    @abstractmethod
    def table(self, entries: Sequence[bytes], count: int) -> bytes:
        """A table of what `entries` and `entry` returned, with `count` entries in all."""

    @abstractmethod
    def array(self, items: Sequence[bytes]) -> bytes:
        """An array of packed values."""


class MessagePack(Format):
    """The format of messages over pipes."""

    def __init__(self) -> None:
        self._pack: Callable[[Any], bytes] = msgpack.Packer(autoreset=True).pack

    def entries(self, table: Mapping[str, Any]) -> bytes:
        """See `Format`."""
        return self._pack(table)[len(_map_header(len(table))) :]

    def entry(self, key: str, packed: bytes) -> bytes:
        """See `Format`."""
        return self._pack(key) + packed

    def table(self, entries: Sequence[bytes], count: int) -> bytes:
        """See `Format`."""
        return b"".join([_map_header(count), *entries])

    def array(self, items: Sequence[bytes]) -> bytes:
        """See `Format`."""
        head = b"\xdc" + len(items).to_bytes(2, "big")
        return b"".join([head, *items])


class Json(Format):
    """The format of messages over HTTP."""

    def entries(self, table: Mapping[str, Any]) -> bytes:
        """See `Format`."""
        return json.dumps(table, separators=(",", ":"), allow_nan=False)[1:-1].encode()

    def entry(self, key: str, packed: bytes) -> bytes:
        """See `Format`."""
        return json.dumps(key).encode() + b":" + packed

    def table(self, entries: Sequence[bytes], count: int) -> bytes:
        """See `Format`."""
        return b"{" + b",".join(entries) + b"}"

    def array(self, items: Sequence[bytes]) -> bytes:
        """See `Format`."""
        return b"[" + b",".join(items) + b"]"


class Objects:
    """Packs `metadata["objects"]` and caches the unchanged part of each object."""

    def __init__(self, form: Format, aliases: Mapping[str, str]) -> None:
        """Start with an empty cache.

        Args:
            form: how it is written.
            aliases: keys that are written under another name besides.
        """
        self._form = form
        self._aliases = aliases
        self._kept: dict[int, tuple[bytes, int]] = {}

    def pack(
        self,
        seen: Iterable[tuple[SimObject, ObjectVisibility]],
        apart: frozenset[str] = frozenset(),
    ) -> bytes:
        """All objects, with their current visibility.

        Args:
            seen: the objects.
            apart: ids that are on no object's lists of parents and contents.
        """
        kept, items = {}, []
        for thing, sight in seen:
            if apart and not apart.isdisjoint((thing.id, *thing.parents, *thing.contents)):
                entry = self._entry(_without(thing, apart))
            else:
                entry = self._kept.get(thing.revision) or self._entry(thing.metadata)
                kept[thing.revision] = entry
            now = self._form.entries(dict(zip(_PER_STEP, sight, strict=True)))
            items.append(self._form.table([entry[0], now], entry[1]))
        self._kept = kept
        return self._form.array(items)

    def _entry(self, metadata: Mapping[str, Any]) -> tuple[bytes, int]:
        still = {k: v for k, v in metadata.items() if k not in _PER_STEP}
        still |= {alias: still[key] for key, alias in self._aliases.items()}
        return self._form.entries(still), len(still) + len(_PER_STEP)


def _without(thing: SimObject, apart: frozenset[str]) -> Mapping[str, Any]:
    """An object's metadata without links to, or from, what is apart."""
    parents, contents = thing["parentReceptacles"], thing["receptacleObjectIds"]
    if parents is not None:
        parents = [id for id in parents if id not in apart] or None
    if contents is not None:
        contents = [id for id in contents if id not in apart and thing.id not in apart]
    return {**thing.metadata, "parentReceptacles": parents, "receptacleObjectIds": contents}


def _map_header(count: int) -> bytes:
    # MessagePack's "fixmap" and "map 16": the fixed size of the second locates the entries.
    return bytes([0x80 | count]) if count < 16 else b"\xde" + count.to_bytes(2, "big")


_TICK = 0.02
"""Seconds of simulated time per action: Unity's physics step."""


def describe(
    simulator: Simulator, request: Mapping[str, Any], reply: ActionResult, actions: int
) -> dict[str, Any]:
    """All of `event.metadata` but `objects` and `colors`.

    Args:
        simulator: after the action.
        request: the action.
        reply: the result.
        actions: how many there have been since the scene was loaded.
    """
    settings = simulator.settings
    action = request["action"]
    blocked = not reply.success and str(action).startswith("Move")
    return {
        "agentId": 0,
        **standing(simulator),
        "heldObjectPose": _hand(simulator),
        "inventoryObjects": _inventory(simulator),
        "arm": _arm(simulator),
        "cameraOrthSize": 0.0,
        "screenWidth": settings.width,
        "screenHeight": settings.height,
        "depthFormat": "Meters",
        "colors": None,
        "thirdPartyCameras": [camera.metadata(i) for i, camera in enumerate(simulator.cameras)],
        "sceneBounds": simulator.bounds,
        "isSceneAtRest": simulator.at_rest,
        "currentTime": actions * _TICK,
        "lastAction": action,
        **result(reply),
        "collided": blocked,
        "collidedObjects": [],
        "segmentedObjectIds": [],
    }


def standing(simulator: Simulator) -> dict[str, Any]:
    """The agent's pose."""
    agent = simulator.agent
    return {
        "agent": {
            "name": "agent",
            "position": {"x": agent.x, "y": agent.y, "z": agent.z},
            "rotation": {"x": 0.0, "y": agent.rotation, "z": 0.0},
            "cameraHorizon": agent.horizon,
            "isStanding": agent.standing,
            "inHighFrictionArea": False,
        },
        "fov": simulator.settings.field_of_view,
        "cameraPosition": xyz(np.array(agent.eye)),
        "sceneName": simulator.scene,
    }


def result(reply: ActionResult) -> dict[str, Any]:
    """The result of an action."""
    return {
        "lastActionSuccess": reply.success,
        "errorMessage": reply.message,
        "errorCode": reply.code or None,
        "actionReturn": reply.value,
    }


def _arm(simulator: Simulator) -> Mapping[str, Any] | None:
    agent = simulator.agent
    if agent.robot is None:
        return None
    return robot_arm.metadata(agent.robot, agent.base(), simulator.near_hand())


def _hand(simulator: Simulator) -> Mapping[str, Any]:
    """The pose of the hand, empty or not, in the world's and the camera's frame."""
    agent = simulator.agent
    place, _ = agent.hand()
    camera = agent.camera(simulator.settings.field_of_view)
    return {
        "position": xyz(place),
        "rotation": {"x": 0.0, "y": agent.rotation, "z": 0.0},
        "localPosition": xyz(np.array(camera.axes) @ (place - np.array(agent.eye))),
        "localRotation": {"x": -agent.horizon, "y": 0.0, "z": 0.0},
    }


def _inventory(simulator: Simulator) -> list[Mapping[str, str]]:
    held = simulator.agent.held
    if held is None:
        return []
    return [{"objectId": held, "objectType": simulator.things[held].kind}]


Color = tuple[int, int, int]
_NOTHING = 0xFF000000
"""Black, with the alpha of 255 that the client expects everywhere."""


class Palette:
    """A distinct colour for every object and type of a room, equal in every process."""

    def __init__(self) -> None:
        self._colors: dict[str, Color] = {}
        self._taken: set[Color] = {(0, 0, 0)}

    def add(self, names: Iterable[str]) -> None:
        """Assign colours to new names."""
        for name in names:
            if name not in self._colors:
                self._colors[name] = self._free(name)
                self._taken.add(self._colors[name])

    def metadata(self) -> list[dict[str, object]]:
        """Names and colours as `metadata["colors"]` has them."""
        return [{"name": name, "color": list(color)} for name, color in self._colors.items()]

    def colors(self, names: Sequence[str]) -> list[Color]:
        """The colour of each name."""
        return [self._colors[name] for name in names]

    def pixels(self, names: Sequence[str]) -> NDArray[np.uint32]:
        """The pixel of each name, and last (at index -1) that of the background."""
        colors = (self._colors[name] for name in names)
        values = [r | g << 8 | b << 16 | 0xFF000000 for r, g, b in colors]
        return np.array([*values, _NOTHING], dtype="<u4")

    def _free(self, name: str) -> Color:
        digest = hashlib.sha256(name.encode()).digest()
        while (color := (digest[0], digest[1], digest[2])) in self._taken:
            digest = hashlib.sha256(digest).digest()
        return color


def rgb(pixels: NDArray[np.uint8]) -> bytes:
    """Colours, (H, W, 3)."""
    return pixels[::-1].tobytes()


def depth(metres: NDArray[np.float32]) -> bytes:
    """Depth in metres, (H, W); the background is at the far plane."""
    return np.minimum(metres[::-1], np.float32(FAR_PLANE)).tobytes()


def names(ids: NDArray[np.int32], colors: NDArray[np.uint32]) -> bytes:
    """Names as colours, (H, W), given `Palette.pixels` for all names."""
    return colors[ids[::-1]].tobytes()


def normals(facing: NDArray[np.float32]) -> bytes:
    """`Frame.normals` as colours, (H, W, 4): -1 to 1 are 0 to 255; black where nothing is seen."""
    seen = facing.any(axis=2, keepdims=True)
    colors = np.rint((facing + 1.0) * 127.5) * seen
    alpha = np.full((*facing.shape[:2], 1), 255.0, np.float32)
    return np.concatenate((colors, alpha), axis=2).astype(np.uint8)[::-1].tobytes()
