"""The grammar of actions: the verbs, their wording, and the parser.

An action names objects as a person does: "the mug" or "the mug_2". The name is resolved when the
action is executed. EmbodiedBench's wordings are accepted too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from inhabit.envs.alfred.language.naming import split_name, squeeze, word
from inhabit.envs.alfred.world.things import IN, SYNONYMS, TYPES
from inhabit.envs.core import Action

IT = "it"
"""The pronoun for the held object."""

_WORDS: Mapping[str, str] = {
    **{squeeze(said): word(type) for said, type in SYNONYMS.items()},
    **{squeeze(type): word(type) for type in sorted(TYPES)},
    **{squeeze(word(type)): word(type) for type in sorted(TYPES)},
}
_IN = {word(type) for type in IN}

_NOUN = r"(?:(?:the|a|an|some|your|my) )?(?P<{}>\w[\w \-]{{0,60}}?)"
_THING, _PLACE = _NOUN.format("thing"), _NOUN.format("place")
_FROM = r"(?: (?:from|off|out of) .*)?"
_HAND = r"(?:the )?(?:object|thing|item)s? in (?:your |the |my )?hands?"

_PATTERNS: tuple[tuple[str, str], ...] = (
    ("look around", r"look around|look"),
    ("explore", r"explore(?: the room| further)?"),
    ("move ahead", r"(?:move|step|walk|go) (?:ahead|forwards?)"),
    ("move back", r"(?:move|step|walk|go) (?:back|backwards?)"),
    ("move left", r"(?:move|step|walk|go) (?:to the )?left"),
    ("move right", r"(?:move|step|walk|go) (?:to the )?right"),
    ("look up", r"look up(?:wards?)?"),
    ("look down", r"look down(?:wards?)?"),
    ("turn left", r"(?:turn|rotate) left"),
    ("turn right", r"(?:turn|rotate) right"),
    ("put down", rf"(?:put|place|set|lay) (?:down|away) (?:it|{_HAND})"),
    ("put down", r"(?:put|place|set|lay) it (?:down|away)"),
    ("put down", rf"(?:put|place|set|lay) {_THING} (?:down|away)"),
    ("put down", rf"(?:put|place|set|lay) down {_THING}"),
    ("drop", rf"drop (?:it|{_HAND})"),
    ("drop", rf"drop {_THING}"),
    ("put", rf"(?:put|place) {_THING} (?:in/on|inside|into|in|onto|on|to|at) {_PLACE}"),
    ("go to", rf"(?:go|walk|move|navigate)(?: over)?(?: to)? {_THING}"),
    ("find", rf"(?:find|locate) {_THING}"),
    ("pick up", rf"(?:pick up|take|grab|get|fetch) {_THING}{_FROM}"),
    ("pick up", rf"pick {_THING} up{_FROM}"),
    ("open", rf"open(?: up)? {_THING}"),
    ("close", rf"(?:close|shut) {_THING}"),
    ("turn on", rf"(?:turn|switch|toggle) on {_THING}"),
    ("turn off", rf"(?:turn|switch|toggle) off {_THING}"),
    ("turn on", rf"(?:turn|switch|toggle) {_THING} on"),
    ("turn off", rf"(?:turn|switch|toggle) {_THING} off"),
    ("slice", rf"(?:slice|cut) {_THING}"),
)
_COMPILED = tuple((verb, re.compile(pattern)) for verb, pattern in _PATTERNS)
_EMPTY = frozenset({"a", "an", "the", "to", "in", "on", "off", "up", "down"})
"""Words that are not part of a name."""
_LONGEST = 200


def say(verb: str, *things: str) -> Action:
    """An action in its canonical wording: "put", "it", "sink" gives "put it in the sink"."""
    return Action(_WORDING[verb](*things), verb, things)


def understand(text: str) -> Action | None:
    """Parse a text; None if it is not an action."""
    action = _read(text) if len(text) <= _LONGEST else None
    # What would be understood as something else when it is repeated was not understood.
    return action if action is not None and _read(action.text) == action else None


def _read(text: str) -> Action | None:
    plain = re.sub(r"\s+", " ", text.strip().lower()).rstrip(".! ")
    for verb, pattern in _COMPILED:
        match = pattern.fullmatch(plain)
        if match is not None:
            things = [noun(phrase) for phrase in match.groupdict().values() if phrase]
            return say(verb, *things) if all(things) else None
    return None


def noun(phrase: str) -> str:
    """The canonical spelling of a noun: "Counter Top 2" is "countertop_2"; empty if it is none."""
    squeezed, number = split_name(phrase)
    known = _WORDS.get(squeezed)
    if known is None:
        words = re.sub(r"[\W_]+", " ", phrase).split()
        if number is not None:
            words = re.sub(r"[\W_]*\d+\W*$", "", " ".join(words)).split()
        known = "" if _EMPTY.issuperset(words) else " ".join(words)
    return f"{known}_{number}" if known and number is not None else known


def preposition(name: str) -> str:
    """The preposition "in" or "on", by receptacle type."""
    return "in" if name.rpartition("_")[0] in _IN or name in _IN else "on"


def _the(name: str) -> str:
    return name if name == IT else f"the {name}"


def _put(thing: str, place: str) -> str:
    return f"put {_the(thing)} {preposition(place)} {_the(place)}"


_WORDING: Mapping[str, Callable[..., str]] = {
    "look around": lambda: "look around",
    "explore": lambda: "explore",
    "move ahead": lambda: "move ahead",
    "move back": lambda: "move back",
    "move left": lambda: "move left",
    "move right": lambda: "move right",
    "look up": lambda: "look up",
    "look down": lambda: "look down",
    "turn left": lambda: "turn left",
    "turn right": lambda: "turn right",
    "put down": lambda thing=IT: f"put {_the(thing)} down",
    "drop": lambda thing=IT: f"drop {_the(thing)}",
    "put": _put,
    "go to": lambda thing: f"go to {_the(thing)}",
    "find": lambda thing: f"find {_the(thing)}",
    "pick up": lambda thing: f"pick up {_the(thing)}",
    "open": lambda thing: f"open {_the(thing)}",
    "close": lambda thing: f"close {_the(thing)}",
    "turn on": lambda thing: f"turn on {_the(thing)}",
    "turn off": lambda thing: f"turn off {_the(thing)}",
    "slice": lambda thing: f"slice {_the(thing)}",
}
