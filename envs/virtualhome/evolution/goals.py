"""Goals of synthesised tasks: pairs for the same pictures, and how goals are worded.

In a pair, two objects exchange the containers they belong in. Who holds one of them at a closed
container opens it for one goal, and leaves for the other. Verbs, prepositions and joins of wordings
are people's, learnt from ALFRED.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice, permutations

from inhabit.envs.virtualhome.drawing.layout import free_place, read_place
from inhabit.envs.virtualhome.flats.boxes import rests
from inhabit.envs.virtualhome.graph.goals import Goal, RelationGoal, StateGoal
from inhabit.envs.virtualhome.graph.world import FlatWorld, Node
from inhabit.envs.virtualhome.tasks.kinds import KINDS
from inhabit.envs.virtualhome.world.catalogue import spoken
from inhabit.envs.world.phrasing import pick

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


_INTO = {
    "in": ("in", "into", "inside", "inside of"),
    "on": ("on", "onto", "on top of"),
}
_TO = ("to", "over to")
_MOVES = ("move", "bring", "carry", "take", "return")
_SAID: Mapping[str, tuple[str, ...]] = {
    "sofa": ("sofa", "couch"),
    "fridge": ("fridge", "refrigerator"),
    "tv": ("tv", "television"),
}
"""Word -> names for the same, which the lexicon knows."""
_CLOSING = (
    "{put} and {close} it",
    "{put}, and {close} it afterwards",
    "{put}, then {close} the door",
    "{put}. Make sure that its door is closed in the end",
    "{put}, and don't leave it open",
    "{put}. Then {close} it again",
)
_JOINED = (
    "{first}. {Second}.",
    "{first}. Also, {second}.",
    "{first}, and {second}.",
    "{first}. Besides that, {second}.",
    "There are two things to do: {first}, and {second}.",
    "{first}. Before or after that, {second}.",
)


def worded(kind: str, goals: Sequence[Goal], world: FlatWorld, rng: random.Random) -> str | None:
    """A text that means exactly these goals; None if they are of another form.

    Args:
        kind: of the task.
        goals: about objects of which the flat has one.
        world: where they are.
        rng: the source of randomness.
    """
    terms = {"close": rng.choice(("close", "shut")), "get": rng.choice(("get", "take", "grab"))}
    clause = _clause(kind, goals, world, rng, terms)
    return None if clause is None else f"{clause[:1].upper()}{clause[1:]}."


def both(first: str, second: str, rng: random.Random) -> str:
    """Two goals in one text."""
    terms = {
        "first": first.rstrip("."),
        "second": f"{second[:1].lower()}{second[1:]}".rstrip("."),
        "Second": second.rstrip("."),
    }
    several = ". " in first or " and " in first  # Sentences, or clauses that are joined already.
    form = rng.choice([form for form in _JOINED if not several or form.startswith("{first}. ")])
    if not form.startswith("{first}"):
        terms["first"] = f"{first[:1].lower()}{first[1:]}".rstrip(".")
    return form.format_map(terms)


def _clause(
    kind: str,
    goals: Sequence[Goal],
    world: FlatWorld,
    rng: random.Random,
    terms: dict[str, str],
) -> str | None:
    if kind in KINDS and KINDS[kind].reworded:
        form = rng.choice(KINDS[kind].reworded)
        found = [g.from_id for g in goals if isinstance(g, RelationGoal) and g.relation == "INSIDE"]
        more = {"a": _name(found[0], world, rng)} if found else {"sofa": rng.choice(_SAID["sofa"])}
        return form.format(**terms, **more)
    match list(goals):
        case [RelationGoal() as goal]:
            return _put(goal, world, rng)
        case [RelationGoal() as goal, StateGoal(state="CLOSED")]:
            return rng.choice(_CLOSING).format(put=_put(goal, world, rng), **terms)
    return None


def _put(goal: RelationGoal, world: FlatWorld, rng: random.Random) -> str:
    """The clause "place the mug on the desk"."""
    verb = pick("put", rng, lambda v: v not in ("throw", "drop"))
    fit = _INTO["in" if goal.relation == "INSIDE" else "on"]
    to = goal.relation != "INSIDE"
    found = pick(f"prep {verb}", rng, lambda p: p in fit or (to and p in _TO and verb in _MOVES))
    if not found:
        verb, found = "put", fit[0]
    what, place = _name(goal.from_id, world, rng), _name(goal.to_id, world, rng)
    if rng.random() < _FETCHED:
        get = pick("get", rng, lambda v: v in ("take", "get", "grab", "find", "pick up"))
        return f"{get} the {what}{pick('join', rng)}{verb} it {found} the {place}"
    return f"{verb} the {what} {found} the {place}"


_FETCHED = 0.2
"""Share of goals that tell of fetching the object."""


def _name(id: int, world: FlatWorld, rng: random.Random) -> str:
    node = world.node(id)
    assert node is not None
    word = spoken(node.class_name)
    return rng.choice(_SAID.get(word, (word,)))
