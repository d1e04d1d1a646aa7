"""The reference cost of a task in low-level steps, for path-length weights.

The units are ALFRED's: steps, quarter turns, looks up and down, and interactions. The estimate
needs no simulator: shortest paths on the grid between poses that face the required objects, two
looks at each, and the interactions of the recipe. Like ALFRED's own reference plans, it contains no
exploration.
"""

from __future__ import annotations

from collections.abc import Sequence

from inhabit.envs.alfred.scenes.initial_room import InitialRoom, initial_room
from inhabit.envs.alfred.scenes.scene import AlfredGoal, AlfredScene
from inhabit.envs.alfred.thor.objects import ThorObject
from inhabit.envs.alfred.thor.routes import HEADINGS, STEP, Cell, Grid, Stand, cell
from inhabit.envs.alfred.world.rooms import Rooms

_ITHOR = Rooms()
_NEAR = 0.8
_LOOKS = 2


def reference_cost(scene: AlfredScene, where: Rooms = _ITHOR) -> int:
    """Estimated low-level steps of a good solution, at least 1."""
    room = initial_room(scene.room, where)
    grid = Grid(room.free_cells)
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
