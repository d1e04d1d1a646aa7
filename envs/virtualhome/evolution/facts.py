"""The objects of a flat in the form common to all environments."""

from __future__ import annotations

from collections.abc import Mapping

from inhabit.envs.core import SceneObject
from inhabit.envs.virtualhome.graph.names import NodeNames, held
from inhabit.envs.virtualhome.graph.world import FlatWorld, Node
from inhabit.envs.virtualhome.world.catalogue import spoken

_NOT_OBJECTS = frozenset(("Rooms", "Characters", "Walls", "Floor", "Floors", "Ceiling"))
"""Categories of structural parts and of inhabitants."""


def things(
    world: FlatWorld, names: NodeNames, character: int, pixels: Mapping[int, int]
) -> tuple[SceneObject, ...]:
    """Every object, by id.

    Args:
        world: the current state.
        names: of its nodes.
        character: id of whose hands count.
        pixels: how many pixels of the present image show a node; none where it has none.
    """
    nodes = {node.id: node for node in world.nodes()}
    objects = {i: n for i, n in nodes.items() if n.category not in _NOT_OBJECTS}
    hands = held(world, character)
    washable = {n.class_name for n in nodes.values() if n.states & {"CLEAN", "DIRTY"}}
    found = []
    for id_, node in objects.items():
        support, inside = None, False
        if id_ not in hands:
            support, inside = _support(world, id_, {*objects, *world.characters()})
        found.append(
            SceneObject(
                name=names.of(id_),
                kind=spoken(node.class_name),
                states=_states(node, node.class_name in washable),
                support=None if support is None else names.of(support),
                inside=inside,
                held=id_ in hands,
                pixels=pixels.get(id_, 0),
            )
        )
    return tuple(found)


def _support(world: FlatWorld, id_: int, among: set[int]) -> tuple[int | None, bool]:
    """What an object is in, or else on; without rooms."""
    for relation, inside in (("INSIDE", True), ("ON", False)):
        for parent in world.targets(id_, relation):
            if parent in among and parent != id_:
                return parent, inside
    return None, False


def _states(node: Node, washable: bool) -> Mapping[str, bool]:
    can = {
        "open": ("OPEN", "CAN_OPEN" in node.properties or bool(node.states & {"OPEN", "CLOSED"})),
        "on": ("ON", "HAS_SWITCH" in node.properties or bool(node.states & {"ON", "OFF"})),
        "plugged_in": (
            "PLUGGED_IN",
            "HAS_PLUG" in node.properties or bool(node.states & {"PLUGGED_IN", "PLUGGED_OUT"}),
        ),
        "dirty": ("DIRTY", washable),
    }
    return {name: state in node.states for name, (state, possible) in can.items() if possible}
