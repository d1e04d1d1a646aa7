"""Where things are drawn: a place for each node of a graph, and where it rests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import atan2, cos, degrees, radians, sin
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.virtualhome.drawing.looks import ClassShape, form
from inhabit.envs.virtualhome.flats.boxes import Rest, UprightBox, rests
from inhabit.envs.virtualhome.graph.world import FlatWorld, Node


@dataclass(frozen=True, slots=True)
class DrawnBox:
    """An upright box, y up. Metres, degrees; at yaw 0 it looks along +z, at 90 along +x."""

    x: float
    y: float
    z: float
    size: tuple[float, float, float]
    """Width, height, depth along its own axes."""
    yaw: float = 0.0

    @property
    def bottom(self) -> float:
        """Height of its lower face."""
        return self.y - self.size[1] / 2

    @property
    def top(self) -> float:
        """Height of its upper face."""
        return self.y + self.size[1] / 2

    @property
    def front(self) -> tuple[float, float]:
        """The direction (x, z) of its front, of length 1."""
        return sin(radians(self.yaw)), cos(radians(self.yaw))

    @property
    def axes(self) -> NDArray[np.float64]:
        """(3, 3), from its own axes to the world's."""
        ahead_x, ahead_z = self.front
        return np.array(((ahead_z, 0.0, ahead_x), (0.0, 1.0, 0.0), (-ahead_x, 0.0, ahead_z)))

    @property
    def box(self) -> UprightBox:
        """Its axis-aligned bounding box."""
        ahead_x, ahead_z = (abs(part) for part in self.front)
        width, height, depth = self.size
        return UprightBox(
            self.x, self.y, self.z,
            (width * ahead_z + depth * ahead_x) / 2,
            height / 2,
            (width * ahead_x + depth * ahead_z) / 2,
        )  # fmt: skip

    def out(self, u: float, up: float, v: float) -> tuple[float, float, float]:
        """The point `u` to its right, `up` above its center and `v` in front of it."""
        ahead_x, ahead_z = self.front
        return self.x + u * ahead_z + v * ahead_x, self.y + up, self.z - u * ahead_x + v * ahead_z

    def toward(self, other: DrawnBox) -> tuple[float, float, float]:
        """Where the center of another box is: to the right, above and in front, as `out` takes."""
        ahead_x, ahead_z = self.front
        dx, dz = other.x - self.x, other.z - self.z
        return dx * ahead_z - dz * ahead_x, other.y - self.y, dx * ahead_x + dz * ahead_z

    @property
    def floor(self) -> DrawnBox:
        """The floor of a room, as a thin box."""
        size = (self.size[0], 0.0, self.size[2])
        return DrawnBox(self.x, self.bottom, self.z, size, self.yaw)

    @property
    def raised(self) -> DrawnBox:
        """Itself with a metre more above and below, where what is on and under it is."""
        width, height, depth = self.size
        return replace(self, size=(width, height + 2, depth))

    def carried(self, before: DrawnBox, after: DrawnBox) -> DrawnBox:
        """Its place after its support has moved from one place to another."""
        x, y, z = after.out(*before.toward(self))
        return replace(self, x=x, y=y, z=z, yaw=self.yaw + after.yaw - before.yaw)


def read_place(node: Mapping[str, Any]) -> DrawnBox | None:
    """The place of a node in VirtualHome's form; None without a box.

    A turn between the quarters is read as the nearest quarter, since the box is along the world's
    axes.
    """
    box = node.get("bounding_box")
    if not box:
        return None
    (x, y, z), (wide, high, deep) = box["center"], box["size"]
    yaw = 0.0
    if turn := (node.get("obj_transform") or {}).get("rotation"):
        yaw = round(degrees(2 * atan2(turn[1], turn[3])) / 90) % 4 * 90.0
    size = (wide, high, deep) if yaw % 180 == 0 else (deep, high, wide)
    return DrawnBox(x, y, z, size, yaw)


_FINE_STEP = 0.05
"""Distance in metres between tried positions."""
_MOST_STEPS = 200
"""Number of positions along a side; on very large supports, they are farther apart."""
_GAP = 0.01

Floats = NDArray[np.float64]


def resting(
    size: tuple[float, float, float],
    support: DrawnBox,
    rests: Sequence[Rest],
    taken: Sequence[UprightBox],
) -> DrawnBox:
    """The place of an object on a support, without overlap.

    Args:
        size: of the thing: width, height, depth.
        support: what it is put on or into.
        rests: the support's surfaces, the best first.
        taken: boxes of what lies there already; the support's own is not among them.

    Returns:
        A free place, middle and front first; on top of what is there if none is free.
    """
    return free_place(size, support, rests, taken) or _on_top(size, support, rests[0], taken)


