"""Object names for people and models: "mug_2" is the second mug of the flat by id.

A room that there is only one of is called without a number, and so is the character ("me").
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

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
