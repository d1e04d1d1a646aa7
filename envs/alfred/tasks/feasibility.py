"""Whether a goal can be reached in a room, and how many steps it takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache

from inhabit.envs.alfred.scenes.initial_room import InitialRoom, initial_room
from inhabit.envs.alfred.scenes.scene import (
    SLICED,
    AlfredGoal,
    AlfredScene,
    History,
    Placement,
    conditions,
)
from inhabit.envs.alfred.thor.body import HEADINGS, STEP, Cell, Grid, Stand, cell
from inhabit.envs.alfred.thor.objects import ThorObject, ThorObjects
from inhabit.envs.alfred.world.things import DOORS, Rooms
from inhabit.envs.simulators.household.simulator import ActionResult, Simulator

_ITHOR = Rooms()
_FIELD_OF_VIEW = 60
"""Degrees, as in ALFRED; a wider view finds more."""
_MOST_PLACES = 6
"""Receptacles of a type that are tried."""


class Feasibility:
    """Tests in one room."""

    def __init__(self, room: InitialRoom) -> None:
        self._room = room
        self._simulator = Simulator(room.name, catalog=room.where.catalog)
        self._simulator.act({"action": "Initialize", "fieldOfView": _FIELD_OF_VIEW})

    def can_be_done(self, scene: AlfredScene) -> bool:
        """Whether the scene can be built, is unsolved at the start, and is solvable."""
        with self._for_now():
            return (
                all(self._rearrange(p, scene.goal) for p in scene.placements)
                and not self._solved(scene.goal)
                and self._can_reach(scene.goal)
            )

    def _rearrange(self, placement: Placement, goal: AlfredGoal) -> bool:
        """Whether the object fits there and, if it is a target, can be found there."""
        thing = self._room.thing(placement.object)
        place = self._room.thing(placement.receptacle)
        needed = thing.type == goal.object and place.type in DOORS
        return self._put(thing.id, place.id) and (not needed or self._shows(thing.id))

    def _solved(self, goal: AlfredGoal) -> bool:
        met, total = conditions(goal, self._world(), History())
        return met == total

    def _can_reach(self, goal: AlfredGoal) -> bool:
        """Whether the goal can be reached, with every object taken from where it is."""
        wanted = self._wanted(goal)
        if goal.toggle is not None:
            return bool(wanted)
        movables = self._all(goal.movable)[:2] if goal.movable is not None else [None]
        return any(
            self._lead(goal, wanted, movable, place)
            for place in self._all(goal.parent)[:_MOST_PLACES]
            for movable in movables
        )

    def _wanted(self, goal: AlfredGoal) -> Sequence[str]:
        """Ids of the objects to use; slices are cut."""
        whole = self._all(goal.object)
        if goal.sliced and whole:
            self._do("SliceObject", whole[0].id)
            whole = self._world().of_type(f"{goal.object}{SLICED}")
        return [t.id for t in whole]

    def _lead(
        self, goal: AlfredGoal, wanted: Sequence[str], movable: ThorObject | None, place: ThorObject
    ) -> bool:
        """Whether enough targets can be brought to a receptacle."""
        needed = goal.kind.count
        with self._for_now():
            arrived = 0
            for thing in wanted:
                if self._treat(goal, thing) and self._put(thing, (movable or place).id):
                    arrived += 1
                if arrived == needed:
                    return movable is None or self._put(movable.id, place.id)
        return False

    def _treat(self, goal: AlfredGoal, thing: str) -> bool:
        """Whether the object fits the appliance for its treatment, and is visible there."""
        treatment = goal.kind.treatment
        types = treatment.inside if treatment is not None else ()
        places = [place for type in types for place in self._all(type)]
        return not types or any(self._put(thing, p.id) and self._shows(thing) for p in places)

    def _shows(self, thing: str) -> bool:
        """Whether some pose allows interaction with it, with all doors open."""
        with self._for_now():
            shut = self._world().shut_in(self._world()[thing])
            if shut is not None:
                self._do("OpenObject", shut.id)
            answer = self._simulator.act(
                {
                    "action": "GetInteractablePoses",
                    "objectId": thing,
                    "standings": [True],
                    "maxPoses": 1,
                }
            )
        return bool(answer.value)

    def _put(self, thing: str, place: str) -> bool:
        """Pick up an object and put it somewhere; the receptacle is opened and closed."""
        holder = self._world()[place]
        self._do("PickupObject", thing)
        shut = holder.shut
        if shut:
            self._do("OpenObject", place)
        done = self._do("PutObject", place).success
        if shut:
            self._do("CloseObject", place)
        return done

    def _do(self, action: str, object_id: str) -> ActionResult:
        return self._simulator.act({"action": action, "objectId": object_id, "forceAction": True})

    @contextmanager
    def _for_now(self) -> Iterator[None]:
        """Undo all changes at the end."""
        token = self._simulator.act({"action": "Snapshot"}).value
        try:
            yield
        finally:
            self._simulator.act({"action": "Restore", "snapshot": token})
            self._simulator.act({"action": "Forget", "snapshot": token})

    def _world(self) -> ThorObjects:
        things = self._simulator.things.values()
        return ThorObjects({**t.metadata, "visible": False} for t in things if t.present)

    def _all(self, type: str | None) -> Sequence[ThorObject]:
        """The reachable objects of a type."""
        world = self._world()
        return [world[t.id] for t in self._room.of_type(str(type)) if t.id in world]


@lru_cache(maxsize=32)
def feasibility(room: str, where: Rooms = _ITHOR) -> Feasibility:
    """The tests for that room."""
    return Feasibility(initial_room(room, where))


_NEAR = 0.8
_LOOKS = 2


def reference_cost(scene: AlfredScene, where: Rooms = _ITHOR) -> int:
    """Estimated low-level steps of a good solution, at least 1."""
    room = initial_room(scene.room, where)
    grid = _grid(scene.room, where)
    assert scene.start is not None
    stand: Stand = (*cell(scene.start.x, scene.start.z), scene.start.rotation)
    total = 0
    for stop, interactions in _stops(scene, room):
        ways = grid.ways(stand)
        ends = [s for s in _stands(stop, grid) if s in ways.cost]
        if ends:
            stand = min(ends, key=lambda s: (ways.cost[s], s))
            total += ways.cost[stand] + _LOOKS
        total += interactions
    return max(total, 1)


@lru_cache(maxsize=32)
def _grid(room: str, where: Rooms) -> Grid:
    """The free cells of a room, with the paths that were found on them."""
    return Grid(initial_room(room, where).free_cells)


def _stands(thing: ThorObject, grid: Grid) -> Sequence[Stand]:
    """The poses that face an object from the nearest cells."""
    reach = {(x, z): thing.reach(x * STEP, z * STEP) for x, z in grid.places}
    near = max(_NEAR, min(reach.values()))
    return [(*place, _facing(thing, place)) for place, far in reach.items() if far <= near]


def _facing(thing: ThorObject, place: Cell) -> int:
    """The heading from a cell towards an object."""
    x, z = thing.center[0] - place[0] * STEP, thing.center[2] - place[1] * STEP
    return max(HEADINGS, key=lambda turn: HEADINGS[turn][0] * x + HEADINGS[turn][1] * z)


def _stops(scene: AlfredScene, room: InitialRoom) -> Sequence[tuple[ThorObject, int]]:
    """The places to visit in order, with the number of interactions at each."""
    return [stop for goal in scene.goals for stop in _stops_of(goal, scene, room)]


def _stops_of(
    goal: AlfredGoal, scene: AlfredScene, room: InitialRoom
) -> Sequence[tuple[ThorObject, int]]:
    moved = {p.object: room.thing(p.receptacle) for p in scene.placements}

    def first(type: str) -> tuple[ThorObject, int]:
        """An object of the type at its start. A closed door adds two interactions."""
        thing = room.of_type(type)[0]
        name = room.name_of(thing)
        outer = moved.get(name) or room.holder(thing)
        shut = outer is not None and outer.openable and not outer.open
        return (outer if name in moved and outer is not None else thing), 2 if shut else 0

    stops: list[tuple[ThorObject, int]] = []

    def add(type: str | None, interactions: int) -> None:
        if type is not None and room.count(type):
            thing, doors = first(type)
            stops.append((thing, interactions + doors))

    object = str(goal.object)
    if goal.sliced:
        add("Knife" if room.count("Knife") else "ButterKnife", 1)
        add(object, 2)
    add(object, 1)
    treatment = goal.kind.treatment
    if treatment is not None:
        stops.append((room.of_type(treatment.inside[0])[0], treatment.interactions))
    add(goal.movable, 2)
    end = goal.parent or goal.toggle
    if end is not None and room.count(end):
        place = room.of_type(end)[0]
        doors = 2 if place.openable and not place.open else 0
        stops.append((place, 1 + doors))
        for _ in range(goal.kind.count - 1):
            add(object, 1)
            if treatment is not None:
                stops.append((room.of_type(treatment.inside[0])[0], treatment.interactions))
            stops.append((place, 1 + doors))
    return stops