def free_place(
    size: tuple[float, float, float],
    support: DrawnBox,
    rests: Sequence[Rest],
    taken: Sequence[UprightBox],
) -> DrawnBox | None:
    """A free place on a support, or None if none is free."""
    blocks = _arrays(taken)
    for rest in rests:
        for turn in (0.0, 90.0):
            if (found := _free(size, support, rest, blocks, turn)) is not None:
                return found
    return None


def _free(
    size: tuple[float, float, float], support: DrawnBox, rest: Rest, blocks: Floats, turn: float
) -> DrawnBox | None:
    width, height, depth = support.size
    bottom = support.bottom + height * rest.low
    if bottom + size[1] > support.bottom + height * rest.high:
        return None
    wide, deep = (size[0], size[2]) if turn == 0 else (size[2], size[0])
    left, right = rest.left * width + wide / 2, rest.right * width - wide / 2
    back, front = rest.back * depth + deep / 2, rest.front * depth - deep / 2
    if left > right + 1e-6 or back > front + 1e-6:
        return None
    u, v = (side.ravel() for side in np.meshgrid(_steps(left, right), _steps(back, front)))
    # Near the middle of the front edge first, then by position, to resolve ties reproducibly.
    first = np.lexsort((u, v, np.round(np.abs(u) + 0.7 * (front - v), 6)))
    u, v = u[first], v[first]
    ahead_x, ahead_z = support.front
    x, z = support.x + u * ahead_z + v * ahead_x, support.z - u * ahead_x + v * ahead_z
    here = DrawnBox(0.0, 0.0, 0.0, size, support.yaw + turn).box
    half = np.array((here.hx, here.hy, here.hz)) + _GAP
    points = np.stack([x, np.full_like(x, bottom + here.hy + _GAP), z], axis=1)
    apart = np.abs(points[:, None] - blocks[None, :, 0]) >= half + blocks[None, :, 1]
    free = np.all(np.any(apart, axis=2), axis=1)
    if not free.any():
        return None
    i = int(np.argmax(free))
    return DrawnBox(float(x[i]), bottom + here.hy, float(z[i]), size, support.yaw + turn)


def _on_top(
    size: tuple[float, float, float], support: DrawnBox, rest: Rest, taken: Sequence[UprightBox]
) -> DrawnBox:
    """In the middle, on top of the highest object."""
    u = (rest.left + rest.right) / 2 * support.size[0]
    v = (rest.back + rest.front) / 2 * support.size[2]
    x, _, z = support.out(u, 0.0, v)
    bottom = support.bottom + support.size[1] * rest.low
    below = DrawnBox(x, 0.0, z, size, support.yaw).box
    ceiling = bottom + max(support.size[1], 0.6)
    for box in sorted(taken, key=lambda b: b.top):
        beside = abs(box.x - x) >= box.hx + below.hx or abs(box.z - z) >= box.hz + below.hz
        if not beside and bottom < box.top <= ceiling:
            bottom = box.top
    return DrawnBox(x, bottom + size[1] / 2, z, size, support.yaw)


def _steps(low: float, high: float) -> Floats:
    count = min(max(1, int((high - low) / _FINE_STEP) + 1), _MOST_STEPS)
    return np.linspace(low, high, count) if count > 1 else np.array([(low + high) / 2])


def _arrays(taken: Sequence[UprightBox]) -> Floats:
    """(N, 2, 3): centers and half extents."""
    rows = [((b.x, b.y, b.z), (b.hx, b.hy, b.hz)) for b in taken]
    return np.array(rows, np.float64).reshape(-1, 2, 3)


_WIDE, _DEEP, _HIGH = 6.6, 5.6, 2.6
"""Width, depth and height of a room, metres."""
_WALL = 0.1
_STEP = 0.1
_AISLE = 0.55
"""Free space in front of furniture, metres."""
_MOUNTS: Mapping[str, float] = {"hung": 1.4, "low": 0.3, "hood": 1.55}
"""Heights of undersides, metres."""
_HIGH_UP: Mapping[str, float] = {
    **dict.fromkeys(("curtain", "curtains"), 0.5),
    **dict.fromkeys(("light", "lightswitch"), 1.15),
    "towelrack": 1.2,
    "window": 1.0,
}
_ORDER = ("rug", "wall", "hung", "hood", "low", "middle", "ceiling", "floor")
_HOLLOW = frozenset(
    (
        *("freezer", "fridge", "microwave", "oven", "dishwasher", "washingmachine", "cupboard"),
        *("bathroomcabinet", "kitchencabinet", "filingcabinet", "dresser", "bookshelf", "box"),
        *("trashcan", "basketforclothes", "bathtub", "sink", "pot", "bowl", "bag", "garbagecan"),
        "closet",
    )
)
"""Classes that contain objects; "inside" any other class is drawn as on it.

Graphs have them with or without underscores."""


def lay_out(world: FlatWorld, given: Mapping[int, DrawnBox]) -> Mapping[int, DrawnBox]:
    """A place for every drawn node, equal for equal graphs.

    Rooms stand two by two. Furniture that finds no place along a wall, or in the middle, is left
    out, and so is what would stand on it.

    Args:
        world: a graph.
        given: places that are known, of some rooms at least; or none.
    """
    return given if given.keys() >= world.sources.keys() else _Layout(world, given).places


