"""The ways to evolve an ALFRED task. A change is kept if the new task is feasible."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from inhabit.envs.alfred.evolution import longer
from inhabit.envs.alfred.scenes.initial_room import InitialRoom, initial_room
from inhabit.envs.alfred.scenes.scene import AlfredScene, ObjectState, Placement, TaskType
from inhabit.envs.alfred.tasks.feasibility import feasibility
from inhabit.envs.alfred.tasks.sampling import possible_goals, scene_for
from inhabit.envs.alfred.world.rooms import Kind, Split, rooms
from inhabit.envs.alfred.world.things import DOORS

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


def _harder(scene: AlfredScene, rng: random.Random, split: Split) -> AlfredScene | None:
    return _grown(scene, scene.goal.kind.harder, rng)


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
    "harder": _harder,
    "combined goals": _combined,
    "distractors": _distractors,
    "changed state": _changed_state,
    "second goal": longer.second_goal,
    "ordering": longer.ordering,
    "condition": longer.condition,
    "disturbance": longer.disturbance,
}
"""Name of a change -> the function that makes it."""
CHANGES: tuple[str, ...] = tuple(_CHANGES)
HARDER = frozenset(
    {"harder", "combined goals", "second goal", "ordering", "condition", "disturbance"}
)
"""Changes after which more has to be done or watched."""
