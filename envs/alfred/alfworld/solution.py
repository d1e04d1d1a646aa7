"""Ways in which a goal may be reached, in the game's commands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import Self

from inhabit.envs.alfred.alfworld.moment import TREATMENTS, GameMoment
from inhabit.envs.alfred.alfworld.rules import HOLDS, kind, word
from inhabit.envs.alfred.scenes.scene import AlfredGoal

_MOST = 12
"""Ways that are given at most."""


def drafts(now: GameMoment, goal: AlfredGoal) -> Sequence[Sequence[str]]:
    """Some sequences of commands that may reach the goal, the most promising first."""
    return list(islice(_drafts(now, goal), _MOST))


def _drafts(now: GameMoment, goal: AlfredGoal) -> Iterator[Sequence[str]]:
    wanted = word(str(goal.object))
    things = sorted(
        (n for n in now.game.names if kind(n) == wanted and (n == now.held or now.where(n))),
        key=lambda name: (name != now.held, not _marked(now, name, goal)),
    )
    if goal.toggle is not None:
        lamps = [n for n in now.game.names if kind(n) == now.game.lamp and now.where(n)]
        for thing, lamp in product(things, lamps):
            way = _Way(now).fetch(thing).go(now.where(lamp)[0])
            yield [*way.commands, f"use {lamp}"]
        return
    parent = word(str(goal.parent))
    places = [name for name in now.game.spots if kind(name) == parent]
    places.sort(key=lambda place: -sum(kind(n) == wanted for n in now.inside(place)))
    for place in places:
        there = [name for name in now.inside(place) if kind(name) == wanted]
        if goal.kind.treatment is None:
            others = [name for name in things if name not in there]
            yield from _several(now, others, place, goal.kind.count - len(there))
        else:
            for thing in things:
                yield _treated(now, thing, place, goal)


def _marked(now: GameMoment, name: str, goal: AlfredGoal) -> bool:
    treatment = goal.kind.treatment
    return treatment is None or (TREATMENTS[treatment.name].state, name) in now.game.marks


def _several(
    now: GameMoment, things: Sequence[str], place: str, count: int
) -> Iterator[Sequence[str]]:
    for first in range(len(things) - count + 1):
        way = _Way(now)
        for thing in things[first : first + count]:
            way.fetch(thing).bring(thing, place)
        yield way.commands


def _treated(now: GameMoment, thing: str, place: str, goal: AlfredGoal) -> Sequence[str]:
    treatment = goal.kind.treatment
    assert treatment is not None
    way = _Way(now).fetch(thing)
    machine = TREATMENTS[treatment.name].place
    machines = [name for name in now.game.spots if kind(name) == machine]
    if machines and not _marked(now, thing, goal):
        way.go(machines[0]).commands.append(f"{treatment.name} {thing} with {machines[0]}")
    return way.bring(thing, place).commands


class _Way:
    """Commands, and where one stands, what one holds and what is open after them."""

    def __init__(self, now: GameMoment) -> None:
        self.commands: list[str] = []
        self._now = now
        self._at = now.game.at
        self._held = now.held
        self._opened: set[str] = set()

    def go(self, place: str) -> Self:
        """Go to a receptacle, unless one stands before it: the game refuses that."""
        pose = self._now.game.spots[place]
        if pose != self._at:
            self._at = pose
            self.commands.append(f"go to {place}")
        return self

    def fetch(self, thing: str) -> Self:
        """Have a thing in the hand, which puts down what is in it."""
        if self._held == thing:
            return self
        if self._held is not None and (free := self._free(self._held)) is not None:
            self.bring(self._held, free)
        place = self._now.where(thing)[0]
        self._go_open(place)
        self.commands.append(f"take {thing} from {place}")
        self._held = thing
        return self

    def bring(self, thing: str, place: str) -> Self:
        """Put what is in the hand into a receptacle."""
        self._go_open(place)
        self.commands.append(f"move {thing} to {place}")
        self._held = None
        return self

    def _free(self, held: str) -> str | None:
        """Where to put down a thing: here if possible, or else where nothing has to be opened."""
        spots = self._now.game.spots
        fit = [name for name in spots if kind(held) in HOLDS[kind(name)]]
        return min(fit, key=lambda n: (spots[n] != self._at, self._now.shut(n)), default=None)

    def _go_open(self, place: str) -> None:
        self.go(place)
        if self._now.shut(place) and place not in self._opened:
            self._opened.add(place)
            self.commands.append(f"open {place}")
