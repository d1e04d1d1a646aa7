"""A room before a task: what is where, and how it looks from above."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from inhabit.envs.alfred.language.verbs import ObjectNames, word
from inhabit.envs.alfred.thor.body import STEP, Cell
from inhabit.envs.alfred.thor.objects import ThorObject, ThorObjects
from inhabit.envs.alfred.world.things import DOORS, PLACES, Rooms
from inhabit.envs.core import Task
from inhabit.envs.scene_plan import ScenePlan
from inhabit.envs.simulators.household.geometry.boxes import Outline
from inhabit.envs.simulators.household.rooms.user_rooms import plan_view
from inhabit.envs.simulators.household.types.things import LAMPS, THINGS, those

_LANDMARKS = those("landmark")
_NEAR = 0.35
"""Metres between boxes on the floor within which things stand next to each other."""
_AT_WALL = 0.3
"""Metres from a wall within which a thing stands at it."""
_Wall = tuple[int, bool, int]
_WALLS: Sequence[_Wall] = ((0, False, 1), (0, True, -1), (1, False, -1), (1, True, 1))
"""Each wall: its axis on the floor (0: x, 1: z), whether it is the upper one, and, for someone who
faces it, the sign of the other axis to the right (Unity's frame is left-handed)."""


@dataclass(frozen=True, slots=True)
class LocationFact:
    """One thing that is true of where something stands."""

    relation: str
    """"beside", "left", "right", "on", "window" or "corner"."""
    other: str = ""
    """Noun of the thing that the fact is told by, for the first four relations."""


class Whereabouts:
    """Where the furniture of one room stands."""

    def __init__(
        self, alone: Sequence[ThorObject], things: Iterable[ThorObject], outline: Outline
    ) -> None:
        """Keep what tells a place.

        Args:
            alone: the objects whose noun no other object of the room has.
            things: all objects.
            outline: the room's walls.
        """
        self._alone = {word(t.type): t for t in alone if not t.pickupable}
        self._by_id = {t.id: t for t in things}
        self._windows = [t for t in self._by_id.values() if t.type == "Window"]
        self._outline = outline

    def of(self, noun: str) -> Sequence[LocationFact]:
        """What can be said about the only thing of a noun; nothing if there are several."""
        thing = self._alone.get(noun)
        return [] if thing is None else list(self._places(noun, thing))

    def _places(self, noun: str, thing: ThorObject) -> Iterator[LocationFact]:
        if thing.type in LAMPS:
            for parent in thing.parents:
                holder = self._by_id.get(parent)
                if holder is not None and self._alone.get(word(holder.type)) is holder:
                    yield LocationFact("on", word(holder.type))
            return
        if thing.type not in _LANDMARKS:
            return
        others = {n: t for n, t in self._alone.items() if t.type in _LANDMARKS and n != noun}
        near = min(others, key=lambda other: (_gap(thing, others[other]), other), default="")
        if near and 0 <= _gap(thing, others[near]) <= _NEAR:
            yield LocationFact("beside", near)
            if side := self._side(thing, others[near]):
                yield LocationFact(side, near)
        if len({wall[0] for wall in self._walls(thing)}) == 2:
            yield LocationFact("corner")
        if any(_gap(thing, window) <= _NEAR for window in self._windows):
            yield LocationFact("window")

    def _walls(self, thing: ThorObject) -> Iterator[_Wall]:
        """The walls that a thing stands at."""
        for wall in _WALLS:
            axis, upper, _ = wall
            bound = (self._outline.high if upper else self._outline.low)[axis]
            edge = 2 * axis
            reach = abs(thing.center[edge] - bound) - thing.size[edge] / 2
            if reach <= _AT_WALL:
                yield wall

    def _side(self, thing: ThorObject, other: ThorObject) -> str:
        """The side of the other for who faces the wall behind both, "left" or "right"; else ""."""
        shared = [wall for wall in self._walls(thing) if wall in [*self._walls(other)]]
        if len(shared) != 1:
            return ""
        axis, _, sign = shared[0]
        along = 2 * (1 - axis)
        offset = (thing.center[along] - other.center[along]) * sign
        apart = (thing.size[along] + other.size[along]) / 2 - 0.1
        if abs(offset) < apart:
            return ""
        return "right" if offset > 0 else "left"


def _gap(one: ThorObject, other: ThorObject) -> float:
    """Metres between two boxes as seen from above; negative if they overlap."""
    return max(
        abs(one.center[i] - other.center[i]) - (one.size[i] + other.size[i]) / 2 for i in (0, 2)
    )


_ARM = 1.0
"""Metres along the floor from the nearest cell, a little less than the agent's reach."""
_HIGHEST = 1.9
"""Metres above the floor up to which objects are certainly visible and reachable."""
_ROOMY = those("roomy")
_SPARE = _ROOMY | those("hollow")
"""Receptacles where an object may start."""
_ITHOR = Rooms()


class InitialRoom:
    """The initial state of a room."""

    def __init__(self, name: str, where: Rooms) -> None:
        self.name = name
        self.where = where
        room = where.load(name)
        self._world = ThorObjects(room.objects)
        self._names = ObjectNames(self._world)
        self._cells = sorted(room.cells)
        floor = min(t.center[1] - t.size[1] / 2 for t in self._world)
        self._by_name = {name: self._world[id] for id, name in self._names.all().items()}
        self._numbers = Counter(word(thing.type) for thing in self._by_name.values())
        self._by_type: dict[str, list[ThorObject]] = {}
        for thing in self._by_name.values():
            if self._can_reach(thing, floor):
                self._by_type.setdefault(thing.type, []).append(thing)

    def _can_reach(self, thing: ThorObject, floor: float) -> bool:
        if thing.pickupable and not thing.parents:
            return False  # What lies nowhere is inside something.
        if not thing.pickupable and any(_holds(other, thing) for other in self._world):
            return False
        if not floor - 0.1 <= thing.center[1] <= floor + _HIGHEST:
            return False
        return any(thing.reach(x * STEP, z * STEP) <= _ARM for x, z in self._cells)

    @property
    def free_cells(self) -> Sequence[Cell]:
        """The cells where the agent can stand."""
        return self._cells

    @property
    def items(self) -> Sequence[str]:
        """Names of the pickupable objects."""
        found = (t for things in self._by_type.values() for t in things if t.pickupable)
        return sorted(map(self.name_of, found))

    def type(self, name: str) -> str:
        """The object type of a name."""
        return self.thing(name).type

    def thing(self, name: str) -> ThorObject:
        """The object of a name."""
        return self._by_name[name]

    def name_of(self, thing: ThorObject) -> str:
        """The name of an object."""
        return self._names.of(thing.id)

    def holder(self, thing: ThorObject) -> ThorObject | None:
        """The receptacle of an object."""
        around = self._world.around(thing)
        return around[0] if around else None

    def of_type(self, type: str) -> Sequence[ThorObject]:
        """The reachable objects of a type."""
        return self._by_type.get(type, ())

    def lit(self, type: str) -> Sequence[str]:
        """Names of the lamps of a type that are on in the room, reachable or not."""
        return [name for name, t in sorted(self._by_name.items()) if t.type == type and t.on]

    @property
    def nouns(self) -> frozenset[str]:
        """The words for the types of all objects, reachable or not."""
        return frozenset(self._numbers)

    def number(self, noun: str) -> int:
        """The number of objects that are called by a noun, reachable or not."""
        return self._numbers[noun]

    @cached_property
    def whereabouts(self) -> Whereabouts:
        """Where the furniture stands."""
        alone = [t for t in self._by_name.values() if self._numbers[word(t.type)] == 1]
        return Whereabouts(alone, self._world, self.where.load(self.name).outline)

    @cached_property
    def _looks(self) -> Mapping[str, Sequence[str]]:
        # Meshes take a while, and only words need them.
        from inhabit.envs.simulators.household.episode.house import appearances

        return appearances(self.where.load(self.name))

    def looks(self, noun: str) -> Sequence[str]:
        """The colours and materials that all objects of a noun have in the embedded household."""
        found = [
            set(self._looks.get(thing.id, ()))
            for thing in self._by_name.values()
            if word(thing.type) == noun
        ]
        return sorted(set.intersection(*found)) if found else []

    def count(self, type: str) -> int:
        """The number of reachable objects of a type."""
        return len(self.of_type(type))

    def fits(self, object: str, place: str, times: int = 1) -> bool:
        """Whether some object of one type fits in or on some receptacle of another."""
        return any(
            _fits(thing, holder, times)
            for thing in self.of_type(object)
            for holder in self.of_type(place)
            if thing.id != holder.id
        )

    def spare_places(self, name: str) -> Sequence[str]:
        """Names of receptacles where the object could be put instead."""
        thing = self.thing(name)
        types = [type for type in PLACES[thing.type] if type in _SPARE]
        return [
            self._names.of(holder.id)
            for type in types
            for holder in self.of_type(type)
            if _fits(thing, holder, 2) and holder.id not in thing.parents
        ]


@lru_cache(maxsize=128)
def initial_room(name: str, where: Rooms = _ITHOR) -> InitialRoom:
    """The initial state of that room."""
    return InitialRoom(name, where)


def _holds(cupboard: ThorObject, thing: ThorObject) -> bool:
    """Whether one piece of furniture is inside another."""
    return (
        cupboard.type == "Cabinet"
        and cupboard.id != thing.id
        and cupboard.size[1] > thing.size[1]
        and all(
            abs(a - b) < size / 2
            for a, b, size in zip(thing.center, cupboard.center, cupboard.size, strict=True)
        )
    )


def _fits(thing: ThorObject, holder: ThorObject, times: int) -> bool:
    """Whether the object fits by size, with a margin."""
    if holder.type in THINGS and THINGS[holder.type].capacity is not None:
        return not holder.contents
    width, depth = sorted((thing.size[0], thing.size[2]))
    across, along = sorted((holder.size[0], holder.size[2]))
    spare = 1.0 if holder.type in _ROOMY else 0.85
    flat = width <= across * spare and depth * times <= along * spare * 1.2
    if holder.type in DOORS:
        return flat and thing.size[1] <= holder.size[1] * 0.8
    return flat


def scene_plan(task: Task, actions: Sequence[str | None]) -> ScenePlan | None:
    """The room of a task from above; see `Registration.scene_plan`."""
    return plan_view(task, lambda room: ObjectNames(ThorObjects(room.objects)).all())
