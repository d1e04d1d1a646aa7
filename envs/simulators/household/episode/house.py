"""The house of an episode: its rooms, agents, objects and looks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from colorsys import rgb_to_hsv
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from inhabit.envs.core import SceneError
from inhabit.envs.simulators.household.drawing.picture import Randomization, RoomPicture
from inhabit.envs.simulators.household.geometry.boxes import STEP
from inhabit.envs.simulators.household.rooms.ithor import SCENES, Room
from inhabit.envs.simulators.household.rooms.shared import Shared
from inhabit.envs.simulators.household.state.agent import HEIGHT, AgentState, FixedCamera
from inhabit.envs.simulators.household.state.rules import AI2THOR, TASKS
from inhabit.envs.simulators.household.state.world import SimObject, World
from inhabit.envs.simulators.render.camera import Camera
from inhabit.envs.simulators.render.mesh import Color, Material, Mesh, Pattern
from inhabit.envs.simulators.render.shapes.finishes import BRASS, CHROME, STEEL
from inhabit.envs.simulators.render.stage import Frame

_View = tuple[int, tuple[AgentState, ...], int, "Settings", Randomization]
"""The cache key of an image: the world's version, the agents, the number of the one who looks, and
the settings of its camera."""
_KEPT = 12
"""Number of cached views: 1 to 2 MB each at 300x300."""
_COUNTED = 1024
"""Number of views whose visible bodies are kept: a few kB each."""
_MARGIN = 0.2
"""Metres around the room in a view from above."""
_BELOW_CEILING = 0.05
"""Metres below the ceiling at which a camera looks down on the room."""
_BAND = 20
"""Rows of an image that are looked at together."""
_WALL, _CEILING = 0.06, 0.1
"""Metres behind what stands at a wall, and above the ceiling, where the drawn room ends; taken
from FloorPlan1."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The values of `Initialize` and `ChangeResolution`."""

    width: int = 300
    height: int = 300
    """Size of the image, in pixels."""
    field_of_view: float = 90.0
    """Vertical field of view, in degrees."""
    grid_size: float = STEP
    """Side of a grid's cell, in metres."""
    rotate_step: float = 90.0
    """Degrees of a turn, by default."""
    visibility_distance: float = 1.5
    """Maximum horizontal distance in metres from the agent to an object within reach."""
    snap_to_grid: bool = True
    map_view: bool = False
    """Whether the agent's camera shows the room from above."""
    listed: frozenset[str] | None = None
    """Ids of the things that metadata lists; None for all."""
    antialias: int = 1
    """Supersampling factor of colour images. Masks are not supersampled."""


class ObjectVisibility(NamedTuple):
    """The visibility of an object."""

    distance: float
    """Metres from the agent's position to the object's."""
    visible: bool
    """Whether at least one pixel is visible, and the object is within `visibility_distance`."""
    interactable: bool


