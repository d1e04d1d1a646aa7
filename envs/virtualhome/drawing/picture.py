"""The picture of a flat from where the agent stands, kept up to date."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import atan, atan2, degrees, hypot, pi, radians, sin, sqrt, tan
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.plain_data import seed_of
from inhabit.envs.simulators.render.camera import Camera
from inhabit.envs.simulators.render.mesh import Material, Mesh
from inhabit.envs.simulators.render.shapes import Look
from inhabit.envs.simulators.render.shell import lamp
from inhabit.envs.simulators.render.stage import Frame, Light, Stage, Vector
from inhabit.envs.virtualhome.drawing.arranging import Arrangement, arrange, homes
from inhabit.envs.virtualhome.drawing.figure import Figure, carried_before_eyes, carried_by, figure
from inhabit.envs.virtualhome.drawing.layout import DrawnBox
from inhabit.envs.virtualhome.drawing.looks import by_light, kind_of, look_of, mesh_of
from inhabit.envs.virtualhome.drawing.rooms import fitted, room_at, room_meshes
from inhabit.envs.virtualhome.graph.world import FlatWorld, Node

_WARM: Vector = (1.0, 0.93, 0.82)
_DAY: Vector = (0.98, 0.98, 1.0)
_DUSK: Vector = (1.0, 0.82, 0.66)
_CEILING_LAMPS = ("ceilinglamp", "ceiling_lamp", "light")
_SMALL_LAMPS = ("tablelamp", "floorlamp", "floor_lamp")
_SWITCHES = ("lightswitch", "light_switch")
_SUNRISE, _SUNSET = 5.0, 21.0
"""Hours of sunrise and sunset."""
_GLOW: Vector = (1.0, 0.85, 0.6)
_SKY, _GROUND = (0.52, 0.51, 0.50), (0.34, 0.32, 0.29)
"""The renderer's ambient light by day."""


@dataclass(frozen=True, slots=True)
class RoomLight:
    """The current light of a room."""

    key: Light
    """Brightness of its ceiling lamp and windows together."""
    around: float
    """Ambient light, relative to a bright day."""
    bounced: Light
    """Light reflected by the floor, onto the ceiling and undersides."""
    lamps: tuple[tuple[str, Light | None], ...]
    """Brightness of table and floor lamps in the whole flat, by node; None if off."""


def daylight(hour: float) -> float:
    """Daylight, 0 (night) to 1 (noon).

    Args:
        hour: of the day, 0 to 24.
    """
    if not _SUNRISE < hour < _SUNSET:
        return 0.0
    return sqrt(sin(pi * (hour - _SUNRISE) / (_SUNSET - _SUNRISE)))


def room_light(world: FlatWorld, room: int, arranged: Arrangement) -> RoomLight:
    """The light of the viewed room, and the lamps of the flat."""
    nodes, places = arranged.nodes, arranged.places
    switched = [n for n in nodes.values() if n.class_name in (*_CEILING_LAMPS, *_SWITCHES)]
    lit = _ceiling_lit([n for n in switched if world.room(n.id) == room])
    key, around = _key(places[room], lit, daylight(world.hour), world.hour)
    below = (places[room].x, places[room].bottom - 1.5, places[room].z)
    bounced = Light(below, (1.0, 0.95, 0.88), strength=0.45 * key.strength, reach=6.0)
    small = [n for n in nodes.values() if n.class_name in _SMALL_LAMPS]
    lamps = tuple((str(n.id), _bulb(n, places.get(n.id))) for n in small)
    return RoomLight(key, around, bounced, lamps)


def illuminate(stage: Stage, light: RoomLight) -> None:
    """Set the stage's lights."""
    sky, ground = ((red * light.around, green * light.around, blue * light.around)
                   for red, green, blue in (_SKY, _GROUND))  # fmt: skip
    stage.light(light.key, sky=sky, ground=ground)
    stage.lamp("floor", light.bounced)
    for name, bulb in light.lamps:
        stage.lamp(name, bulb)


def _ceiling_lit(nodes: list[Node]) -> bool:
    """Whether the ceiling lamps are on, and the room's switch too, if it has one."""
    lamps = [n for n in nodes if n.class_name in _CEILING_LAMPS]
    switches = [n for n in nodes if n.class_name in _SWITCHES]
    on = not lamps or any("ON" in n.states for n in lamps)
    return on and not any("OFF" in n.states for n in switches)


