"""Wishes about things that a flat has one of: what goes where, and what should be closed then."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from envs.virtualhome.facts import spoken
from envs.virtualhome.goals import Goal, RelationGoal, StateGoal
from envs.virtualhome.tasks import Wish
from envs.virtualhome.world import Node, World

_ON = (
    "Put the {a} on the {b}.",
    "Bring the {a} to the {b} and leave it there.",
    "I want the {a} on the {b}.",
    "The {a} belongs on the {b}.",
)
_IN = (
    "Put the {a} in the {b} and close it.",
    "The {a} belongs in the {b}, which should be closed.",
    "Store the {a} in the closed {b}.",
)
_SURFACES = """bathroomcounter bed bench bookshelf coffeetable desk dresser kitchencounter
    kitchentable nightstand sofa tvstand"""
_TAKES = {
    "fridge": "Food Drinks",
    "microwave": "Food",
    "dishwasher": "plate mug waterglass wineglass dishbowl cutleryfork cutleryknife fryingpan "
    "cookingpot",
    "washingmachine": "towel clothesshirt clothespants",
    "closet": "Clothes towel clothesshirt clothespants",
}
"""What is shut away where: classes and categories."""


def draw_wish(world: World, draw: random.Random) -> Wish | None:
    """Something that is to be put somewhere; None if the flat has nothing that will do."""
    unique = _unique(world)
    things = [n for n in unique if "GRABBABLE" in n.properties]
    places = [n for n in unique if n.class_name in {*_SURFACES.split(), *_TAKES}]
    pairs = [(thing, place) for thing in things for place in places if _fits(thing, place)]
    if not pairs:
        return None
    thing, place = draw.choice(pairs)
    inside = place.class_name in _TAKES
    relation = "INSIDE" if inside else "ON"
    if place.id in world.targets(thing.id, relation):
        return None
    goals: list[Goal] = [RelationGoal(from_id=thing.id, relation=relation, to_id=place.id)]
    if inside:
        goals.append(StateGoal(id=place.id, state="CLOSED"))
    words = draw.choice(_IN if inside else _ON)
    said = words.replace("{a}", spoken(thing.class_name)).replace("{b}", spoken(place.class_name))
    return Wish(said, tuple(goals))


def _fits(thing: Node, place: Node) -> bool:
    """Whether people put such a thing there: on a surface, anything."""
    takes = _TAKES.get(place.class_name)
    return takes is None or bool({thing.class_name, thing.category} & set(takes.split()))


def _unique(world: World) -> Sequence[Node]:
    """What there is one of."""
    nodes = list(world.nodes())
    count = Counter(node.class_name for node in nodes)
    return [node for node in nodes if count[node.class_name] == 1]