class House:
    """The state that actions work on."""

    def __init__(
        self,
        room: Room,
        settings: Settings,
        seed: int,
        revisions: Iterator[int],
        shared: Shared,
        picture: RoomPicture | None = None,
        *,
        release: str = "",
    ) -> None:
        """Load a room.

        Args:
            room: it needs a position where the agent can stand.
            settings: camera and grid settings.
            seed: chooses where the agent starts in a room that does not tell.
            revisions: unique revision numbers, shared by all changes.
            shared: what it has in common with other simulators.
            picture: of an earlier episode of the same simulator in the same room, to go on with.
            release: `Simulator`'s.

        Raises:
            SceneError: it has no position where the agent can stand.
        """
        choose = np.random.default_rng((seed, _number(room.name)))
        cells = sorted(room.cells)
        if not cells:
            raise SceneError(f"Room {room.name!r} has no position where the agent can stand.")
        (column, row), quarter = cells[choose.integers(len(cells))], int(choose.integers(4))
        drawn = (column * STEP, room.outline.floor + HEIGHT, row * STEP, 90.0 * quarter)
        self.settings = settings
        self.randomization = Randomization()
        self.cameras: tuple[FixedCamera, ...] = ()
        agent = AgentState(*(room.start or drawn))
        self.world = World(room, agent, revisions, AI2THOR if release else TASKS)
        self.picture = picture or RoomPicture(self.world, shared)
        self._seen: dict[_View, Frame] = {}
        self._sights: dict[_View, Mapping[str, ObjectVisibility]] = {}
        self._shown: dict[_View, Mapping[str, int]] = {}

    @property
    def agent(self) -> AgentState:
        """The agent."""
        return self.world.agent

    def camera(self) -> Camera:
        """The agent's camera: its eye, or the view from above."""
        if not self.settings.map_view:
            return self.agent.camera(self.settings.field_of_view)
        position, half_height = self.from_above()
        return FixedCamera(position, pitch=90.0, half_height=half_height).camera()

    def from_above(self) -> tuple[tuple[float, float, float], float]:
        """Where a camera shows the whole room from above, and half the height that it shows.

        Metres. It looks straight down, without perspective.
        """
        outline = self.world.room.outline
        middle = [(low + high) / 2 for low, high in zip(outline.low, outline.high, strict=True)]
        wide, deep = (high - low for low, high in zip(outline.low, outline.high, strict=True))
        share = self.settings.width / self.settings.height
        height = outline.ceiling - _BELOW_CEILING
        return (middle[0], height, middle[1]), max(deep, wide / share) / 2 + _MARGIN

    def bounds(self) -> dict[str, JsonValue]:
        """The room's bounds, as THOR's `sceneBounds`: {cornerPoints, center, size}, metres."""
        ends = self._ends
        corners: list[JsonValue] = [
            [x, y, z] for x in ends[0][::-1] for y in ends[1][::-1] for z in ends[2][::-1]
        ]
        center: dict[str, JsonValue] = {
            axis: (a + b) / 2 for axis, (a, b) in zip("xyz", ends, strict=True)
        }
        size: dict[str, JsonValue] = {axis: b - a for axis, (a, b) in zip("xyz", ends, strict=True)}
        return {"cornerPoints": corners, "center": center, "size": size}

    @cached_property
    def _ends(self) -> tuple[tuple[float, float], ...]:
        """The lowest and highest x, y and z of the room, in metres.

        In AI2-THOR, of all that is drawn: things may reach into walls, and walls have two sides.
        """
        room = self.world.room.outline
        xs, zs = zip(room.low, room.high, strict=True)
        if not self.world.rules.bounds_have_walls:
            return xs, (room.floor, room.ceiling), zs
        boxes = self.world.room.boxes
        low = np.min([box.low for box in boxes], axis=0).tolist()
        high = np.max([box.high for box in boxes], axis=0).tolist()
        return (
            (min(xs[0], low[0] - _WALL), max(xs[1], high[0] + _WALL)),
            (min(room.floor, low[1]), max(room.ceiling + _CEILING, high[1])),
            (min(zs[0], low[2] - _WALL), max(zs[1], high[2] + _WALL)),
        )

    def see(self, *, rgb: bool = True) -> Frame:
        """The agent's view. Cached, since exploration returns to the same views."""
        view = self._view()
        frame = self._seen.pop(view, None)
        if frame is None or (rgb and frame.rgb is None):
            frame = self._smooth(self.camera(), rgb)
        self._seen[view] = frame
        for old in list(self._seen)[:-_KEPT]:
            del self._seen[old]
        return frame

    def _view(self) -> _View:
        world = self.world
        return world.version, world.agents, world.active, self.settings, self.randomization

    def film(self, *, rgb: bool) -> list[Frame]:
        """The views of the third-party cameras."""
        return [self._smooth(camera.camera(), rgb, own=True) for camera in self.cameras]

    def _smooth(self, camera: Camera, rgb: bool, *, own: bool = False) -> Frame:
        """Render a view in the current resolution and supersampling."""
        width, height, fold = self.settings.width, self.settings.height, self.settings.antialias
        if fold == 1 or not rgb:
            return self.look(camera, (width, height), rgb, own=own)
        large = self.look(camera, (fold * width, fold * height), rgb=True, own=own).rgb
        assert large is not None
        parts = large.reshape(height, fold, width, fold, 3)
        means = np.rint(parts.mean(axis=(1, 3), dtype=np.float32)).astype(np.uint8)
        return replace(self.look(camera, (width, height), own=own), rgb=means)

    def look(
        self,
        camera: Camera,
        size: tuple[int, int],
        rgb: bool = False,
        *,
        without: str | None = None,
        own: bool = False,
        normals: bool = False,
    ) -> Frame:
        """Render the current state from any camera, optionally `without` an object and its
        contents. Of several agents, the active one is seen with `own` alone.
        """
        absent = () if without is None else (without, *self.world.within(without))
        return self.picture.take(
            self.world,
            camera,
            size,
            rgb=rgb,
            randomization=self.randomization,
            without=absent,
            own=own,
            normals=normals,
        )

    def normals(self) -> list[NDArray[np.float32]]:
        """`Frame.normals` of the agent's view, and of the third-party cameras'."""
        size = self.settings.width, self.settings.height
        views = [(self.camera(), False), *((camera.camera(), True) for camera in self.cameras)]
        frames = (self.look(camera, size, own=own, normals=True) for camera, own in views)
        return [frame.normals for frame in frames if frame.normals is not None]

    def shown(self) -> Mapping[str, int]:
        """Number of pixels of each body in the agent's view."""
        view = self._view()
        found = self._shown.pop(view, None)
        if found is None:
            found = shown(self.see(rgb=False))
            while len(self._shown) >= _COUNTED:
                del self._shown[next(iter(self._shown))]
        self._shown[view] = found
        return found

    def sights(self) -> Mapping[str, ObjectVisibility]:
        """The visibility of every object, by id."""
        seen, view = self.shown(), self._view()
        found = self._sights.pop(view, None)
        if found is None:
            found = {name: self._sight(t, seen) for name, t in self.world.listed().items()}
            while len(self._sights) >= _KEPT:
                del self._sights[next(iter(self._sights))]
        self._sights[view] = found
        return found

    def near(self) -> Sequence[str]:
        """Ids of the objects that are visible and within reach, in THOR's order."""
        seen, things = self.shown(), self.world.listed()
        order = {id: place for place, id in enumerate(things)}
        found = [id for id in seen if id in things and self._is_visible(things[id])]
        return sorted(found, key=order.__getitem__)

    def _sight(self, thing: SimObject, seen: Mapping[str, int]) -> ObjectVisibility:
        agent = self.agent
        place = thing["position"]
        distance = math.dist((place["x"], place["y"], place["z"]), (agent.x, agent.y, agent.z))
        visible = thing.id in seen and self._is_visible(thing)
        free = thing.id != agent.held or self.world.rules.held_is_interactable
        return ObjectVisibility(distance, visible, visible and free)

    def _is_visible(self, thing: SimObject) -> bool:
        """Whether what is in the image is within reach."""
        agent = self.agent
        visible = self.within_reach(thing, agent.x, agent.z)
        if visible and thing.kind == "Floor" and self.world.rules.floor_is_seen_nearby:
            visible = self._is_near(thing.id)
        return visible

    def _is_near(self, id: str) -> bool:
        """Whether a part of what is in view is within reach; the floor as a whole always is."""
        if self.settings.map_view:
            return True
        frame, camera = self.see(rgb=False), self.camera()
        index, height = frame.names.index(id), frame.ids.shape[0]
        focal = height / 2 / math.tan(math.radians(camera.fov) / 2)
        # What is near is below: one band of rows or two nearly always tell.
        for low in range(height, 0, -_BAND):
            first = max(low - _BAND, 0)
            rows, columns = np.nonzero(frame.ids[first:low] == index)
            rows += first
            right = (columns + 0.5 - frame.ids.shape[1] / 2) / focal
            up = (height / 2 - rows - 0.5) / focal
            ahead = np.stack([right, up, np.ones(len(rows))], axis=1) @ camera.axes[:, [0, 2]]
            far = frame.depth[rows, columns] * np.hypot(ahead[:, 0], ahead[:, 1])
            if (far <= self.settings.visibility_distance + STEP).any():
                return True
        return False

    def within_reach(self, thing: SimObject, x: float, z: float) -> bool:
        """Whether an object is within reach of a position."""
        return thing.box.distance_from_axis(x, z) <= self.settings.visibility_distance


