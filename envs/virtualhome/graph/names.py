"""Names of objects, and which of them are in sight."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set

from inhabit.envs.virtualhome.graph.world import FlatWorld, Node


def squeeze(text: str) -> str:
    """Text without spaces, case and punctuation: "the Coffee Table 1" and "coffee_table_1"."""
    return re.sub(r"[\W_]+", "", re.sub(r"^\s*(the|a|an)\s+", "", text.lower()))


class NodeNames:
    """The names of one flat's nodes. They never change."""

    def __init__(self, world: FlatWorld) -> None:
        classes: dict[str, list[Node]] = {}
        for node in world.nodes():
            classes.setdefault(node.class_name, []).append(node)
        self._by_id: dict[int, str] = {}
        for class_name, nodes in classes.items():
            alone = len(nodes) == 1 and nodes[0].category == "Rooms"
            for i, node in enumerate(nodes, start=1):
                self._by_id[node.id] = class_name if alone else f"{class_name}_{i}"
        self._by_name = {squeeze(name): id_ for id_, name in self._by_id.items()}
        self._by_class = {
            squeeze(class_name): [node.id for node in nodes]
            for class_name, nodes in classes.items()
        }

    def of(self, id_: int) -> str:
        """The name of a node.

        Raises:
            KeyError: there is no such node.
        """
        return self._by_id[id_]

    def find(self, said: str) -> Sequence[int]:
        """The nodes a text can mean: one by its full name, or all of a class."""
        squeezed = squeeze(said)
        if squeezed in self._by_name:
            return [self._by_name[squeezed]]
        return self._by_class.get(squeezed, [])

    def all(self) -> Mapping[int, str]:
        """Id -> name."""
        return self._by_id


_HANDS = ("HOLDS_RH", "HOLDS_LH")


def hidden(world: FlatWorld, id_: int) -> bool:
    """Whether a node is inside a closed object, at any depth."""
    around, here = set[int](), {id_}
    while here:
        here = {there for i in here for there in world.targets(i, "INSIDE")} - around
        around |= here
    nodes = (world.node(i) for i in around)
    return any(n is not None and n.category != "Rooms" and "CLOSED" in n.states for n in nodes)


def visible(world: FlatWorld, character: int) -> frozenset[int]:
    """Visible ids: in the character's room and not inside a closed object.

    Always rooms and the character itself.
    """
    room, nodes = world.room(character), list(world.nodes())
    shut = set[int]()
    here = {n.id for n in nodes if n.category != "Rooms" and "CLOSED" in n.states}
    while here:
        here = {inner for i in here for inner in world.sources_of(i, "INSIDE")} - shut
        shut |= here
    return frozenset(
        node.id
        for node in nodes
        if node.category == "Rooms"
        or node.id == character
        or (node.id not in shut and world.room(node.id) == room)
    )


def held(world: FlatWorld, character: int) -> tuple[int, ...]:
    """Held ids, right hand first."""
    return tuple(i for hand in _HANDS for i in world.targets(character, hand))


def near(world: FlatWorld, character: int) -> Set[int]:
    """Ids that the evolving graph counts as close: near, beside something near, or on it."""
    close = set(world.targets(character, "CLOSE"))
    beside = {there for i in close for there in world.targets(i, "CLOSE")}
    on = {a for b in close for a in world.sources_of(b, "ON")}
    return close | beside | on
