"""A client's session: its messages, in the dialect of its release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.household.simulator import ActionResult, Simulator
from inhabit.envs.simulators.household.state.agent import FAR_PLANE, NEAR_PLANE
from inhabit.envs.simulators.household.wire import packing
from inhabit.envs.simulators.household.wire.packing import Color, Format, Objects, describe
from inhabit.envs.simulators.render.stage import Frame

_FARTHEST = 10.0
"""Range in metres of the depth images of release 2.1.0."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """The protocol differences of one release of the client."""

    farthest: float | None = None
    """Range in metres of its three-channel depth; None for float32 metres."""
    three_channels: bool = False
    """Whether its instance images have no alpha channel and come with bounding boxes."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Metadata keys of objects that have another name in this release."""

    @classmethod
    def of(cls, release: str) -> Dialect:
        """The dialect of a release, such as "2.7.4"; that of 5.0.0 for any other release."""
        aliases = {"temperature": "ObjectTemperature"}
        if release == "2.1.0":
            return cls(_FARTHEST, three_channels=True, aliases=aliases)
        if release.startswith("2.7."):
            return cls(FAR_PLANE - NEAR_PLANE, three_channels=True, aliases=aliases)
        return cls()


def depth(metres: NDArray[np.float32], farthest: float = _FARTHEST) -> bytes:
    """Encode depth in metres (H, W) as three base-256 digits of its fraction of the range."""
    left = np.minimum(metres[::-1] / farthest, 1.0) * 256.0
    places = []
    for _ in range(3):
        place = np.minimum(np.floor(left), 255.0)
        places.append(place.astype(np.uint8))
        left = (left - place) * 256.0
    return np.stack(places, axis=-1).tobytes()


def bounds(ids: NDArray[np.int32], colors: Sequence[Color]) -> list[dict[str, object]]:
    """The bounding box of each visible instance: columns, and rows counted from the bottom.

    Args:
        ids: (H, W), index into `colors`; -1 for nothing.
        colors: of the instances.
    """
    found: list[dict[str, object]] = []
    for index in np.unique(ids[ids >= 0]).tolist():
        rows, columns = np.nonzero(ids == index)
        tall = ids.shape[0]
        box = [columns.min(), tall - 1 - rows.max(), columns.max(), tall - 1 - rows.min()]
        found.append({"color": list(colors[index]), "bounds": [int(side) for side in box]})
    return found


@dataclass(frozen=True, slots=True, eq=False)
class PackedState:
    """The state after a request, packed for the wire."""

    metadata: bytes
    """MessagePack over pipes, JSON over HTTP."""
    images: tuple[tuple[str, bytes], ...]
    """Raw pixels by the name of their field in the HTTP form, bottom row first."""


_SENSORS: Mapping[str, str] = {
    "renderDepthImage": "image_depth",
    "renderInstanceSegmentation": "image_ids",
    "renderObjectImage": "image_ids",
    "renderSemanticSegmentation": "image_classes",
    "renderClassImage": "image_classes",
    "renderNormalsImage": "image_normals",
}
"""Request flag -> the image that it asks for."""
_THIRD_PARTY: Mapping[str, str] = {
    "image": "image-thirdParty-camera",
    "image_depth": "image_thirdParty_depth",
    "image_ids": "image_thirdParty_image_ids",
    "image_classes": "image_thirdParty_classes",
    "image_normals": "image_thirdParty_normals",
}
"""Names of the third-party cameras' images."""
_UNKNOWN_SENSORS = ("renderFlowImage",)


