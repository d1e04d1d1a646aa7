"""Places every node of a graph. Actions only change relations; positions follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from inhabit.envs.virtualhome.drawing.layout import DrawnBox, lay_out, read_place, resting
from inhabit.envs.virtualhome.drawing.looks import form
from inhabit.envs.virtualhome.flats.boxes import Rest, UprightBox, rests
from inhabit.envs.virtualhome.graph.names import held
from inhabit.envs.virtualhome.graph.world import FlatWorld, Node

_NEAR_FLOOR = 0.06
"""An object up to this many metres above the floor stands on it."""
_SLACK = 0.03
"""Gap in metres up to which boxes count as touching."""
_CHESTS = ("dresser", "filingcabinet")
"""What is in these, while they are open, lies in the drawers that slide out."""
_IN_DRAWERS = tuple(Rest(0.0, 9.0, *side, -0.45, 0.42) for side in ((-0.46, -0.03), (0.03, 0.46)))
"""Places in the two drawers."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Places by id. Nodes that are held, worn or behind a closed door have none."""

    nodes: Mapping[int, Node]
    """Every node now, by id."""
    places: Mapping[int, DrawnBox]
    held: Mapping[int, tuple[int, ...]]
    """Character -> held nodes, right hand first."""


def homes(world: FlatWorld) -> Mapping[int, DrawnBox]:
    """The boxes of the initial graph, and our own layout of what has none."""
    found = {id_: read_place(source) for id_, source in world.sources.items()}
    given = {id_: place for id_, place in found.items() if place is not None}
    if any(world.sources[i].get("category") == "Rooms" for i in given):
        return lay_out(world, given)
    return lay_out(world, {})


def arrange(world: FlatWorld, home: Mapping[int, DrawnBox]) -> Arrangement:
    """Compute the place of every node.

    A node stays in place while its support is unchanged. A moved node takes the first free place
    on its new support, in the order of ids. A dropped one lies on the floor.

    Args:
        world: the current state.
        home: every node's place as the graph came in.
    """
    return _Arranging(world, home).result()


