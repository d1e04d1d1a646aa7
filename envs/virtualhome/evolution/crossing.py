"""Goals that may be asked of the same pictures: two objects exchange the containers they belong in.

Who holds one of them at a closed container opens it for one goal, and leaves for the other.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice, permutations

from inhabit.envs.virtualhome.drawing.layout import free_place, read_place
from inhabit.envs.virtualhome.flats.boxes import rests
from inhabit.envs.virtualhome.graph.goals import RelationGoal, StateGoal
from inhabit.envs.virtualhome.graph.world import FlatWorld, Node

_HOLDS: Mapping[str, str] = {
    "fridge": "Food Drinks cookingpot",
    "microwave": "milk bread potato pie cupcake apple tomato egg mug plate dishbowl",
    "stove": "bread potato pie cupcake apple tomato cookingpot fryingpan",
    "dishwasher": "plate mug waterglass wineglass dishbowl cutleryfork cutleryknife spoon knife "
    "fryingpan cookingpot cuttingboard kettle",
    "bathroomcabinet": "towel barsoap toothpaste toothbrush hairproduct facecream candle slippers "
    "papertowel washingsponge dishwashingliquid",
    "washingmachine": "Clothes towel slippers washingsponge",
}
"""Container with a door -> the classes and categories that may be put in it."""
_LARGE = ("box", "chair", "pillow")
"""Props that are no good to carry."""
_MOST = 6
"""Pairs of goals that are tried of one flat."""

Wants = tuple[RelationGoal, ...]


def crossed(world: FlatWorld, rng: random.Random) -> Iterator[tuple[Wants, Wants]]:
    """Pairs of goals: in each, both objects belong in one of two containers of a room."""
    nodes = list(world.nodes())
    count = Counter(node.class_name for node in nodes)
    places = [
        n for n in nodes if n.class_name in _HOLDS and count[n.class_name] == 1 and _is_shut(n)
    ]
    found = []
    for one, two in combinations(places, 2):
        if world.room(one.id) != world.room(two.id):
            continue
        things = [
            n
            for n in nodes
            if count[n.class_name] == 1
            and all(_fits(n, place) for place in (one, two))
            and not {one.id, two.id} & set(world.targets(n.id, "INSIDE"))
        ]
        found += [(pair, (one, two)) for pair in combinations(things, 2)]
    fit = (
        (pair, places)
        for pair, places in rng.sample(found, len(found))
        if all(_have_room(pair, place, world) for place in places)
    )
    for pair, (one, two) in islice(fit, _MOST):
        first, second = rng.sample(pair, 2)
        yield (
            (_inside(first, one), _inside(second, two)),
            (_inside(first, two), _inside(second, one)),
        )


def part(goal: RelationGoal) -> tuple[RelationGoal, StateGoal]:
    """A goal, with the container closed in the end."""
    return goal, StateGoal(id=goal.to_id, state="CLOSED")


def _inside(thing: Node, place: Node) -> RelationGoal:
    return RelationGoal(from_id=thing.id, relation="INSIDE", to_id=place.id)


def _fits(thing: Node, place: Node) -> bool:
    takes = set(_HOLDS[place.class_name].split())
    return (
        "GRABBABLE" in thing.properties
        and thing.class_name not in _LARGE
        and bool({thing.class_name, thing.category} & takes)
    )


def _have_room(things: Sequence[Node], place: Node, world: FlatWorld) -> bool:
    """Whether things fit beside one another and what is there, whichever comes first.

    What has no room is drawn on top, or through a wall, and is not seen to be inside.
    """
    support = read_place(place.source)
    there = [
        read_place(n.source) for n in world.nodes() if place.id in world.targets(n.id, "INSIDE")
    ]
    for order in permutations(things):
        taken = [spot.box for spot in there if spot is not None]
        for thing in order:
            here, inner = read_place(thing.source), rests(place.class_name, "INSIDE", "")
            if support is None or here is None:
                return False
            if (spot := free_place(here.size, support, inner, taken)) is None:
                return False
            taken.append(spot.box)
    return True


def _is_shut(place: Node) -> bool:
    return "CLOSED" in place.states