class ClientSession:
    """One client's session with one simulator."""

    def __init__(
        self, simulator: Simulator, form: Format, *, pictures: bool = True, release: str = ""
    ) -> None:
        """Wrap `simulator`.

        Args:
            simulator: what acts.
            form: how metadata is written.
            pictures: False sends no images (the client runs with `headless`).
            release: of the client, such as "2.1.0", where `inhabit thor` has started it; else
                empty, for 5.0.0.
        """
        self._simulator = simulator
        self._form = form
        self._pictures = pictures
        self._told = bool(release)
        self._dialect = Dialect.of(release)
        self._objects = Objects(form, self._dialect.aliases)
        self._palette = packing.Palette()
        self._sensors: frozenset[str] = frozenset()
        self._actions = 0
        self._last: dict[int, tuple[Mapping[str, Any], ActionResult]] = {}
        """What each agent did last, and the result."""

    def first(self) -> PackedState:
        """The message before the first request."""
        return self._message(
            {"action": None, "sequenceId": 0, "renderImage": False}, ActionResult(True)
        )

    def answer(self, request: Mapping[str, Any]) -> PackedState:
        """Execute a request and return its message."""
        # `inhabit thor` has warned that they are not rendered; the program runs without them.
        refused = [name for name in _UNKNOWN_SENSORS if request.get(name) and not self._told]
        if refused:
            text = f"The embedded household has no such image: {', '.join(refused)}."
            return self._message(request, ActionResult(False, text, "InvalidArgument"))
        reply = self._simulator.act(request)
        self._actions += 1
        if reply.success and request["action"] == "Reset":
            self._actions, self._palette = 0, packing.Palette()
        if reply.success and request["action"] == "Initialize":
            self._sensors, self._last = _asked(request), {}
        return self._message(request, reply)

    def _message(self, request: Mapping[str, Any], reply: ActionResult) -> PackedState:
        wanted = (self._sensors | _asked(request)) - _declined(request)
        if not self._pictures:
            wanted = frozenset()
        elif request.get("renderImage", True):
            wanted |= {"image"}
        images = tuple(self._images(wanted))
        return PackedState(self._metadata(request, reply, wanted), images)

    def _images(self, wanted: frozenset[str]) -> Iterable[tuple[str, bytes]]:
        if not wanted:
            return
        rgb = "image" in wanted
        for number in range(self._simulator.agents):
            self._simulator.turn_to(number)
            yield from self._views(self._simulator.frame(rgb=rgb), wanted)
        for frame in self._simulator.film(rgb=rgb):
            for name, pictured in self._views(frame, wanted):
                yield _THIRD_PARTY[name], pictured
        if "image_normals" in wanted:
            yield from self._normals()

    def _normals(self) -> Iterable[tuple[str, bytes]]:
        for number in range(self._simulator.agents):
            self._simulator.turn_to(number)
            own, *others = self._simulator.normals()
            yield "image_normals", packing.normals(own)
        for facing in others:
            yield _THIRD_PARTY["image_normals"], packing.normals(facing)

    def _views(self, frame: Frame, wanted: frozenset[str]) -> Iterable[tuple[str, bytes]]:
        """The requested images of one camera."""
        if "image" in wanted:
            assert frame.rgb is not None
            yield "image", packing.rgb(frame.rgb)
        if "image_depth" in wanted:
            yield "image_depth", self._depth(frame)
        if "image_ids" in wanted:
            self._palette.add(frame.names)
            yield "image_ids", self._painted(frame, frame.names)
        if "image_classes" in wanted:
            things = self._simulator.things
            kinds = [things[name].kind if name in things else name for name in frame.names]
            self._palette.add(kinds)
            yield "image_classes", self._painted(frame, kinds)

    def _depth(self, frame: Frame) -> bytes:
        farthest = self._dialect.farthest
        return packing.depth(frame.depth) if farthest is None else depth(frame.depth, farthest)

    def _painted(self, frame: Frame, names: Sequence[str]) -> bytes:
        """Every pixel in the colour of a name."""
        painted = packing.names(frame.ids, self._palette.pixels(names))
        if not self._dialect.three_channels:
            return painted
        return np.frombuffer(painted, np.uint8).reshape(-1, 4)[:, :3].tobytes()

    def _bounds(self) -> list[dict[str, object]]:
        frame = self._simulator.frame(rgb=False)
        return bounds(frame.ids, self._palette.colors(frame.names))

    def _metadata(
        self, request: Mapping[str, Any], reply: ActionResult, wanted: frozenset[str]
    ) -> bytes:
        form, active = self._form, self._active(request)
        self._last[active] = request, reply
        envelope = {
            "thirdPartyCameras": [],
            "activeAgentId": active,
            "sequenceId": request["sequenceId"],
        }
        agents = [self._agent(i, wanted) for i in range(self._simulator.agents)]
        parts = [form.entries(envelope), form.entry("agents", form.array(agents))]
        return form.table(parts, len(envelope) + 1)

    def _active(self, request: Mapping[str, Any]) -> int:
        number = request.get("agentId") or 0
        return number if number in range(self._simulator.agents) else 0

    def _agent(self, number: int, wanted: frozenset[str]) -> bytes:
        """The metadata of an agent."""
        form, simulator = self._form, self._simulator
        simulator.turn_to(number)
        begun: tuple[Mapping[str, Any], ActionResult] = {"action": "Initialize"}, ActionResult(True)
        agent = describe(simulator, *self._last.get(number, begun), self._actions)
        agent["agentId"] = number
        if wanted & {"image_ids", "image_classes"}:
            self._palette.add(simulator.things)
            agent["colors"] = self._palette.metadata()
        if self._dialect.three_channels:
            agent["colorBounds"] = self._bounds() if "image_ids" in wanted else []
        sights, listed = simulator.visibility(), simulator.settings.listed
        shown = (
            (thing, sights[name])
            for name, thing in simulator.things.items()
            if listed is None or name in listed
        )
        objects = self._objects.pack(shown, simulator.apart)
        return form.table([form.entries(agent), form.entry("objects", objects)], len(agent) + 1)


def _asked(request: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(image for flag, image in _SENSORS.items() if request.get(flag))


def _declined(request: Mapping[str, Any]) -> frozenset[str]:
    """Images that this request omits, though they were requested at the start."""
    return frozenset(image for flag, image in _SENSORS.items() if request.get(flag) is False)
