"""The server's flat: world, character and cameras."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from inhabit.envs.core import SceneError
from inhabit.envs.simulators.render.camera import Camera
from inhabit.envs.simulators.render.mesh import Vector
from inhabit.envs.simulators.render.stage import Frame
from inhabit.envs.virtualhome.drawing.figure import Figure
from inhabit.envs.virtualhome.drawing.layout import DrawnBox, read_place
from inhabit.envs.virtualhome.drawing.picture import FlatPicture, Shot, is_open
from inhabit.envs.virtualhome.flats.build import build
from inhabit.envs.virtualhome.flats.plans import plans
from inhabit.envs.virtualhome.graph.names import held
from inhabit.envs.virtualhome.graph.verbs import ScriptLine
from inhabit.envs.virtualhome.graph.world import Failure, FlatWorld
from inhabit.envs.virtualhome.server.cameras import (
    CHARACTER_CAMERAS,
    CORNERS,
    AnyCamera,
    CameraError,
    CharacterCamera,
    RoomCamera,
    UserCamera,
    looking,
    sees_from_above,
)
from inhabit.envs.virtualhome.tasks.scene import CHARACTER
from inhabit.envs.virtualhome.unity.protocol import CameraPlace
from inhabit.envs.virtualhome.world.catalogue import catalogue

ONE_CHARACTER = (
    "There is a character already, and this server has room for one: the evolving graph is driven "
    "by one character at a time."
)


class Flat:
    """One scene of one server."""

    def __init__(self, scene: int, seed: int) -> None:
        self.first_seed = seed
        """Of the numbered scenes; `seed` is that of the current one."""
        self._attached: list[CharacterCamera] = []
        self.load(scene, seed)

    def load(self, scene: int, seed: int) -> None:
        """Load a floor plan with new furniture and no character, at noon.

        Raises:
            SceneError: there is no such plan.
        """
        count = len(plans())
        if not 0 <= scene < count:
            raise SceneError(f"Invalid scene index {scene}: there are 0 to {count - 1}.")
        self.scene, self.seed, self._hour = scene, seed, 12.0
        self._attached = [CharacterCamera(name) for name in CHARACTER_CAMERAS]
        self.show(build(scene, seed))

    def show(self, graph: Mapping[str, Any]) -> None:
        """Replace the scene by a graph, with its character if it has one.

        Raises:
            SceneError: the graph is invalid; gives the reason.
        """
        world = FlatWorld.of(_filled_in(graph), hour=self._hour)
        # Built before anything is replaced: a graph that cannot be drawn changes nothing.
        self._picture: FlatPicture | None = FlatPicture(world)
        self.world = world
        rooms = [n.id for n in self.world.nodes() if n.category == "Rooms"]
        self.cameras: list[AnyCamera] = [
            RoomCamera(room, number)
            for room in rooms
            if room in self.picture.home
            for number in range(CORNERS + 1)
        ]
        self._attach()

    @property
    def picture(self) -> FlatPicture:
        """The stage, built on first use."""
        if self._picture is None:
            self._picture = FlatPicture(self.world)
        return self._picture

    @property
    def shot(self) -> Shot:
        """The current places of all nodes."""
        return self.picture.shot(self.world)

    @property
    def figure(self) -> Figure | None:
        """The drawn pose of the character."""
        return next(iter(self.shot.figures.values()), None)

    def graph(self) -> dict[str, list[dict[str, Any]]]:
        """The current graph, with the drawn boxes of moved objects."""
        found = self.world.graph()
        places = dict(self.shot.arranged.places)
        places |= {i: figure.place for i, figure in self.shot.figures.items()}
        found["nodes"] = [_boxed(node, places.get(node["id"])) for node in found["nodes"]]
        return found

    def add_character(self, room: int, at: tuple[float, float] | None, prefab: str) -> None:
        """Put the character into a room, optionally at (x, z).

        Raises:
            SceneError: there is one already.
        """
        if self.world.characters():
            raise SceneError(ONE_CHARACTER)
        graph = self.world.graph()
        number = CHARACTER
        while self.world.node(number) is not None:
            number += 1
        node: dict[str, Any] = {
            "id": number, "class_name": "character", "category": "Characters", "properties": [],
            "states": [], "prefab_name": prefab, "bounding_box": _BODY,
            "stands_at": None if at is None else list(at),
        }  # fmt: skip
        edge = {"from_id": number, "relation_type": "INSIDE", "to_id": room}
        self._change({"nodes": [node, *graph["nodes"]], "edges": [*graph["edges"], edge]})
        self._attach()

    def move_character(self, room: int, at: tuple[float, float]) -> None:
        """Move the character, with what it holds and wears; it is then close to nothing.

        Raises:
            SceneError: no character was added.
        """
        characters = self.world.characters()
        if not characters:
            raise SceneError("No character added yet: add_character comes first.")
        who = characters[0]
        graph = self.world.graph()
        left = ("INSIDE", "CLOSE", "FACING", "ON")
        worn = [i for i, relation, on in self.world.edges() if (relation, on) == ("ON", who)]
        along = (*held(self.world, who), *worn)
        kept = [
            e for e in graph["edges"]
            if not (e["relation_type"] in left and e["from_id"] == who)
            and not (e["relation_type"] == "CLOSE" and e["to_id"] == who)
            and not (e["relation_type"] == "INSIDE" and e["from_id"] in along)
        ]  # fmt: skip
        for node in graph["nodes"]:
            if node["id"] == who:
                node["stands_at"] = list(at)
                node["states"] = [s for s in node["states"] if s not in ("SITTING", "LYING")]
        for one in (who, *along):
            kept.append({"from_id": one, "relation_type": "INSIDE", "to_id": room})
        self._change({"nodes": graph["nodes"], "edges": kept})

    def _change(self, graph: Mapping[str, Any]) -> None:
        """Take over a graph of the same nodes, keeping cameras and stage."""
        self.world = FlatWorld.of(graph, hour=self._hour).remembering(self.world)
        self._picture = None

    def run(self, lines: Sequence[ScriptLine]) -> tuple[int, Failure] | None:
        """Execute a script completely or not at all. Returns the failed line and the reason."""
        world = self.world
        for number, line in enumerate(lines):
            world, failure = world.step(line)
            if failure is not None:
                return number, failure
        self.world = world
        return None

    def check(self, lines: Sequence[ScriptLine]) -> tuple[int, Failure] | None:
        """The result of a script without executing it."""
        before = self.world
        try:
            return self.run(lines)
        finally:
            self.world = before

    def set_hour(self, hour: float) -> None:
        """The hour of the day, 0 to 24."""
        self._hour = hour
        self.world = replace(self.world, hour=hour)

    def camera(self, index: int) -> AnyCamera:
        """A camera by its number.

        Raises:
            CameraError: there is no such camera.
        """
        if not 0 <= index < len(self.cameras):
            raise CameraError(
                f"There is no camera {index}: there are 0 to {len(self.cameras) - 1}."
            )
        return self.cameras[index]

    def look(self, camera: AnyCamera) -> Camera:
        """The current pose of a camera."""
        return looking(camera, self.picture.home, self.figure, self._can_be_at)

    def _can_be_at(self, spot: Vector) -> bool:
        who = next(iter(self.shot.figures), None)
        room = None if who is None else self.world.room(who)
        if room is None:
            return True
        arranged = self.shot.arranged
        solid = [p for i, p in arranged.places.items() if arranged.nodes[i].category != "Rooms"]
        return is_open(spot, self.picture.home[room], solid)

    def take(self, index: int, width: int, height: int, *, rgb: bool) -> Frame:
        """The image of a camera."""
        camera = self.camera(index)
        where = self.look(camera)
        eyes = None
        if camera == CharacterCamera("FIRST_PERSON"):  # Not one that the user has moved.
            eyes = next(iter(self.shot.figures), None)
        roof = not sees_from_above(where, self.picture.home)
        return self.picture.render(self.shot, where, width, height, eyes=eyes, roof=roof, rgb=rgb)

    def add_camera(self, place: CameraPlace) -> int:
        """Add a fixed camera; returns its number."""
        looking(UserCamera(place), {}, None, _anywhere)
        self.cameras.append(UserCamera(place))
        return len(self.cameras) - 1

    def update_camera(self, index: int, place: CameraPlace) -> None:
        """Move a fixed camera."""
        self.camera(index)
        looking(UserCamera(place), {}, None, _anywhere)
        self.cameras[index] = UserCamera(place)

    def set_character_camera(self, place: CameraPlace, *, new: bool) -> None:
        """Add or move a camera that moves with the character.

        Raises:
            CameraError: there is a character already, or no camera of that name.
        """
        looking(UserCamera(place), {}, None, _anywhere)
        if self.world.characters():
            raise CameraError("Cameras of a character must be there before it is added.")
        names = [camera.name for camera in self._attached]
        mine = CharacterCamera(place.camera_name, place)
        if new:
            self._attached.append(mine)
        elif place.camera_name in names:
            self._attached[names.index(place.camera_name)] = mine
        else:
            raise CameraError(
                f"There is no camera {place.camera_name!r}; there are {', '.join(names)}."
            )

    def character_cameras(self) -> list[str]:
        """Names of the cameras that move with the character."""
        return [camera.name for camera in self._attached]

    def _attach(self) -> None:
        if self.world.characters():
            self.cameras = [c for c in self.cameras if not isinstance(c, CharacterCamera)]
            self.cameras += self._attached


def _anywhere(spot: Vector) -> bool:
    return True


_THICK = 0.2
"""Metres that the box of a room may reach below its floor."""
_BODY = {"center": [0.0, 0.85, 0.0], "size": [0.5, 1.7, 0.34]}


def _filled_in(graph: Mapping[str, Any]) -> dict[str, Any]:
    """A graph with what VirtualHome finds out by itself about the nodes that a program adds.

    Those are the properties of a node's class, and the room of what is only ON something. A floor
    at another height is brought to 0, where characters stand.
    """
    known = catalogue()
    nodes = [
        {"properties": known[name].properties, **node}
        if (name := str(node.get("class_name"))) in known
        else node
        for node in graph["nodes"]
    ]
    world = FlatWorld.of({**graph, "nodes": nodes})
    inside = [
        {"from_id": node.id, "relation_type": "INSIDE", "to_id": room}
        for node in world.nodes()
        if world.room(node.id) is None and (room := _room_below(world, node.id)) is not None
    ]
    boxes = [read_place(node.source) for node in world.nodes() if node.category == "Rooms"]
    floor = min((box.bottom for box in boxes if box is not None), default=0.0)
    if abs(floor) > _THICK:
        nodes = [_lowered(node, floor) for node in nodes]
    return {"nodes": nodes, "edges": [*graph["edges"], *inside]}


def _lowered(node: Mapping[str, Any], by: float) -> Mapping[str, Any]:
    if not (box := node.get("bounding_box")):
        return node
    x, y, z = box["center"]
    return {**node, "bounding_box": {**box, "center": [x, y - by, z]}}


def _room_below(world: FlatWorld, id_: int) -> int | None:
    """The room of what a node is on or in, at any depth."""
    seen, below = set[int](), [id_]
    while below and (support := below.pop()) not in seen:
        if (room := world.room(support)) is not None:
            return room
        seen.add(support)
        below = [*world.targets(support, "ON"), *world.targets(support, "INSIDE")]
    return None


def _boxed(node: dict[str, Any], place: DrawnBox | None) -> dict[str, Any]:
    """A node with its current box and rotation."""
    if place is None:
        return node
    box = place.box
    yaw = DrawnBox(0.0, 0.0, 0.0, place.size, place.yaw / 2).front
    changed = copy.copy(node)
    changed["bounding_box"] = {
        "center": [box.x, box.y, box.z],
        "size": [2 * box.hx, 2 * box.hy, 2 * box.hz],
    }
    changed["obj_transform"] = {
        "position": [place.x, place.bottom, place.z],
        "rotation": [0.0, yaw[0], 0.0, yaw[1]],
        "scale": [1.0, 1.0, 1.0],
    }
    return changed
