"""The game's commands as actions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from inhabit.envs.alfred.alfworld import rules
from inhabit.envs.alfred.alfworld.moment import TREATMENTS
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
        match = re.fullmatch(form, plain.lower().rstrip("."))
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
    words = sorted({rules.word(type) for type in ITEMS[room] + HOLDERS[room]} - set(rules.HOLDS))
    things = [f"{word} {n}" for word in words for n in range(1, _ALIKE + 1)]
    found = [say("look"), say("inventory")]
    found += [say("go to", place) for place in places]
    for verb in ("open", "close"):
        found += [say(verb, place) for place in places if rules.kind(place) in rules.CLOSABLE]
    found += [say("take", name) for name in things]
    found += [say("move", None, place) for place in places if rules.HOLDS[rules.kind(place)]]
    for verb, one in TREATMENTS.items():
        found += [say(verb, None, place) for place in places if rules.kind(place) == one.place]
    lamps = ("desklamp", "floorlamp")
    found += [say("use", f"{lamp} {n}") for lamp in lamps for n in range(1, _ALIKE + 1)]
    return tuple(found)


def _most(where: Rooms, room: Kind) -> Mapping[str, int]:
    """Receptacle -> the largest number of it in a room of this kind."""
    most: dict[str, int] = {}
    for name in where.of(room):
        words = [rules.word(record["objectType"]) for record in where.load(name).objects]
        for word in sorted(set(words) & set(rules.HOLDS)):
            most[word] = max(most.get(word, 0), words.count(word))
    return dict(sorted(most.items()))