def _key(room: DrawnBox, lit: bool, sun: float, hour: float) -> tuple[Light, float]:
    """The room's light and its ambient share."""
    box = room.box
    low = box.x - box.hx, room.bottom, box.z - box.hz
    high = box.x + box.hx, room.top, box.z + box.hz
    late = min(1.0, max(0.0, (hour - 16.0) / 4.0)) if hour > 16.0 else 0.0
    day = tuple(a + (b - a) * late for a, b in zip(_DAY, _DUSK, strict=True))
    if lit:
        key = lamp(low, high, _mixed(_WARM, day, 0.5 * sun), 0.72 + 0.28 * sun)
        return key, 0.45 + 0.55 * sun
    key = lamp(low, high, (day[0], day[1], day[2]), 0.05 + 0.6 * sun)
    return key, 0.12 + 0.6 * sun


def _mixed(a: Vector, b: tuple[float, ...], share: float) -> Vector:
    red, green, blue = (x + (y - x) * share for x, y in zip(a, b, strict=True))
    return red, green, blue


def _bulb(node: Node, place: DrawnBox | None) -> Light | None:
    if place is None or "ON" not in node.states:
        return None
    return Light((place.x, place.top - 0.1, place.z), _GLOW, strength=0.6, reach=1.2)


_FOV = 66.0
"""Vertical field of view, degrees."""
_DOWN, _UP = 42.0, -15.0
"""Maximum pitch of a view, degrees."""
_FROM_ABOVE = 42.0
"""Vertical field of view of the top-down camera, degrees."""
_BEHIND = (1.25, 1.0, 0.75, 0.55)
"""Distances in metres behind the character, best first."""

_AHEAD = ((1.5, 1.0), (1.5, -1.0), (1.0, 1.2), (1.0, -1.2), (0.7, 0.8), (0.7, -0.8))
"""Offset in metres ahead and to the side, if there is no space behind."""


def first_person(figure: Figure) -> Camera:
    """First person, towards the point that the character looks at."""
    yaw, pitch = _look(figure.eyes, figure.target)
    return Camera(figure.eyes, yaw, pitch, fov=_FOV, far=40.0)


def over_the_shoulder(figure: Figure, room: DrawnBox, things: Sequence[DrawnBox]) -> Camera:
    """Over the shoulder, inside the room and outside of objects."""
    x, _, z = figure.eyes
    yaw, _ = _look(figure.eyes, figure.target)
    body = DrawnBox(x, 0.0, z, (0.5, 1.7, 0.4), yaw)
    for back in _BEHIND:
        for side in (0.45, -0.45):
            spot = body.out(side, 1.72, -back)
            if is_open(spot, room, things):
                return _towards(spot, body.out(0.0, min(1.0, figure.target[1]), 0.9))
    # With a wall behind it, such as on a sofa, it is seen from the front.
    for ahead, side in _AHEAD:
        spot = body.out(side, 1.72, ahead)
        if is_open(spot, room, things):
            return _towards(spot, (figure.place.x, figure.place.y, figure.place.z))
    return _towards(body.out(0.0, 2.2, -0.1), body.out(0.0, 0.5, 1.0))


def _towards(spot: tuple[float, float, float], at: tuple[float, float, float]) -> Camera:
    yaw, pitch = _look(spot, at)
    return Camera(spot, yaw, max(pitch, 5.0), fov=_FOV, far=40.0)


def top_down(room: DrawnBox) -> Camera:
    """From above the ceiling, with the whole room in view; north (+z) is up."""
    box = room.box
    half = max(box.hz, box.hx * 3 / 4) + 0.25
    height = room.top + half / tan(radians(_FROM_ABOVE) / 2) - 0.55 * (room.top - room.bottom)
    return Camera((box.x, height, box.z), 0.0, 89.9, fov=_FROM_ABOVE, far=80.0)


def corner(room: DrawnBox, number: int) -> Camera:
    """From the upper corner 0..3 of a room, towards its center."""
    box = room.box
    sx, sz = ((-1, -1), (1, -1), (1, 1), (-1, 1))[number]
    eye = box.x + sx * (box.hx - 0.25), room.bottom + 2.2, box.z + sz * (box.hz - 0.25)
    yaw, pitch = _look(eye, (box.x, room.bottom + 0.7, box.z))
    return Camera(eye, yaw, pitch, fov=72.0, far=40.0)


def _look(eye: tuple[float, float, float], at: tuple[float, float, float]) -> tuple[float, float]:
    """Yaw and pitch from one point to another; never straight down."""
    dx, dy, dz = (b - a for a, b in zip(eye, at, strict=True))
    across = hypot(dx, dz)
    pitch = degrees(atan(-dy / across)) if across > 1e-6 else _DOWN
    return degrees(atan2(dx, dz)), min(max(pitch, _UP), _DOWN)


