"""Lays out a graph without boxes: rooms side by side, furniture along the walls.

Everything follows from the graph: what is ON or INSIDE something is put there, and what is neither
lies near what it is CLOSE to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from inhabit.envs.virtualhome.drawing.classes import ClassShape, form
from inhabit.envs.virtualhome.drawing.place import Place
from inhabit.envs.virtualhome.drawing.resting import resting
from inhabit.envs.virtualhome.flats.boxes import UprightBox
from inhabit.envs.virtualhome.flats.rests import Rest, rests
from inhabit.envs.virtualhome.graph.world import FlatWorld, Node

_WIDE, _DEEP, _HIGH = 6.6, 5.6, 2.6
"""Width of a room, metres."""
_WALL = 0.1
_STEP = 0.1
_AISLE = 0.55
"""Free space in front of furniture, metres."""
_MOUNTS: Mapping[str, float] = {"hung": 1.4, "low": 0.3, "hood": 1.55}
"""Heights of undersides."""
_HIGH_UP: Mapping[str, float] = {"window": 1.0, "curtain": 0.5, "light": 1.15, "towel_rack": 1.2}
_ORDER = ("rug", "wall", "hung", "hood", "low", "middle", "ceiling", "floor")
_HOLLOW = frozenset(
    (
        *("freezer", "fridge", "microwave", "oven", "dishwasher", "washing_machine", "cupboard"),
        *("bathroom_cabinet", "kitchen_cabinet", "filing_cabinet", "dresser", "bookshelf", "box"),
        *("trashcan", "basket_for_clothes", "bathtub", "sink", "pot", "bowl", "bag", "garbagecan"),
        "closet",
    )
)
"""Classes that contain objects; "inside" any other class is drawn as on it."""


def lay_out(world: FlatWorld) -> Mapping[int, Place]:
    """A place for every drawn node, equal for equal graphs.

    Rooms stand two by two. Furniture that finds no place along a wall, or in the middle, is left
    out, and so is what would stand on it.
    """
    return _Layout(world).places


class _Layout:
    def __init__(self, world: FlatWorld) -> None:
        self._world = world
        self._nodes = {node.id: node for node in world.nodes()}
        self._rooms = [n.id for n in self._nodes.values() if n.category == "Rooms"]
        self.places: dict[int, Place] = {}
        self._aisles: list[UprightBox] = []
        for number, room in enumerate(self._rooms):
            self.places[room] = _room(number)
        self._doors()
        for place in _ORDER:
            for node in self._nodes.values():
                if form(node.class_name).place == place:
                    self._furnish(node, place)
        self._sinks()
        for node in self._nodes.values():
            if form(node.class_name).place in ("small", "floor"):
                self._put(node.id, ())

    def _doors(self) -> None:
        for node in self._nodes.values():
            between = [r for r in self._world.targets(node.id, "BETWEEN") if r in self.places]
            if node.class_name != "door" or len(between) != 2:
                continue
            one, two = (self.places[r] for r in between)
            taken = [p.box for i, p in self.places.items() if i not in self._rooms]
            place = _doorway(one, two)
            if place is not None and not any(place.box.overlaps(box) for box in taken):
                self.places[node.id] = place
                self._aisles.append(_threshold(place))

    def _furnish(self, node: Node, place: str) -> None:
        room = self._world.room(node.id)
        if room is None or room not in self.places or node.id in self.places:
            return
        for spot in self._spots(form(node.class_name), node.class_name, place, self.places[room]):
            if self._free(spot, place):
                self.places[node.id] = spot
                if place == "wall":
                    self._aisles.append(_aisle(spot))
                return

    def _spots(self, what: ClassShape, name: str, place: str, room: Place) -> Iterator[Place]:
        if place == "ceiling":
            yield Place(room.x, room.top - what.size[1] / 2, room.z, what.size)
        elif place in ("rug", "middle", "floor"):
            yield from _across(room, what.size, near_middle=place != "floor")
        else:
            mount = _HIGH_UP.get(name, _MOUNTS.get(place, 0.0))
            yield from _along_walls(room, what.size, mount, len(self._aisles))

    def _free(self, spot: Place, place: str) -> bool:
        box = spot.box
        if place in ("rug", "ceiling"):
            rugs = [p.box for i, p in self.places.items() if i not in self._rooms]
            return not any(box.overlaps(other) for other in rugs)
        others = [
            p.box
            for i, p in self.places.items()
            if i not in self._rooms and form(self._nodes[i].class_name).place != "rug"
        ]
        gap = 0.35 if place == "middle" else 0.03
        if any(box.overlaps(other, gap) for other in others):
            return False
        if place in ("hung", "hood", "low"):
            return True
        if place == "wall" and any(_aisle(spot).overlaps(other) for other in others):
            return False
        return place == "floor" or not any(box.overlaps(aisle) for aisle in self._aisles)

    def _sinks(self) -> None:
        """Basins are let into worktops, with taps behind them."""
        for node in self._nodes.values():
            if node.class_name not in ("sink", "faucet"):
                continue
            counters = [c for c in self._supports(node.id) if c in self.places]
            if not counters:
                continue
            counter, size = self.places[counters[0]], form(node.class_name).size
            sink = node.class_name == "sink"
            up = counter.size[1] / 2 + (0.005 - size[1] / 2 if sink else size[1] / 2)
            x, y, z = counter.out(-0.2 * counter.size[0], up, 0.04 if sink else -0.21)
            self.places[node.id] = Place(x, y, z, size, counter.yaw)

    def _put(self, id_: int, path: tuple[int, ...]) -> None:
        """Place a small object, after its support."""
        if id_ in self.places or id_ in path:
            return
        node = self._nodes[id_]
        for support in self._supports(id_):
            if form(self._nodes[support].class_name).place in ("small", "floor"):
                self._put(support, (*path, id_))
        found = [s for s in self._supports(id_) if s in self.places]
        found += self._near_surfaces(id_)
        room = self._world.room(id_)
        found += [room] if room is not None and room in self.places else []
        if not found:
            return
        support = found[0]
        place = self.places[support]
        if support in self._rooms:
            floor = Place(place.x, place.bottom, place.z, (place.size[0], 0.0, place.size[2]))
            place, surfaces = floor, [Rest(1.0, 9.0, -0.44, 0.44, -0.44, 0.44)]
        else:
            surfaces = [*rests(_plain(self._nodes[support]), self._relation(id_, support),
                               _plain(node))]  # fmt: skip
        taken = self._beside(support, place)
        self.places[id_] = resting(form(node.class_name).size, place, surfaces, taken)

    def _supports(self, id_: int) -> list[int]:
        """The support of a node, without rooms, walls and floors."""
        return [
            there
            for relation in ("ON", "INSIDE")
            for there in self._world.targets(id_, relation)
            if there != id_
            and there not in self._rooms
            and form(self._nodes[there].class_name).place not in ("none", "rug")
        ]

    def _near_surfaces(self, id_: int) -> list[int]:
        near = [self._nodes[i] for i in self._world.targets(id_, "CLOSE") if i in self.places]
        return [
            node.id
            for node in near
            if "SURFACES" in node.properties and form(node.class_name).place == "wall"
        ]

    def _relation(self, id_: int, support: int) -> str:
        inside = support in self._world.targets(id_, "INSIDE")
        return "INSIDE" if inside and self._nodes[support].class_name in _HOLLOW else "ON"

    def _beside(self, support: int, place: Place) -> list[UprightBox]:
        reach = Place(place.x, place.y, place.z, (place.size[0], place.size[1] + 2, place.size[2]),
                      place.yaw).box  # fmt: skip
        return [
            other.box
            for i, other in self.places.items()
            if i != support and i not in self._rooms and reach.overlaps(other.box)
        ]


def _plain(node: Node) -> str:
    return node.class_name.replace("_", "")


def _room(number: int) -> Place:
    x = (number % 2) * (_WIDE + _WALL)
    z = (number // 2) * (_DEEP + _WALL)
    return Place(x, _HIGH / 2, z, (_WIDE, _HIGH, _DEEP))


def _doorway(one: Place, two: Place) -> Place | None:
    """In the wall between two rooms, if they are neighbours."""
    size = (0.95, 2.05, 0.12)
    if abs(one.z - two.z) < 0.01 and abs(one.x - two.x) < _WIDE + 2 * _WALL:
        return Place((one.x + two.x) / 2, size[1] / 2, one.z - 0.3 * _DEEP, size, 90.0)
    if abs(one.x - two.x) < 0.01 and abs(one.z - two.z) < _DEEP + 2 * _WALL:
        return Place(one.x - 0.3 * _WIDE, size[1] / 2, (one.z + two.z) / 2, size, 0.0)
    return None


def _threshold(door: Place) -> UprightBox:
    box, (ahead_x, ahead_z) = door.box, door.front
    return UprightBox(box.x, box.y, box.z, box.hx + 0.9 * ahead_x, box.hy, box.hz + 0.9 * ahead_z)


def _aisle(spot: Place) -> UprightBox:
    """The floor in front of furniture."""
    box, (ahead_x, ahead_z) = spot.box, spot.front
    x, z = box.x + ahead_x * (box.hx + _AISLE / 2), box.z + ahead_z * (box.hz + _AISLE / 2)
    level = abs(ahead_x) > 0.5
    return UprightBox(
        x, 0.4, z, _AISLE / 2 if level else box.hx, 0.35, box.hz if level else _AISLE / 2
    )


def _along_walls(
    room: Place, size: tuple[float, float, float], mount: float, first: int
) -> Iterator[Place]:
    """Places along the walls, corner to corner, beginning with wall `first`."""
    box, y = room.box, room.bottom + mount + size[1] / 2
    walls = (0.0, 270.0, 180.0, 90.0)
    for yaw in (walls[(first + k) % 4] for k in range(4)):
        level = yaw % 180 == 0
        length = 2 * (box.hx if level else box.hz)
        for step in range(int((length - size[0]) / _STEP) + 1):
            along = -length / 2 + size[0] / 2 + step * _STEP
            back = (box.hz if level else box.hx) - size[2] / 2 - 0.01
            x, z = {
                0.0: (along, -back), 180.0: (-along, back), 90.0: (-back, -along),
                270.0: (back, along),
            }[yaw]  # fmt: skip
            yield Place(box.x + x, y, box.z + z, size, yaw)


def _across(room: Place, size: tuple[float, float, float], *, near_middle: bool) -> Iterator[Place]:
    """Places on the floor: from the center outward, or in rows."""
    box = room.box
    half_x, half_z = box.hx - size[0] / 2 - 0.6, box.hz - size[2] / 2 - 0.6
    spots = [
        (i * 0.2 - half_x, k * 0.2 - half_z)
        for i in range(int(max(half_x, 0) / 0.1) + 1)
        for k in range(int(max(half_z, 0) / 0.1) + 1)
    ]
    if near_middle:
        spots.sort(key=lambda s: (round(abs(s[0]) + abs(s[1]), 6), s))
    for x, z in spots:
        yield Place(box.x + x, room.bottom + size[1] / 2, box.z + z, size)
