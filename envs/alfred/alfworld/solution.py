"""Ways in which a goal may be reached, in the game's commands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product

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
            yield [*_fetch(now, thing), f"go to {now.where(lamp)[0]}", f"use {lamp}"]
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
        way: list[str] = []
        opened: set[str] = set()
        for thing in things[first : first + count]:
            way += [*_fetch(now, thing, opened), *_bring(now, thing, place, opened)]
        yield way


def _treated(now: GameMoment, thing: str, place: str, goal: AlfredGoal) -> Sequence[str]:
    treatment = goal.kind.treatment
    assert treatment is not None
    opened: set[str] = set()
    way = _fetch(now, thing, opened)
    if not _marked(now, thing, goal):
        machine = TREATMENTS[treatment.name].place
        found = [name for name in now.game.spots if kind(name) == machine]
        way += [f"go to {found[0]}", f"{treatment.name} {thing} with {found[0]}"] if found else []
    return [*way, *_bring(now, thing, place, opened)]


def _fetch(now: GameMoment, thing: str, opened: set[str] | None = None) -> list[str]:
    """The way to having a thing in the hand, which puts down what is in it."""
    opened = set() if opened is None else opened
    if now.held == thing:
        return []
    way = []
    if now.held is not None and not opened:
        free = [r for r in now.game.spots if kind(now.held) in HOLDS[kind(r)] and not now.shut(r)]
        way += _bring(now, now.held, free[0], opened) if free else []
    place = now.where(thing)[0]
    way += [f"go to {place}", *_ajar(now, place, opened), f"take {thing} from {place}"]
    return way


def _bring(now: GameMoment, thing: str, place: str, opened: set[str]) -> list[str]:
    return [f"go to {place}", *_ajar(now, place, opened), f"move {thing} to {place}"]


def _ajar(now: GameMoment, place: str, opened: set[str]) -> list[str]:
    if not now.shut(place) or place in opened:
        return []
    opened.add(place)
    return [f"open {place}"]
