"""Goals that may be asked of the same pictures: objects exchange what is wanted of them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations

from inhabit.envs.alfred.language.naming import word
from inhabit.envs.alfred.scenes.scene import AlfredGoal, AlfredScene
from inhabit.envs.alfred.tasks.sampling import possible_goals
from inhabit.envs.alfred.world.things import PLACES
from inhabit.envs.core import SceneObject

_WANTS = {
    "pick_and_place_simple": "",
    "pick_clean_then_place_in_recep": "SinkBasin",
    "pick_heat_then_place_in_recep": "Microwave",
    "pick_cool_then_place_in_recep": "Fridge",
}
"""What may be wanted of an object, and the appliance that this takes."""
_OPENED = ("Fridge", "Microwave", "Safe", "Cabinet", "Box")
"""Places that are opened, which gives more kinds of answers."""
_SMALL = ("CreditCard", "KeyChain", "Pen", "Pencil", "Watch", "CD", "Fork", "Spoon", "ButterKnife")
"""Objects that are hard to see from afar. They are tried last."""
_MOST = 5
"""Sets of goals that are tried of one room."""

_Want = tuple[str, str]
"""Task type and destination."""


def crossed(
    scene: AlfredScene, count: int, things: Sequence[SceneObject], rng: random.Random
) -> Iterator[Sequence[tuple[AlfredGoal, ...]]]:
    """Sets of `count` goals with as many parts: in each, the same objects have other wants.

    With objects X and Y and wants 1 and 2, these are "X 1, Y 2" and "X 2, Y 1".
    """
    known = {kind: _wants(scene.room, kind) for kind in sorted(PLACES) if _is_one(kind, things)}
    groups = [
        (objects, wants)
        for objects in combinations([kind for kind, wants in known.items() if wants], count)
        if (wants := _apart([known[kind] for kind in objects], count, things))
    ]
    tried = rng.sample(groups, min(2 * _MOST, len(groups)))
    tried.sort(key=lambda group: sum(kind in _SMALL for kind in group[0]))
    for objects, some in tried[:_MOST]:
        chosen = rng.choices(some, [_weight(one) for one in some])[0]
        order = rng.sample(chosen, count)
        yield [
            tuple(_goal(kind, order[(place + turn) % count]) for place, kind in enumerate(objects))
            for turn in range(count)
        ]


def with_goals(scene: AlfredScene, goals: Sequence[AlfredGoal]) -> AlfredScene:
    """The same room and start with these goals, all of which have to hold in the end."""
    changed = {"goal": goals[0], "also": tuple(goals[1:]), "in_order": False}
    return scene.model_copy(update={**changed, "condition": None, "disturbances": ()})


def _wants(room: str, kind: str) -> frozenset[_Want]:
    return frozenset(
        (goal.type, str(goal.parent))
        for type_ in _WANTS
        for goal in possible_goals(type_, room)
        if goal.object == kind and not goal.sliced
    )


def _apart(
    wants: Sequence[frozenset[_Want]], count: int, things: Sequence[SceneObject]
) -> list[tuple[_Want, ...]]:
    """Sets of wants that all objects may have, of which no two begin or end at the same place.

    There is one of each of the places.
    """
    places = {want[1] for some in wants for want in some}
    there = {place for place in places if sum(t.kind == word(place) for t in things) == 1}
    shared = sorted(want for want in frozenset.intersection(*wants) if want[1] in there)
    return [
        some
        for some in combinations(shared, count)
        if len({_first(want) for want in some}) == count
        and (len({want[1] for want in some}) == count or all(_WANTS[want[0]] for want in some))
    ]


def _first(want: _Want) -> str:
    """Where an object has to be brought first."""
    return _WANTS[want[0]] or want[1]


def _weight(wants: Sequence[_Want]) -> float:
    return 4.0 ** sum(_first(want) in _OPENED for want in wants)


def _goal(kind: str, want: _Want) -> AlfredGoal:
    return AlfredGoal.model_validate({"type": want[0], "object": kind, "parent": want[1]})


def _is_one(kind: str, things: Sequence[SceneObject]) -> bool:
    """Whether there is one such object, and not behind a door."""
    found = [thing for thing in things if thing.kind == word(kind)]
    closed = {thing.name for thing in things if thing.states.get("open") is False}
    return len(found) == 1 and not (found[0].inside and found[0].support in closed)
