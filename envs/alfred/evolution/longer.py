"""Ways to make an ALFRED task longer: a second goal, an order, a condition, a disturbance."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

from inhabit.envs.alfred.language.naming import word
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
from inhabit.envs.alfred.tasks.sampling import possible_goals
from inhabit.envs.alfred.world.kinds import BY_NAME, CLEANING, KIND_NAMES, LOOKING, SIMPLE
from inhabit.envs.alfred.world.rooms import Split

_SOONEST, _LATEST = 2, 5
"""Number of actions after which a disturbance may come."""
_SHORT = (SIMPLE.name, LOOKING.name)
"""Kinds for a further goal of tasks that are long already."""
_LONGEST = 16
"""Number of actions that the expert may be expected to take for goals that are added to others.
Beyond it most tasks have more than 20 actions, which synthesis rejects."""
_SLICING = 6
"""Further actions for slices: fetch the knife, slice, and put the knife down."""


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
    return _feasible(scene.model_copy(update=changes))


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
    return goal if _feasible(alone) is not None else None


def _types(goal: AlfredGoal) -> set[str]:
    """The types of the objects that a goal is about; of its place too, which may become full."""
    knives = {"Knife", "ButterKnife"} if goal.sliced else set()
    return {str(t) for t in (goal.object, goal.movable, goal.parent) if t} | knives


def _of_type(goal: AlfredGoal, type: TaskType) -> AlfredGoal:
    return AlfredGoal(type=type, object=goal.object, parent=goal.parent)


def _feasible(scene: AlfredScene) -> AlfredScene | None:
    scene = AlfredScene.model_validate(scene.model_dump())
    return scene if feasibility(scene.room).can_be_done(scene) else None