class _Arranging:
    def __init__(self, world: FlatWorld, home: Mapping[int, DrawnBox]) -> None:
        self._world, self._home = world, home
        self._nodes = {node.id: node for node in world.nodes()}
        self._rooms = {i for i, node in self._nodes.items() if node.category == "Rooms"}
        self._people = set(world.characters())
        self._places: dict[int, DrawnBox] = {i: home[i] for i in sorted(self._rooms) if i in home}
        self._hidden: set[int] = set()
        self._moved: list[tuple[int, int, str]] = []

    def result(self) -> Arrangement:
        hands = {person: held(self._world, person) for person in sorted(self._people)}
        self._hidden |= self._people | {i for ids in hands.values() for i in ids}
        for id_ in self._nodes:
            self._settle(id_, ())
        for id_, support, relation in sorted(self._moved):
            self._put(id_, support, relation, ())
        return Arrangement(self._nodes, self._places, hands)

    def _parents(self, id_: int) -> list[tuple[int, str]]:
        """What a node is on or in, without rooms and undrawn nodes such as walls."""
        return [
            (parent, relation)
            for relation in ("ON", "INSIDE")
            for parent in self._world.targets(id_, relation)
            if parent != id_
            and parent not in self._rooms
            and (parent in self._home or parent in self._people)
        ]

    def _settle(self, id_: int, path: tuple[int, ...]) -> None:
        """Decide whether a node stays in place, is hidden, or must be placed."""
        if id_ in self._places or id_ in self._hidden or id_ in path:
            return
        if id_ not in self._home:
            self._hidden.add(id_)
            return
        parents = self._parents(id_)
        if any(self._shuts(parent, relation) for parent, relation in parents):
            self._hidden.add(id_)
            return
        for parent, _ in parents:
            self._settle(parent, (*path, id_))
        gone = [p for p, _ in parents if p in self._hidden]
        if gone:
            self._hidden.add(id_)
        elif not parents or form(self._nodes[id_].class_name).place != "small":
            self._stand(id_)
        else:
            self._keep_or_move(id_, parents)

    def _shuts(self, parent: int, relation: str) -> bool:
        if parent in self._people:
            return True
        return relation == "INSIDE" and "CLOSED" in self._nodes[parent].states

    def _stand(self, id_: int) -> None:
        """Place a node without support: where it was, or on the floor if it was dropped."""
        home, node = self._home[id_], self._nodes[id_]
        room = self._room_of(id_)
        if room is None:
            self._places[id_] = home
            return
        at_home = home.bottom < _NEAR_FLOOR and _within(home, self._home[room])
        if at_home or not _loose(node, home):
            self._places[id_] = home
        else:
            self._moved.append((id_, room, "ON"))

    def _room_of(self, id_: int) -> int | None:
        """The room of a node.

        The evolving graph keeps a carried object in its old room until the next walk, so that a
        dropped object can be in two rooms: it is then in the one without its box.
        """
        rooms = [r for r in self._world.targets(id_, "INSIDE") if r in self._rooms]
        rooms = [r for r in rooms if r in self._home]
        home = self._home[id_]
        return next((r for r in rooms if not _within(home, self._home[r])), next(iter(rooms), None))

    def _keep_or_move(self, id_: int, parents: list[tuple[int, str]]) -> None:
        home = self._home[id_]
        for parent, relation in parents:
            was = self._home.get(parent)
            if relation == "INSIDE" and self._slides_out(parent):
                continue
            behind_door = relation == "INSIDE" and "CAN_OPEN" in self._nodes[parent].properties
            if behind_door and was is not None and home.bottom > was.top - _SLACK:
                continue  # It stood on what it is in now.
            if was is not None and parent in self._places and _bears(was, home):
                now = self._places[parent]
                self._places[id_] = home if now == was else home.carried(was, now)
                return
        parent, relation = parents[0]
        self._moved.append((id_, parent, relation))

    def _put(self, id_: int, support: int, relation: str, path: tuple[int, ...]) -> None:
        """Place a moved node, after its support."""
        if id_ in self._places or id_ in path:
            return
        waiting = next((m for m in self._moved if m[0] == support), None)
        if support not in self._places and waiting is not None:
            self._put(*waiting, (*path, id_))
        if support not in self._places:
            return
        place, size = self._places[support], self._home[id_].size
        if support in self._rooms:
            place, surfaces = place.floor, [Rest(1.0, 9.0, -0.4, 0.4, -0.4, 0.4)]
        elif relation == "INSIDE" and self._slides_out(support):
            place, surfaces = _drawers(place), [*_IN_DRAWERS]
        else:
            surfaces = [*rests(self._kind(support), relation, self._nodes[id_].class_name)]
        self._places[id_] = resting(size, place, surfaces, self._taken(support, place))

    def _kind(self, id_: int) -> str:
        return self._nodes[id_].class_name.replace("_", "")

    def _slides_out(self, id_: int) -> bool:
        return self._kind(id_) in _CHESTS and "OPEN" in self._nodes[id_].states

    def _taken(self, support: int, place: DrawnBox) -> list[UprightBox]:
        """Boxes near a support, without its own and its own support's."""
        around = place.raised.box
        below = {p for p, _ in self._parents(support)}
        return [
            other.box
            for id_, other in self._places.items()
            if id_ != support
            and id_ not in self._rooms
            and id_ not in below
            and around.overlaps(other.box)
        ]


def _loose(node: Node, home: DrawnBox) -> bool:
    """Whether it can have been carried away and dropped."""
    hangs = form(node.class_name).place not in ("small", "floor", "wall")
    return "GRABBABLE" in node.properties and not hangs and max(home.size) < 2.0


def _within(inner: DrawnBox, outer: DrawnBox) -> bool:
    box = outer.box
    return abs(inner.x - box.x) <= box.hx + _SLACK and abs(inner.z - box.z) <= box.hz + _SLACK


def _bears(support: DrawnBox, thing: DrawnBox) -> bool:
    """Whether a box initially stands on, lies in or hangs from another."""
    touches = support.bottom - _SLACK <= thing.top and thing.bottom <= support.top + _SLACK
    return touches and _within(thing, support)


def _drawers(chest: DrawnBox) -> DrawnBox:
    """The space in the open drawers of a chest, which are before it and near its top."""
    width, height, depth = chest.size
    ahead_x, ahead_z = chest.front
    out, bottom = 0.68 * depth, chest.bottom + 0.8 * height
    away = (depth + out) / 2
    size = (width, 0.15 * height, out)
    return DrawnBox(chest.x + away * ahead_x, bottom, chest.z + away * ahead_z, size, chest.yaw)
