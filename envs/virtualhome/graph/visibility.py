"""Visibility and reach of a character. Symbolic, as VirtualHome's partial observations are."""

from __future__ import annotations

from collections.abc import Set

from inhabit.envs.virtualhome.graph.world import FlatWorld

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
    room = world.room(character)
    found = set()
    for node in world.nodes():
        here = world.room(node.id) == room and not hidden(world, node.id)
        if node.category == "Rooms" or node.id == character or here:
            found.add(node.id)
    return frozenset(found)


def held(world: FlatWorld, character: int) -> tuple[int, ...]:
    """Held ids, right hand first."""
    return tuple(i for hand in _HANDS for i in world.targets(character, hand))


def near(world: FlatWorld, character: int) -> Set[int]:
    """Ids that the evolving graph counts as close: near, beside something near, or on it."""
    close = set(world.targets(character, "CLOSE"))
    beside = {there for i in close for there in world.targets(i, "CLOSE")}
    on = {a for a, b in world.pairs("ON") if b in close}
    return close | beside | on