def is_open(spot: tuple[float, float, float], room: DrawnBox, things: Sequence[DrawnBox]) -> bool:
    """Whether a camera fits at a point: inside a room and outside of objects."""
    x, y, z = spot
    box = room.box
    if abs(x - box.x) > box.hx - 0.12 or abs(z - box.z) > box.hz - 0.12:
        return False
    return not any(
        abs(x - b.x) < b.hx + 0.15 and abs(y - b.y) < b.hy + 0.1 and abs(z - b.z) < b.hz + 0.15
        for b in (thing.box for thing in things)
    )


View = Literal["first_person", "over_the_shoulder", "top_down"]
_CEILING = " ceiling"
_LAMPS = frozenset(("ceilinglamp", "ceiling_lamp"))
"""Ceiling objects. The room's light comes from there, so they cast no shadow."""


@dataclass(frozen=True, slots=True)
class Shot:
    """A state of the flat, prepared for rendering."""

    world: FlatWorld
    arranged: Arrangement
    figures: Mapping[int, Figure]


@dataclass(frozen=True, slots=True)
class _Standing:
    """The content of the stage under a name."""

    mesh: Mesh
    place: DrawnBox
    casts_shadow: bool = True


class FlatPicture:
    """The stage of one flat. An image depends on the world alone.

    Every node keeps its place in the stage's order; one that cannot be seen is a point.
    """

    def __init__(self, world: FlatWorld) -> None:
        self.sources = world.sources
        self.home = homes(world)
        self._stage = Stage()
        self._meshes: dict[object, Mesh] = {}
        self._shown: dict[str, _Standing] = {}
        self._room_light: RoomLight | None = None
        self._last: Shot | None = None
        self._seed = seed_of(*(f"{i} {n['class_name']}" for i, n in sorted(world.sources.items())))
        self._basins = [
            self.home[n.id] for n in world.nodes() if kind_of(n) == "Sink" and n.id in self.home
        ]
        self._seeds = {node.id: self._seed_of(node) for node in world.nodes()}
        for name, mesh in room_meshes(world, self.home, self._seed):
            place = DrawnBox(0.0, 0.0, 0.0, (1.0, 1.0, 1.0))
            self._shown[name] = _Standing(mesh, place, casts_shadow=False)
            self._stage.put(name, mesh, np.eye(3), np.zeros(3), casts_shadow=False)

    def shot(self, world: FlatWorld) -> Shot:
        """The places of all nodes and characters."""
        if self._last is not None and self._last.world is world:
            return self._last
        arranged = arrange(world, self.home)
        found = {i: figure(world, i, self.home, arranged) for i in world.characters()}
        self._last = Shot(world, arranged, {i: f for i, f in found.items() if f is not None})
        return self._last

    def take(
        self,
        world: FlatWorld,
        character: int,
        view: View,
        width: int,
        height: int,
        *,
        rgb: bool = True,
    ) -> Frame:
        """The view of a character; without colours if `rgb` is False."""
        shot = self.shot(world)
        who = shot.figures.get(character)
        room = world.room(character)
        if who is None or room is None:
            above = top_down(next(iter(self.home.values())))
            return self.render(shot, above, width, height, rgb=rgb)
        if view == "first_person":
            camera = first_person(who)
            return self.render(shot, camera, width, height, room=room, eyes=character, rgb=rgb)
        if view == "over_the_shoulder":
            places, nodes = shot.arranged.places, shot.arranged.nodes
            things = [p for i, p in places.items() if nodes[i].category != "Rooms"]
            camera = over_the_shoulder(who, self.home[room], things)
            return self.render(shot, camera, width, height, room=room, rgb=rgb)
        return self.render(
            shot, top_down(self.home[room]), width, height, room=room, roof=False, rgb=rgb
        )

    def render(
        self,
        shot: Shot,
        camera: Camera,
        width: int,
        height: int,
        *,
        room: int | None = None,
        eyes: int | None = None,
        roof: bool = True,
        rgb: bool = True,
    ) -> Frame:
        """Render from any camera.

        Args:
            shot: the state to draw.
            camera: where from.
            width: pixels.
            height: pixels.
            room: id of the room whose light counts; None for the one that the camera is in.
            eyes: the character that one looks out of: it is not seen, but what it holds is.
            roof: False leaves out ceilings and what hangs from them.
            rgb: False leaves out the colours.
        """
        wanted = self._wanted(shot, camera, eyes, roof)
        for name, standing in wanted.items():
            self._show(name, standing)
        if room is None:
            room = room_at(DrawnBox(*camera.position, (0.0, 0.0, 0.0)), self.home, self.sources)
        if rgb and room is not None:
            light = room_light(shot.world, room, shot.arranged)
            if light != self._room_light:  # New light requires new shadows.
                illuminate(self._stage, light)
                self._room_light = light
        return self._stage.render(camera, width, height, rgb=rgb)

    def _wanted(
        self, shot: Shot, camera: Camera, eyes: int | None, roof: bool
    ) -> dict[str, _Standing]:
        wanted: dict[str, _Standing] = {}
        for name, standing in self._shown.items():
            if name.endswith(_CEILING):
                wanted[name] = _Standing(self._ceiling(name, roof), standing.place, False)
        hands = self._held(shot, camera, eyes)
        for node in shot.arranged.nodes.values():
            person = node.class_name == "character"
            if node.category == "Rooms" or not (person or node.id in self.home):
                continue
            place = hands.get(node.id) or shot.arranged.places.get(node.id)
            if node.id == eyes or (not roof and node.class_name in _LAMPS):
                place = None
            if node.id in shot.figures and node.id != eyes:
                wanted[str(node.id)] = self._person(node, shot.figures[node.id])
            elif place is None:
                wanted[str(node.id)] = _UNSEEN
            else:
                casts = node.class_name not in _LAMPS and not (eyes and node.id in hands)
                wanted[str(node.id)] = self._thing(node, place, shot.world.hour, casts)
        return wanted

    def _person(self, node: Node, who: Figure) -> _Standing:
        key = (node.id, who.shape)
        if key not in self._meshes:
            seed = self._seeds[node.id]
            self._meshes[key] = mesh_of(who.shape, who.place.size, Look(), seed)
        return _Standing(self._meshes[key], who.place)

    def _thing(self, node: Node, place: DrawnBox, hour: float, casts_shadow: bool) -> _Standing:
        kind, look = kind_of(node), look_of(node)
        light = round(daylight(hour), 2) if kind == "Window" else 1.0
        key = (node.id, kind, place.size, look, light)
        if key not in self._meshes:
            mesh = mesh_of(kind, place.size, look, self._seeds[node.id])
            if kind == "CounterTop":
                mesh = fitted(mesh, self.home[node.id], self._basins)
            self._meshes[key] = by_light(mesh, light) if light < 1.0 else mesh
        return _Standing(self._meshes[key], place, casts_shadow)

    def _held(self, shot: Shot, camera: Camera, eyes: int | None) -> dict[int, DrawnBox]:
        found: dict[int, DrawnBox] = {}
        for person, things in shot.arranged.held.items():
            sizes = {i: self.home[i].size for i in things if i in self.home}
            if person == eyes:
                found |= carried_before_eyes(camera, shot.world, person, sizes)
            elif person in shot.figures:
                found |= carried_by(shot.figures[person], shot.world, person, sizes)
        return found

    def _show(self, name: str, wanted: _Standing) -> None:
        shown = self._shown.get(name)
        if shown == wanted:
            return
        place = wanted.place
        at = (place.x, place.y, place.z)
        same = shown is not None and shown.mesh is wanted.mesh
        if same and shown is not None and shown.casts_shadow == wanted.casts_shadow:
            self._stage.move(name, place.axes, at)
        else:
            self._stage.put(name, wanted.mesh, place.axes, at, casts_shadow=wanted.casts_shadow)
        self._shown[name] = wanted

    def _seed_of(self, node: Node) -> int:
        """Furniture of one room shares its materials."""
        if node.category == "Furniture" and node.id in self.home:
            return seed_of(self._seed, room_at(self.home[node.id], self.home, self.sources))
        return seed_of(self._seed, node.id)

    def _ceiling(self, name: str, roof: bool) -> Mesh:
        self._meshes.setdefault(name, self._shown[name].mesh)
        return self._meshes[name] if roof else _NOTHING


def node_of(name: str) -> int:
    """The node of a body on the stage."""
    return int(name.split(" ", 1)[0])


def _point() -> Mesh:
    zeros: NDArray[np.float32] = np.zeros((3, 3), np.float32)
    upward = np.tile(np.array((0.0, 1.0, 0.0), np.float32), (3, 1))
    face = np.array(((0, 1, 2),), np.int32)
    return Mesh(zeros, upward, face, np.zeros(1, np.int16), (Material((0.5, 0.5, 0.5)),))


_NOTHING = _point()
"""A triangle without extent, to reserve a name's place on the stage."""
_UNSEEN = _Standing(_NOTHING, DrawnBox(0.0, 0.0, 0.0, (1.0, 1.0, 1.0)), casts_shadow=False)