def _number(room: str) -> int:
    """A seed for every room, equal in every process."""
    return SCENES.index(room) if room in SCENES else len(SCENES) + crc32(room.encode())


def shown(frame: Frame) -> Mapping[str, int]:
    """Number of pixels of each visible body in a frame."""
    flat = frame.ids.ravel()
    # Rows consist of few runs, which are counted faster than pixels.
    starts = np.concatenate(([0], np.flatnonzero(flat[1:] != flat[:-1]) + 1))
    lengths = np.diff(starts, append=flat.size)
    counts = np.bincount(flat[starts] + 1, weights=lengths, minlength=len(frame.names) + 1)[1:]
    return {frame.names[i]: int(counts[i]) for i in np.flatnonzero(counts)}


_MOST = 0.5
"""Share of a surface from which on its colour or material is that of the thing."""
_WOODEN = (Pattern.WOOD, Pattern.PLANKS)
_BLACK, _WHITE = 0.26, 0.83
"""Values (HSV) up to which a colour is black or dark, and from which on it is white."""
_PALE, _STRONG, _RED = 0.13, 0.22, 0.5
"""Saturations (HSV) up to which a colour is white, grey or black, from which on it has a name, and
from which on it is red."""
_BROWN = 14, 44, 0.75
"""Hues in degrees, and the highest value, of brown."""
_HUES = ((14, "red"), (52, ""), (68, "yellow"), (82, ""), (175, "green"), (188, ""), (255, "blue"),
         (263, ""), (300, "purple"), (346, ""), (361, "red"))  # fmt: skip
