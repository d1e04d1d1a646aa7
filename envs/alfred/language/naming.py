"""Object names for people and models: the word for a type, and a number per object.

`mug_2` is the second mug of the room in the order of THOR's ids at reset; objects created later
(slices) get the next numbers. `the mug`, without a number, is resolved from what was seen and done:
see `envs/alfred/episode/state.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from inhabit.envs.alfred.thor.objects import ThorObject
from inhabit.envs.simulators.household.types.things import BASINS, THINGS

_SHELL = ("Ceiling", "Doorway", "Floor", "Wall")
"""Types that have no name."""


@lru_cache(maxsize=1024)
def word(type: str) -> str:
    """The word for an object type: "AlarmClock" is "alarm clock"."""
    known = THINGS[type].word if type in THINGS else ""
    return known or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type).lower()


@lru_cache(maxsize=4096)
def squeeze(text: str) -> str:
    """Text without spaces, case and punctuation: "Counter Top" and "countertop" agree."""
    return re.sub(r"[\W_]+", "", text.lower())


@lru_cache(maxsize=4096)
def split_name(text: str) -> tuple[str, int | None]:
    """A spoken name as squeezed word and number: "the Mug 2" is ("mug", 2)."""
    plain = re.sub(r"^(the|a|an)\s+", "", text.strip().lower())
    match = re.fullmatch(r"(.*?\D)[\s_]*(\d{1,4})", plain, re.DOTALL)
    if match is None:
        return squeeze(plain), None
    return squeeze(match[1]), int(match[2])


class ObjectNames:
    """The names of one room's objects. New objects get new names; no name changes."""

    def __init__(self, things: Iterable[ThorObject] = ()) -> None:
        self._by_id: dict[str, str] = {}
        self._by_name: dict[tuple[str, int], str] = {}
        self._count: dict[str, int] = {}
        self.add(things)

    def add(self, things: Iterable[ThorObject]) -> None:
        """Name every object that has no name yet."""
        things = list(things)
        types = {thing.type for thing in things}
        for thing in sorted(things, key=lambda t: t.id):
            unspoken = thing.type in _SHELL or BASINS.get(thing.type) in types
            if thing.id not in self._by_id and not unspoken:
                self._name(thing)

    def _name(self, thing: ThorObject) -> None:
        said = word(thing.type)
        number = self._count[said] = self._count.get(said, 0) + 1
        self._by_id[thing.id] = f"{said}_{number}"
        self._by_name[squeeze(said), number] = thing.id

    def __contains__(self, id: object) -> bool:
        return id in self._by_id

    def of(self, id: str) -> str:
        """The name of an object.

        Raises:
            KeyError: it has none: a sink that is named by its basin, or not an object of the room.
        """
        return self._by_id[id]

    def id(self, squeezed: str, number: int) -> str | None:
        """The id of a name, in the form that `split_name` returns."""
        return self._by_name.get((squeezed, number))

    def all(self) -> Mapping[str, str]:
        """Id -> name, in the order of naming."""
        return self._by_id

    def copy(self) -> ObjectNames:
        """An independent copy."""
        twin = ObjectNames()
        twin._by_id = dict(self._by_id)
        twin._by_name = dict(self._by_name)
        twin._count = dict(self._count)
        return twin
