"""Renders a flat on the renderer's stage, kept up to date with its graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.render.camera import Camera
from inhabit.envs.simulators.render.material import Material
from inhabit.envs.simulators.render.mesh import Mesh
from inhabit.envs.simulators.render.shapes import Look
from inhabit.envs.simulators.render.stage import Frame, Stage
from inhabit.envs.virtualhome.drawing import views
from inhabit.envs.virtualhome.drawing.arranging import Arrangement, arrange, homes
from inhabit.envs.virtualhome.drawing.daylight import RoomLight, daylight, illuminate, room_light
from inhabit.envs.virtualhome.drawing.figure import Figure, figure
from inhabit.envs.virtualhome.drawing.hands import carried_before_eyes, carried_by
from inhabit.envs.virtualhome.drawing.looks import by_light, kind_of, look_of, mesh_of, seed_of
from inhabit.envs.virtualhome.drawing.place import Place
from inhabit.envs.virtualhome.drawing.rooms import fitted, room_at, room_meshes
from inhabit.envs.virtualhome.graph.world import FlatWorld, Node

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
    place: Place
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
            place = Place(0.0, 0.0, 0.0, (1.0, 1.0, 1.0))
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
            above = views.top_down(next(iter(self.home.values())))
            return self.render(shot, above, width, height, rgb=rgb)
        if view == "first_person":
            camera = views.first_person(who)
            return self.render(shot, camera, width, height, room=room, eyes=character, rgb=rgb)
        if view == "over_the_shoulder":
            places, nodes = shot.arranged.places, shot.arranged.nodes
            things = [p for i, p in places.items() if nodes[i].category != "Rooms"]
            camera = views.over_the_shoulder(who, self.home[room], things)
            return self.render(shot, camera, width, height, room=room, rgb=rgb)
        return self.render(
            shot, views.top_down(self.home[room]), width, height, room=room, roof=False, rgb=rgb
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
            room = room_at(Place(*camera.position, (0.0, 0.0, 0.0)), self.home, self.sources)
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

    def _thing(self, node: Node, place: Place, hour: float, casts_shadow: bool) -> _Standing:
        kind, look = kind_of(node), look_of(node)
        light = round(daylight(hour), 2) if kind == "Window" else 1.0
        key = (node.id, kind, place.size, look, light)
        if key not in self._meshes:
            mesh = mesh_of(kind, place.size, look, self._seeds[node.id])
            if kind == "CounterTop":
                mesh = fitted(mesh, self.home[node.id], self._basins)
            self._meshes[key] = by_light(mesh, light) if light < 1.0 else mesh
        return _Standing(self._meshes[key], place, casts_shadow)

    def _held(self, shot: Shot, camera: Camera, eyes: int | None) -> dict[int, Place]:
        found: dict[int, Place] = {}
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
_UNSEEN = _Standing(_NOTHING, Place(0.0, 0.0, 0.0, (1.0, 1.0, 1.0)), casts_shadow=False)
