"""Samples tasks, words them, and plays them once to see that they can be solved."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from itertools import count
from typing import Self

from inhabit.envs.alfred.env import Alfred
from inhabit.envs.alfred.expert.planner import AlfredPlanner
from inhabit.envs.alfred.language.verbs import preposition, word
from inhabit.envs.alfred.scenes.initial_room import InitialRoom, initial_room
from inhabit.envs.alfred.scenes.scene import (
    AlfredGoal,
    AlfredScene,
    ObjectState,
    Placement,
    StartPose,
    TaskType,
)
from inhabit.envs.alfred.tasks.feasibility import feasibility
from inhabit.envs.alfred.world.kinds import BY_NAME, KIND_NAMES
from inhabit.envs.alfred.world.settings import AlfredSettings, Split
from inhabit.envs.alfred.world.things import IN_SLICES, LOADS, PLACES, Kind, Rooms
from inhabit.envs.core import Task, TaskError
from inhabit.envs.simulators.household.types.things import LAMPS
from inhabit.envs.world.words import plural, with_article


def instruction(goal: AlfredGoal, rng: random.Random) -> str:
    """A random wording of a goal."""
    return rng.choice(goal.kind.says).format_map(_terms(goal))


def instructions(goal: AlfredGoal) -> list[str]:
    """All wordings of a goal."""
    return [wording.format_map(_terms(goal)) for wording in goal.kind.says]


def _terms(goal: AlfredGoal) -> Mapping[str, str]:
    thing = word(f"{goal.object}Sliced" if goal.sliced else str(goal.object))
    place, movable, lamp = (word(t) if t else "" for t in (goal.parent, goal.movable, goal.toggle))
    inside = preposition(movable)
    return {
        "thing": thing,
        "things": plural(thing),
        "a_thing": with_article(thing),
        "A_thing": with_article(thing).capitalize(),
        "a_clean_thing": with_article(f"clean {thing}"),
        "a_hot_thing": with_article(f"hot {thing}"),
        "a_cold_thing": with_article(f"cold {thing}"),
        "in_the_place": f"{preposition(place)} the {place}",
        "movable": movable,
        "a_movable": with_article(movable),
        "in_a_movable": f"{inside} {with_article(movable)}",
        "in_it": f"{inside} it",
        "a_lamp": with_article(lamp),
    }


MAX_STEPS = 50
"""Maximum number of actions. The longest plans take about thirty, exploration included."""


class Rehearsal:
    """An embedded household in this process, without images, for one rehearsal after another."""

    def __init__(self, where: Rooms) -> None:
        """Start nothing yet.

        Args:
            where: the rooms that tasks are sampled in.
        """
        settings = AlfredSettings(rooms=where.folder, cells=where.cells, wire="none")
        self._env = Alfred(settings=settings)

    def cost(self, scene: AlfredScene) -> int | None:
        """Low-level steps to solve a scene by recipe; None if that does not solve it.

        The agent walks to all that is not in view, where the expert may tilt its head: the costs of
        tasks stay what they were.
        """
        task = Task(
            id="rehearsal",
            env="alfred",
            kind=scene.goal.type,
            goal="-",
            scene=scene.model_dump(mode="json", exclude_defaults=True),
        )
        self._env.reset(task, seed=0)
        planner, total = AlfredPlanner(trying=False), 0
        for _ in range(MAX_STEPS):
            plan = planner.plan(Alfred._episode(self._env))
            if not plan:
                return None
            outcome = self._env.act(plan[0])
            total += outcome.cost
            if outcome.over:
                return max(total, 1)
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._env.close()


_ITHOR = Rooms()
_TRIES, _MOST_TRIES = 60, 600
_MOST_MOVED = 3
"""Maximum number of objects that are moved from their place."""


def sample(
    n: int,
    seed: int,
    settings: AlfredSettings | None = None,
    kinds: Collection[str] = (),
    rooms: Collection[str] = (),
) -> Iterator[Task]:
    """`n` tasks, the seven types in turn. The first k tasks do not depend on `n`.

    Args:
        n: how many.
        seed: other seeds give other tasks.
        settings: which rooms they are sampled in, and the rule of cells. Types that are not
            possible in any of the user's rooms are left out.
        kinds: of tasks to keep among the `n`; any by default. Others are left out unrehearsed.
        rooms: to keep tasks of, likewise.

    Raises:
        SceneError: the folder of the user's rooms has none, or one that cannot be read.
        TaskError: nothing can be done in these rooms.
    """
    settings = settings or AlfredSettings()
    where = Rooms(settings.rooms, settings.cells)
    known: set[tuple[str, AlfredGoal]] = set()
    types = possible_types(where) if where.folder else KIND_NAMES
    with Rehearsal(where) as rehearsal:
        for i in range(n):
            rng = random.Random(f"alfred {settings.split} {seed} {i}")
            type = types[i % len(types)]
            if kinds and type not in kinds:
                continue
            for scene in _new_scenes(type, rng, settings.split, known, where):
                wanted = not rooms or scene.room in rooms
                cost = rehearsal.cost(scene) if wanted else None
                if cost is not None or not wanted:
                    break
            known.add((scene.room, scene.goal))
            if cost is None:
                continue
            yield Task(
                id=f"alfred-{'own' if where.folder else settings.split}-{seed}-{i}",
                env="alfred",
                kind=type,
                goal=instruction(scene.goal, rng),
                scene=scene.model_dump(mode="json", exclude_defaults=True),
                max_steps=MAX_STEPS,
                reference_cost=cost,
            )


def kinds(settings: AlfredSettings) -> Sequence[str]:
    """ALFRED's task types."""
    return KIND_NAMES


