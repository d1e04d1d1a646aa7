"""The game's commands as actions, and ways in which a goal may be reached by them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, product
from typing import Self

from inhabit.envs.alfred.alfworld.moment import TREATMENTS, GameMoment
from inhabit.envs.alfred.alfworld.rules import CLOSABLE, HOLDS, kind, word
from inhabit.envs.alfred.scenes.scene import AlfredGoal
from inhabit.envs.alfred.world.things import HOLDERS, ITEMS, Kind, Rooms
from inhabit.envs.core import Action

_ALIKE = 3
"""How many things of a kind the vocabulary numbers."""
_NAME = r"([a-z]+ \d{1,3})"
_FORMS: Mapping[str, str] = {
    "look": "look",
    "inventory": "inventory",
    "help": "help",
    "go to": rf"go to {_NAME}",
    "open": rf"open {_NAME}",
    "close": rf"close {_NAME}",
    "examine": rf"examine {_NAME}",
    "use": rf"use {_NAME}",
    "take": rf"take {_NAME}(?: from {_NAME})?",
    "move": rf"(?:move|put) (?:{_NAME}|it) (?:to|in/on|in|on) {_NAME}",
    **{verb: rf"{verb} (?:{_NAME}|it) with {_NAME}" for verb in TREATMENTS},
    "slice": rf"slice {_NAME} with {_NAME}",
}
_SAID: Mapping[str, str] = {
    "move": "move {} to {}",
    "slice": "slice {} with {}",
    **{verb: f"{verb} {{}} with {{}}" for verb in TREATMENTS},
}
_HELP: Sequence[tuple[str, str]] = (
    ("look:                             ", "look around your current location"),
    ("inventory:                        ", "check your current inventory"),
    ("go to (receptacle):               ", "move to a receptacle"),
    ("open (receptacle):                ", "open a receptacle"),
    ("close (receptacle):               ", "close a receptacle"),
    ("take (object) from (receptacle):  ", "take an object from a receptacle"),
    ("move (object) to (receptacle):  ", "place an object in or on a receptacle"),
    ("examine (something):              ", "examine a receptacle or an object"),
    ("use (object):                     ", "use an object"),
    *(
        (f"{verb} (object) with (receptacle):".ljust(34), f"{verb} an object using a receptacle")
        for verb in ("heat", "clean", "cool")
    ),
    ("slice (object) with (object):     ", "slice an object using a sharp object"),
)
THINK = "think"
_LONGEST_THOUGHT = 2000


def understand(text: str) -> Action | None:
    """The command that a text means, or None.

    "put mug 1 in/on desk 1", as older releases say it, is "move mug 1 to desk 1". "it" is what is
    in the hand, and "take mug 1" is from where it lies. A thought ("think: ...") changes nothing.
    """
    plain = " ".join(text.strip().lstrip("> ").split())
    if plain.lower().startswith("think:") and plain[6:].strip():
        return Action(f"think: {plain[6:].strip()[:_LONGEST_THOUGHT].strip()}", THINK)
    for verb, form in _FORMS.items():
        match = re.fullmatch(form, plain.lower().rstrip(". "))
        if match is not None:
            return say(verb, *match.groups())
    return None


def say(verb: str, *names: str | None) -> Action:
    """A command from its verb and its names, of which a missing one is what is held."""
    given = tuple(name or "it" for name in names)
    if verb == "take":
        given = tuple(name for name in names if name)
        return Action(f"take {' from '.join(given)}", verb, given)
    form = _SAID.get(verb)
    return Action(form.format(*given) if form else " ".join([verb, *given]), verb, given)


def help_text() -> str:
    """What `help` tells, which ends its lines as the game does."""
    return "\n".join(["Available commands:", *(f"  {form}{told}" for form, told in _HELP), ""])


@lru_cache(maxsize=16)
def vocabulary(where: Rooms, room: Kind) -> Sequence[Action]:
    """Every command of a kind of room, in a fixed order.

    Receptacles are numbered up to the most that a room of this kind has.
    """
    places = [
        f"{word} {n}" for word, most in _most(where, room).items() for n in range(1, most + 1)
    ]
    words = sorted({word(type) for type in ITEMS[room] + HOLDERS[room]} - set(HOLDS))
    things = [f"{word} {n}" for word in words for n in range(1, _ALIKE + 1)]
    found = [say("look"), say("inventory")]
    found += [say("go to", place) for place in places]
    for verb in ("open", "close"):
        found += [say(verb, place) for place in places if kind(place) in CLOSABLE]
    found += [say("take", name) for name in things]
    found += [say("move", None, place) for place in places if HOLDS[kind(place)]]
    for verb, one in TREATMENTS.items():
        found += [say(verb, None, place) for place in places if kind(place) == one.place]
    lamps = ("desklamp", "floorlamp")
    found += [say("use", f"{lamp} {n}") for lamp in lamps for n in range(1, _ALIKE + 1)]
    return tuple(found)


def _most(where: Rooms, room: Kind) -> Mapping[str, int]:
    """Receptacle -> the largest number of it in a room of this kind."""
    most: dict[str, int] = {}
    for name in where.of(room):
        words = [word(record["objectType"]) for record in where.load(name).objects]
        for said in sorted(set(words) & set(HOLDS)):
            most[said] = max(most.get(said, 0), words.count(said))
    return dict(sorted(most.items()))


_MOST = 12
"""Sequences of commands that `drafts` gives at most."""


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
