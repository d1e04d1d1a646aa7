"""Objects renamed consistently in the texts of an episode.

A model that learns from few rooms knows by heart what is kept where, and what is done with it.
With other names in goal, steps and view it has to compare them instead.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from inhabit.envs.alfred.language.naming import word
from inhabit.envs.alfred.scenes.object_types import CARRIED, DOORS, HOLDERS, IN, ITEMS, KNIVES
from inhabit.envs.alfred.scenes.scene import MOVABLE, SLICEABLE, AlfredGoal

_KEPT = {*KNIVES, "EggCracked", "Fridge", "Microwave", "Toilet", "SinkBasin", "StoveBurner"}
"""Types whose names say what they are for."""


@dataclass(frozen=True)
class Renaming:
    """New names for types of objects."""

    types: Mapping[str, str]
    """Another type for a type that is renamed."""

    def __call__(self, text: str) -> str:
        """`text` with the new names."""
        return self._pattern.sub(lambda found: self._names[found[0]], text) if self.types else text

    def goal(self, goal: AlfredGoal) -> AlfredGoal:
        """`goal` of the renamed objects; not one that could be played."""
        fields = ("object", "parent", "movable")
        named = {f: getattr(goal, f) for f in fields}
        return goal.model_copy(update={f: self.types.get(t, t) for f, t in named.items() if t})

    @cached_property
    def _names(self) -> Mapping[str, str]:
        return {word(old): word(new) for old, new in self.types.items()}

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        longest = sorted(self._names, key=len, reverse=True)
        return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest))})(?![a-z])")


def renamed(rng: random.Random) -> Renaming:
    """Swap the names of objects with the same use, at random."""
    types: dict[str, str] = {}
    for group in _groups():
        names = sorted(group)
        types |= zip(names, rng.sample(names, len(names)), strict=True)
    return Renaming(types)


def _groups() -> Iterator[set[str]]:
    """Types with the same use and the same preposition."""
    holders = _all(HOLDERS.values()) - _KEPT - CARRIED
    yield set(SLICEABLE)
    yield set(MOVABLE)
    yield {t for t in _all(ITEMS.values()) - _KEPT if t.removesuffix("Sliced") not in SLICEABLE}
    yield holders & DOORS
    yield holders - DOORS - IN


def _all(tables: Iterable[Iterable[str]]) -> set[str]:
    return {type for types in tables for type in types}