class _Layout:
    def __init__(self, world: FlatWorld, given: Mapping[int, DrawnBox]) -> None:
        self._world = world
        self._nodes = {node.id: node for node in world.nodes()}
        self._rooms = [n.id for n in self._nodes.values() if n.category == "Rooms"]
        self.places: dict[int, DrawnBox] = dict(given)
        self._aisles: list[UprightBox] = []
        for number, room in enumerate(self._rooms if not given else ()):
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
            if node.class_name != "door" or len(between) != 2 or node.id in self.places:
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
        for spot in self._spots(form(node.class_name), _plain(node), place, self.places[room]):
            if self._free(spot, place):
                self.places[node.id] = spot
                if place == "wall":
                    self._aisles.append(_aisle(spot))
                return

    def _spots(self, what: ClassShape, name: str, place: str, room: DrawnBox) -> Iterator[DrawnBox]:
        if place == "ceiling":
            yield DrawnBox(room.x, room.top - what.size[1] / 2, room.z, what.size)
        elif place in ("rug", "middle", "floor"):
            yield from _across(room, what.size, near_middle=place != "floor")
        else:
            mount = _HIGH_UP.get(name, _MOUNTS.get(place, 0.0))
            yield from _along_walls(room, what.size, mount, len(self._aisles))

    def _free(self, spot: DrawnBox, place: str) -> bool:
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
            if node.class_name not in ("sink", "faucet") or node.id in self.places:
                continue
            counters = [c for c in self._supports(node.id) if c in self.places]
            if not counters:
                continue
            counter, size = self.places[counters[0]], form(node.class_name).size
            sink = node.class_name == "sink"
            up = counter.size[1] / 2 + (0.005 - size[1] / 2 if sink else size[1] / 2)
            x, y, z = counter.out(-0.2 * counter.size[0], up, 0.04 if sink else -0.21)
            self.places[node.id] = DrawnBox(x, y, z, size, counter.yaw)

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
            place, surfaces = place.floor, [Rest(1.0, 9.0, -0.44, 0.44, -0.44, 0.44)]
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
        return "INSIDE" if inside and _plain(self._nodes[support]) in _HOLLOW else "ON"

    def _beside(self, support: int, place: DrawnBox) -> list[UprightBox]:
        reach = place.raised.box
        return [
            other.box
            for i, other in self.places.items()
            if i != support and i not in self._rooms and reach.overlaps(other.box)
        ]


def _plain(node: Node) -> str:
    return node.class_name.replace("_", "")


def _room(number: int) -> DrawnBox:
    x = (number % 2) * (_WIDE + _WALL)
    z = (number // 2) * (_DEEP + _WALL)
    return DrawnBox(x, _HIGH / 2, z, (_WIDE, _HIGH, _DEEP))


def _doorway(one: DrawnBox, two: DrawnBox) -> DrawnBox | None:
    """In the wall between two rooms, if they are neighbours."""
    size = (0.95, 2.05, 0.12)
    if abs(one.z - two.z) < 0.01 and abs(one.x - two.x) < _WIDE + 2 * _WALL:
        return DrawnBox((one.x + two.x) / 2, size[1] / 2, one.z - 0.3 * _DEEP, size, 90.0)
    if abs(one.x - two.x) < 0.01 and abs(one.z - two.z) < _DEEP + 2 * _WALL:
        return DrawnBox(one.x - 0.3 * _WIDE, size[1] / 2, (one.z + two.z) / 2, size, 0.0)
    return None


def _threshold(door: DrawnBox) -> UprightBox:
    box, (ahead_x, ahead_z) = door.box, door.front
    return UprightBox(box.x, box.y, box.z, box.hx + 0.9 * ahead_x, box.hy, box.hz + 0.9 * ahead_z)


def _aisle(spot: DrawnBox) -> UprightBox:
    """The floor in front of furniture."""
    box, (ahead_x, ahead_z) = spot.box, spot.front
    x, z = box.x + ahead_x * (box.hx + _AISLE / 2), box.z + ahead_z * (box.hz + _AISLE / 2)
    level = abs(ahead_x) > 0.5
    return UprightBox(
        x, 0.4, z, _AISLE / 2 if level else box.hx, 0.35, box.hz if level else _AISLE / 2
    )


def _along_walls(
    room: DrawnBox, size: tuple[float, float, float], mount: float, first: int
) -> Iterator[DrawnBox]:
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
            yield DrawnBox(box.x + x, y, box.z + z, size, yaw)


def _across(
    room: DrawnBox, size: tuple[float, float, float], *, near_middle: bool
) -> Iterator[DrawnBox]:
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
        yield DrawnBox(box.x + x, room.bottom + size[1] / 2, box.z + z, size)