def rooms(settings: AlfredSettings) -> Mapping[str, Sequence[str]]:
    """Every room that tasks are sampled in, and the rooms of each type: "living_room"."""
    where = Rooms(settings.rooms, settings.cells)
    by_kind = {kind.replace(" ", "_"): where.of(kind, settings.split) for kind in Kind}
    return by_kind | {name: (name,) for names in by_kind.values() for name in names}


def possible_types(where: Rooms) -> Sequence[TaskType]:
    """The task types that some of the user's rooms allow.

    Raises:
        SceneError: the folder of rooms has none, or one that cannot be read.
        TaskError: there is no such type.
    """
    found = [
        type
        for type in KIND_NAMES
        if any(
            possible_goals(type, r, where) for kind in BY_NAME[type].rooms for r in where.of(kind)
        )
    ]
    if not found:
        raise TaskError(
            f"The rooms of {where.folder!r} support no task: ALFRED's tasks need objects "
            "that can be picked up, and reachable furniture to put them on."
        )
    return found


def _new_scenes(
    type: TaskType,
    rng: random.Random,
    split: Split,
    known: Set[tuple[str, AlfredGoal]],
    where: Rooms,
) -> Iterator[AlfredScene]:
    """Scenes whose goal is new for their room; after many attempts, repeated ones."""
    for attempt in count():
        if where.folder and attempt > _MOST_TRIES:
            raise TaskError(
                f"Found no solvable task of type {type!r} in the rooms of {where.folder!r} "
                f"in {attempt} attempts. Add rooms, or choose another type."
            )
        scene = draw_scene(type, rng, split, where)
        if scene is not None and (attempt > _TRIES or (scene.room, scene.goal) not in known):
            yield scene


def draw_scene(
    type: TaskType, rng: random.Random, split: Split, where: Rooms = _ITHOR
) -> AlfredScene | None:
    """A scene for a task of that type; None if the sampled room or goal is not feasible."""
    there = where.of(rng.choice(BY_NAME[type].rooms), split)
    if not there:
        return None
    room = rng.choice(there)
    goals = possible_goals(type, room, where)
    if not goals:
        return None
    # First the object, then the rest: else those with many places would crowd out the others.
    object = rng.choice(sorted({str(goal.object) for goal in goals}))
    goal = rng.choice([goal for goal in goals if goal.object == object])
    return scene_for(goal, room, rng, where)


