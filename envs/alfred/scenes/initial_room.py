"""A room before anyone has entered it, and what could be done in it: what tasks are drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from inhabit.envs.alfred.language.naming import ObjectNames
from inhabit.envs.alfred.scenes.rooms import Rooms
from inhabit.envs.alfred.skills.memory import Cell
from inhabit.envs.alfred.skills.routes import STEP
from inhabit.envs.alfred.tasks.object_pairs import PLACES
from inhabit.envs.alfred.thor.objects import ThorObject, ThorObjects

_ARM = 1.0
"""Metres along the floor from the nearest place to stand: a little less than the reach."""
_HIGHEST = 1.9
"""Metres over the floor up to which things are surely seen and reached."""
_SINGLE = ("CoffeeMachine", "HandTowelHolder", "StoveBurner", "ToiletPaperHanger", "Toaster")
"""Receptacles for one thing at a time."""
_ROOMY = ("Bed", "CounterTop", "CoffeeTable", "Desk", "DiningTable", "Dresser", "SideTable", "Sofa")
_HOLLOW = ("Cabinet", "Drawer", "Fridge")
_ITHOR = Rooms()
_SPARE = (*_ROOMY, *_HOLLOW)
"""What things may be put in or on at the start of a task."""


class InitialRoom:
    """A room by name."""

    def __init__(self, name: str, where: Rooms) -> None:
        self.name = name
        self.where = where
        room = where.load(name)
        self._world = ThorObjects(room.objects)
        self._names = ObjectNames(self._world)
        self._cells = sorted(room.cells)
        floor = min(t.center[1] - t.size[1] / 2 for t in self._world)
        self._by_name = {name: self._world[id] for id, name in self._names.all().items()}
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
        """Where one can stand."""
        return self._cells

    @property
    def items(self) -> Sequence[str]:
        """Names of what can be picked up."""
        found = (t for things in self._by_type.values() for t in things if t.pickupable)
        return sorted(map(self.name_of, found))

    def type(self, name: str) -> str:
        """The object type of a name."""
        return self.thing(name).type

    def thing(self, name: str) -> ThorObject:
        """The thing of a name."""
        return self._by_name[name]

    def name_of(self, thing: ThorObject) -> str:
        """The name of a thing."""
        return self._names.of(thing.id)

    def holder(self, thing: ThorObject) -> ThorObject | None:
        """What it lies in or on."""
        around = self._world.around(thing)
        return around[0] if around else None

    def of_type(self, type: str) -> Sequence[ThorObject]:
        """What there is of a type within reach."""
        return self._by_type.get(type, ())

    def lit(self, type: str) -> Sequence[str]:
        """Names of the lamps of a type that the room has switched on, within reach or not."""
        return [name for name, t in sorted(self._by_name.items()) if t.type == type and t.on]

    def count(self, type: str) -> int:
        """How many of a type there are within reach."""
        return len(self.of_type(type))

    def fits(self, object: str, place: str, times: int = 1) -> bool:
        """Whether something of one type can be put in or on one of another type."""
        return any(
            _fits(thing, holder, times)
            for thing in self.of_type(object)
            for holder in self.of_type(place)
            if thing.id != holder.id
        )

    def spare_places(self, name: str) -> Sequence[str]:
        """Names of receptacles where a thing could as well have been left."""
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
    """The room of that name."""
    return InitialRoom(name, where)


def _holds(cupboard: ThorObject, thing: ThorObject) -> bool:
    """Whether furniture is shut in other furniture."""
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
    """Whether it fits by its size, with some room to spare."""
    if holder.type in _SINGLE:
        return not holder.contents
    width, depth = sorted((thing.size[0], thing.size[2]))
    across, along = sorted((holder.size[0], holder.size[2]))
    spare = 1.0 if holder.type in _ROOMY else 0.85
    flat = width <= across * spare and depth * times <= along * spare * 1.2
    if holder.type in _HOLLOW or holder.type in ("Microwave", "Safe"):
        return flat and thing.size[1] <= holder.size[1] * 0.8
    return flat