"""Upper bounds in degrees, and the name; "" between two names."""


def appearances(room: Room) -> Mapping[str, Sequence[str]]:
    """What the things of a room look like at first.

    Returns:
        Object id -> adjectives that hold, such as ("brown", "wooden"); none for a thing of many
        colours, or whose colour lies between two names.
    """
    house = House(room, Settings(), 0, itertools.count(), Shared())
    meshes = house.picture.meshes(house.world)
    return {id: adjectives(mesh) for id, mesh in meshes.items()}


def adjectives(mesh: Mesh) -> Sequence[str]:
    """The adjectives for a mesh: a colour, and "wooden" or "metal"."""
    corners = mesh.vertices[mesh.faces]
    sides = corners[:, 1:] - corners[:, :1]
    areas = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    total = float(areas.sum())
    found: dict[str, float] = {}
    for at, material in enumerate(mesh.palette):
        share = float(areas[mesh.materials == at].sum()) / total if total else 0.0
        for word in {_named(material.color), _made_of(material)} - {""}:
            found[word] = found.get(word, 0.0) + share
    return sorted(word for word, share in found.items() if share >= _MOST)


def _made_of(material: Material) -> str:
    if material.pattern in _WOODEN:
        return "wooden"
    return "metal" if material in (STEEL, CHROME, BRASS) else ""


def _named(color: Color) -> str:
    """The name of a colour; "" if people would not agree on one."""
    turn, saturation, value = rgb_to_hsv(*color)
    hue = 360 * turn
    if value <= _BLACK:
        return "black" if saturation < _STRONG else "dark"
    if saturation <= _PALE:
        return "white" if value >= _WHITE else "gray"
    if saturation < _STRONG:
        return ""
    if _BROWN[0] <= hue < _BROWN[1]:
        return "brown" if value < _BROWN[2] else ""
    name = next(name for bound, name in _HUES if hue < bound)
    return "" if name == "red" and saturation < _RED else name