def scene_for(
    goal: AlfredGoal, name: str, rng: random.Random, where: Rooms = _ITHOR
) -> AlfredScene | None:
    """A scene in that room with a goal that is possible there; None if it is not feasible."""
    room = initial_room(name, where)
    placements = tuple(_rearranged(goal, room, rng))
    x, z = rng.choice(room.free_cells)
    scene = AlfredScene.model_validate(
        {
            "room": room.name,
            "goal": goal,
            "start": StartPose(x=x * 0.25, z=z * 0.25, rotation=rng.choice((0, 90, 180, 270))),
            "placements": placements,
            # As in ALFRED, the light is for the agent to switch on.
            "states": tuple(
                ObjectState(object=name, on=False) for name in room.lit(goal.toggle or "")
            ),
        },
        context={"rooms": (room.name,)},
    )
    return scene if feasibility(room.name, where).can_be_done(scene) else None


def goals_of(type: TaskType) -> Iterator[AlfredGoal]:
    """Every plausible goal of a kind, in any room."""
    kind = BY_NAME[type]
    if kind.light:
        for object in kind.objects:
            yield from (AlfredGoal(type=type, object=object, toggle=lamp) for lamp in LAMPS)
    elif kind.movable:
        for movable, loads in LOADS.items():
            for object in loads:
                for parent in PLACES[movable]:
                    yield AlfredGoal(type=type, object=object, movable=movable, parent=parent)
    else:
        for object in kind.objects:
            for parent in PLACES[object]:
                if kind.treatment is None or parent != kind.treatment.inside[0]:
                    yield from _with_slices(AlfredGoal(type=type, object=object, parent=parent))


def _with_slices(goal: AlfredGoal) -> Iterator[AlfredGoal]:
    if goal.kind.count == 1 or goal.object not in IN_SLICES:
        yield goal
    if goal.object in IN_SLICES:
        yield goal.model_copy(update={"sliced": True})


@lru_cache(maxsize=1024)
def possible_goals(type: TaskType, name: str, where: Rooms = _ITHOR) -> Sequence[AlfredGoal]:
    """Every plausible goal of a type that is reachable in that room."""
    room = initial_room(name, where)
    return [goal for goal in goals_of(type) if _possible(goal, room)]


def _possible(goal: AlfredGoal, room: InitialRoom) -> bool:
    object = str(goal.object)
    several = 1 if goal.sliced else goal.kind.count
    if room.count(object) < several:
        return False
    if goal.toggle is not None:
        return room.count(goal.toggle) > 0
    if goal.sliced and room.count("Knife") + room.count("ButterKnife") == 0:
        return False
    if goal.movable is not None and not room.fits(object, goal.movable):
        return False
    treatment = goal.kind.treatment
    if treatment is not None and not room.fits(object, treatment.inside[0]):
        return False
    return room.fits(goal.movable or object, str(goal.parent), times=several)


def _rearranged(goal: AlfredGoal, room: InitialRoom, rng: random.Random) -> Iterator[Placement]:
    """Move a few objects, so that the same room differs between tasks."""
    wanted = [name for name in room.items if room.type(name) == goal.object]
    others = [name for name in room.items if room.type(name) in PLACES and name not in wanted]
    moved = rng.sample(wanted, 1) if wanted and rng.random() < 0.5 else []
    moved += rng.sample(others, min(len(others), rng.randint(0, _MOST_MOVED - 1)))
    taken: set[str] = set()
    for name in moved:
        places = [
            place
            for place in room.spare_places(name)
            if place not in taken and room.type(place) != goal.parent
        ]
        if places:
            place = rng.choice(places)
            taken.add(place)
            yield Placement(object=name, receptacle=place)
