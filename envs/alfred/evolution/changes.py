"""The ways to evolve an ALFRED task. A change is kept if the new task is feasible."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from inhabit.envs.alfred.language.verbs import word
from inhabit.envs.alfred.scenes.initial_room import InitialRoom, initial_room
from inhabit.envs.alfred.scenes.scene import (
    AlfredGoal,
    AlfredScene,
    Condition,
    Disturbance,
    ObjectState,
    Placement,
    TaskType,
)
from inhabit.envs.alfred.tasks.feasibility import feasibility
from inhabit.envs.alfred.tasks.sampling import possible_goals, scene_for
from inhabit.envs.alfred.world.kinds import BY_NAME, CLEANING, KIND_NAMES, LOOKING, SIMPLE
from inhabit.envs.alfred.world.settings import Split
from inhabit.envs.alfred.world.things import DOORS, Kind, rooms

_SOONEST, _LATEST = 2, 5
"""Number of actions after which a disturbance may come."""
_SHORT = (SIMPLE.name, LOOKING.name)
"""Kinds for a further goal of tasks that are long already."""
_LONGEST = 16
"""Number of actions that the expert may be expected to take for goals that are added to others.
Beyond it most tasks have more than 20 actions, which synthesis rejects."""
_SLICING = 6
"""Actions that slices take in addition: fetch the knife, slice, and put the knife down."""


def expected_actions(goals: Iterable[AlfredGoal]) -> int:
    """Actions that the expert takes for these goals, roughly; exploration is not counted."""
    return sum(goal.kind.actions + _SLICING * goal.sliced for goal in goals)


def second_goal(scene: AlfredScene, rng: random.Random, split: Split) -> AlfredScene | None:
    """Another goal in the same room, about other objects."""
    other = _other_goal(scene, rng)
    if other is None:
        return None
    goals = sorted((*scene.goals, other), key=lambda goal: goal.toggle is not None)
    return scene.model_copy(update={"goal": goals[0], "also": tuple(goals[1:])})


def ordering(scene: AlfredScene, rng: random.Random, split: Split) -> AlfredScene | None:
    """Another goal, which must not be reached before the first one."""
    if scene.condition is not None:
        return None
    both = scene if scene.also else second_goal(scene, rng, split)
    return None if both is None or both.in_order else both.model_copy(update={"in_order": True})


def condition(scene: AlfredScene, rng: random.Random, split: Split) -> AlfredScene | None:
    """Washing depends on whether the object is dirty, which only looking at it tells."""
    goal, room = scene.goal, initial_room(scene.room)
    if goal.kind not in (SIMPLE, CLEANING) or goal.sliced or scene.condition:
        return None
    if goal.object not in CLEANING.objects:
        return None
    only = room.of_type(str(goal.object))
    if room.number(word(str(goal.object))) != 1 or len(only) != 1:
        return None
    name = room.name_of(only[0])
    if not room.thing(name).record["dirtyable"] or any(s.object == name for s in scene.states):
        return None
    washed = _of_type(goal, CLEANING.name)
    placed = _of_type(goal, SIMPLE.name)
    if washed not in possible_goals(washed.type, scene.room):
        return None
    dirty = rng.random() < 0.5
    changes = {
        "goal": washed if dirty else placed,
        "condition": Condition(object=name, dirty=washed, clean=placed),
        "states": (*scene.states, ObjectState(object=name, dirty=dirty)),
    }
    return _if_possible(scene.model_copy(update=changes))


def disturbance(scene: AlfredScene, rng: random.Random, split: Split) -> AlfredScene | None:
    """Somebody moves the object, or opens or closes something, while the task is under way."""
    if scene.disturbances or expected_actions(scene.goals) > _LONGEST:
        return None
    found = list(_changes(scene, initial_room(scene.room)))
    if not found:
        return None
    after = rng.randint(_SOONEST, _LATEST)
    what = rng.choice(found)
    update = {"placements": (what,)} if isinstance(what, Placement) else {"states": (what,)}
    event = Disturbance.model_validate({"after": after, **update})
    return scene.model_copy(update={"disturbances": (event,)})


def _changes(scene: AlfredScene, room: InitialRoom) -> Iterator[Placement | ObjectState]:
    for goal in scene.goals:
        for thing in room.of_type(str(goal.object)):
            for place in room.spare_places(room.name_of(thing)):
                if room.type(place) != goal.parent and not room.thing(place).openable:
                    yield Placement(object=room.name_of(thing), receptacle=place)
        for type in (goal.parent, goal.toggle):
            for thing in room.of_type(str(type)):
                if thing.openable:
                    yield ObjectState(object=room.name_of(thing), open=not thing.open)


def _other_goal(scene: AlfredScene, rng: random.Random) -> AlfredGoal | None:
    """A goal about other objects and another place that is possible in the scene as well."""
    if len(scene.goals) > 1:
        return None
    kind = initial_room(scene.room).where.kind(scene.room)
    used = set[str]().union(*(_types(goal) for goal in scene.goals))
    simple = scene.goal.kind is SIMPLE
    types = [type for type in (KIND_NAMES if simple else _SHORT) if kind in BY_NAME[type].rooms]
    lit = any(goal.toggle is not None for goal in scene.goals)
    goals = [
        goal
        for type in types
        for goal in possible_goals(type, scene.room)
        if used.isdisjoint(_types(goal))
        and not (lit and goal.toggle is not None)
        and expected_actions((*scene.goals, goal)) <= _LONGEST
    ]
    if not goals:
        return None
    object = rng.choice(sorted({str(goal.object) for goal in goals}))
    goal = rng.choice([goal for goal in goals if goal.object == object])
    moved = {initial_room(scene.room).type(p.object) for p in scene.placements}
    if str(goal.object) in moved or goal.movable in moved:
        return None
    alone = scene.model_copy(update={"goal": goal, "also": (), "condition": None})
    return goal if _if_possible(alone) is not None else None


def _types(goal: AlfredGoal) -> set[str]:
    """The types of the objects that a goal is about; of its place too, which may become full."""
    knives = {"Knife", "ButterKnife"} if goal.sliced else set()
    return {str(t) for t in (goal.object, goal.movable, goal.parent) if t} | knives


def _of_type(goal: AlfredGoal, type: TaskType) -> AlfredGoal:
    return AlfredGoal(type=type, object=goal.object, parent=goal.parent)


_RARE = 3
"""The new object is drawn from this many of the rarest types."""


def changed(
    scene: AlfredScene, change: str, rng: random.Random, split: Split
) -> AlfredScene | None:
    """The changed scene, or None if the drawn change is not possible."""
    return _CHANGES[change](scene, rng, split)


def _another_room(scene: AlfredScene, rng: random.Random, split: Split) -> AlfredScene | None:
    goal = scene.goal
    if scene.also or scene.condition or scene.disturbances:
        return None
    room = rng.choice(rooms(rng.choice(goal.kind.rooms), split))
    if room == scene.room or goal not in possible_goals(goal.type, room):
        return None
    return scene_for(goal, room, rng)


def _rarer_object(scene: AlfredScene, rng: random.Random, split: Split) -> AlfredScene | None:
    if scene.also or scene.condition or scene.disturbances:
        return None
    count = _rooms_with()
    goals = possible_goals(scene.goal.type, scene.room)
    here = count[str(scene.goal.object)]
    rarer = sorted(
        {str(g.object) for g in goals if count[str(g.object)] < here},
        key=lambda type: (count[type], type),
    )
    if not rarer:
        return None
    object = rng.choice(rarer[:_RARE])
    return scene_for(rng.choice([g for g in goals if g.object == object]), scene.room, rng)


@lru_cache(maxsize=1)
def _rooms_with() -> Counter[str]:
    """Object type -> number of the 120 rooms that have one."""
    count: Counter[str] = Counter()
    for kind in Kind:
        for name in rooms(kind):
            room = initial_room(name)
            count.update({room.type(item) for item in room.items})
    return count


def _combined(scene: AlfredScene, rng: random.Random, split: Split) -> AlfredScene | None:
    return _grown(scene, scene.goal.kind.combined, rng)


def _grown(scene: AlfredScene, types: Sequence[TaskType], rng: random.Random) -> AlfredScene | None:
    """A goal of one of these types that keeps as many of the old parameters as possible."""
    if scene.also or scene.condition or scene.disturbances:
        return None
    goals = [
        goal
        for type in types
        for goal in possible_goals(type, scene.room)
        if goal.object == scene.goal.object
    ]
    goals = [g for g in goals if g.parent == scene.goal.parent] or goals
    return scene_for(rng.choice(goals), scene.room, rng) if goals else None


def _distractors(scene: AlfredScene, rng: random.Random, split: Split) -> AlfredScene | None:
    """Swap objects: others take the place of the target object."""
    room = initial_room(scene.room)
    wanted = [name for name in room.items if room.type(name) == scene.goal.object]
    moved = {p.object: p.receptacle for p in scene.placements}
    if not wanted:
        return None
    name = rng.choice(wanted)
    place = moved.get(name) or _place_of(room, name)
    others = [n for n in room.items if n not in moved and room.type(n) != scene.goal.object]
    if place is None or len(others) < 2:
        return None
    added = tuple(Placement(object=n, receptacle=place) for n in rng.sample(others, 2))
    return _if_possible(scene.model_copy(update={"placements": (*scene.placements, *added)}))


def _place_of(room: InitialRoom, name: str) -> str | None:
    """The receptacle of an object; None if it has none with a name."""
    holder = room.holder(room.thing(name))
    try:
        return None if holder is None else room.name_of(holder)
    except KeyError:  # A sink that is spoken of as its basin.
        return None


def _changed_state(scene: AlfredScene, rng: random.Random, split: Split) -> AlfredScene | None:
    """Open a door or drawer, or make the target object dirty."""
    room = initial_room(scene.room)
    known = {state.object for state in scene.states}
    doors = [room.name_of(t) for type in sorted(DOORS) for t in room.of_type(type)]
    doors = [d for d in doors if d not in known and not room.thing(d).open]
    dishes = [room.name_of(t) for t in room.of_type(str(scene.goal.object))]
    dishes = [d for d in dishes if d not in known and room.thing(d).record["dirtyable"]]
    states = [ObjectState(object=d, open=True) for d in doors]
    states += [ObjectState(object=d, dirty=True) for d in dishes]
    if not states:
        return None
    chosen = rng.choice(states)
    return _if_possible(scene.model_copy(update={"states": (*scene.states, chosen)}))


def _if_possible(scene: AlfredScene) -> AlfredScene | None:
    scene = AlfredScene.model_validate(scene.model_dump())
    return scene if feasibility(scene.room).can_be_done(scene) else None


_CHANGES: Mapping[str, Callable[[AlfredScene, random.Random, Split], AlfredScene | None]] = {
    "another room": _another_room,
    "rarer object": _rarer_object,
    "harder": lambda scene, rng, split: _grown(scene, scene.goal.kind.harder, rng),
    "combined goals": _combined,
    "distractors": _distractors,
    "changed state": _changed_state,
    "second goal": second_goal,
    "ordering": ordering,
    "condition": condition,
    "disturbance": disturbance,
}
"""Name of a change -> the function that makes it."""
CHANGES: tuple[str, ...] = tuple(_CHANGES)
HARDER = frozenset(
    {"harder", "combined goals", "second goal", "ordering", "condition", "disturbance"}
)
"""Changes after which more has to be done or watched."""
