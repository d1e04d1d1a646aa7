"""Where the furniture of a room stands, as people say it: next to what, in a corner, on what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from inhabit.envs.alfred.language.naming import word
from inhabit.envs.alfred.thor.objects import ThorObject
from inhabit.envs.simulators.household.geometry.outline import Outline
from inhabit.envs.simulators.household.types.things import LAMPS, those

_LANDMARKS = those("landmark")
_NEAR = 0.35
"""Metres between boxes on the floor within which things stand next to each other."""
_AT_WALL = 0.3
"""Metres from a wall within which a thing stands at it."""
_Wall = tuple[int, bool, int]
_WALLS: Sequence[_Wall] = ((0, False, 1), (0, True, -1), (1, False, -1), (1, True, 1))
"""Of each wall: its axis on the floor (0: x, 1: z), whether it is the upper one, and, for someone
who faces it, the sign of the other axis to the right (Unity's frame is left-handed)."""


@dataclass(frozen=True, slots=True)
class Place:
    """One thing that is true of where something stands."""

    relation: str
    """"beside", "left", "right", "on", "window" or "corner"."""
    other: str = ""
    """Noun of the thing that it is told by, for the first four."""


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

    def of(self, noun: str) -> Sequence[Place]:
        """What can be said about the only thing of a noun; nothing if there are several."""
        thing = self._alone.get(noun)
        return [] if thing is None else list(self._places(noun, thing))

    def _places(self, noun: str, thing: ThorObject) -> Iterator[Place]:
        if thing.type in LAMPS:
            for parent in thing.parents:
                holder = self._by_id.get(parent)
                if holder is not None and self._alone.get(word(holder.type)) is holder:
                    yield Place("on", word(holder.type))
            return
        if thing.type not in _LANDMARKS:
            return
        others = {n: t for n, t in self._alone.items() if t.type in _LANDMARKS and n != noun}
        near = min(others, key=lambda other: (_gap(thing, others[other]), other), default="")
        if near and 0 <= _gap(thing, others[near]) <= _NEAR:
            yield Place("beside", near)
            if side := self._side(thing, others[near]):
                yield Place(side, near)
        if len({wall[0] for wall in self._walls(thing)}) == 2:
            yield Place("corner")
        if any(_gap(thing, window) <= _NEAR for window in self._windows):
            yield Place("window")

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
