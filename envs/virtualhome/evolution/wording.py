"""Wordings of goals in a flat; verbs, prepositions and joins are people's, learnt from ALFRED."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from inhabit.envs.virtualhome.graph.goals import Goal, RelationGoal, StateGoal
from inhabit.envs.virtualhome.graph.world import FlatWorld
from inhabit.envs.virtualhome.tasks.kinds import KINDS
from inhabit.envs.virtualhome.world.catalogue import spoken
from inhabit.envs.world.phrasing import pick

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
"""Other names, which the lexicon knows."""
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
