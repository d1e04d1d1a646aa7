"""Parses notes (`notes.py`) and actions into verbs and nouns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from inhabit.agents.alfred_specialist.reading.reading import ROLES
from inhabit.agents.core import ModelError

VERBS = (
    "go to",
    "pick up",
    "put",
    "open",
    "close",
    "turn on",
    "turn off",
    "slice",
    "look around",
    "explore",
    "drop",
    "other",
)
GO, TAKE, PUT, OPEN, CLOSE, TURN_ON = range(6)
SLICE, EXPLORE = VERBS.index("slice"), VERBS.index("explore")
LOOKS = (VERBS.index("look around"), EXPLORE)
OTHER = len(VERBS) - 1
_SAID = re.compile(
    r"(?P<verb>go to|at|pick up|put|open|close|turn on|turn off|slice|look around|explore|drop)\b"
    r"(?P<rest>.*)"
)
_NOUN = re.compile(r"(?:the )?(?P<noun>[a-z][a-z \-]*?)(?:_(?P<number>\d+))?$")
_READ_AS = "Read as: "
_INTO = re.compile(r"^(?P<thing>.*?) (?:in|on) (?P<place>.*)$")


@dataclass(frozen=True, slots=True)
class NotedAction:
    """A parsed action, proposed or executed."""

    verb: int
    """Index of the verb in `VERBS`."""
    noun: str = ""
    """The object; for "put" the receptacle."""
    number: str = ""
    thing: str = ""
    """The object that is put, if named; for "put" alone."""
    thing_number: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class ParsedNotes:
    """Parsed notes."""

    seen: Mapping[str, float]
    """Kinds, each with a confidence: 1, or one half with a question mark."""
    here: Mapping[str, float]
    done: tuple[NotedAction, ...]
    held: str
    """Kind of the held object, or ""."""
    task: str
    """The task type that the goal is read as; empty where it is not read."""
    nouns: tuple[str, ...]
    """The noun of each of `ROLES` in the goal; empty where there is none."""


@lru_cache(maxsize=4096)
def action(text: str) -> NotedAction:
    """Parse an action, as a candidate or as in notes."""
    said, _, why = text.partition(": ")
    match = _SAID.fullmatch(said.strip())
    if match is None:
        return NotedAction(OTHER, failed=bool(why))
    verb = "go to" if match["verb"] == "at" else match["verb"]
    rest, thing, thing_number = match["rest"].strip(), "", ""
    if verb == "put":
        into = _INTO.match(rest)
        if into is None:
            return NotedAction(OTHER, failed=bool(why))
        rest = into["place"]
        thing, thing_number = _noun(into["thing"])
    noun, number = _noun(rest)
    return NotedAction(VERBS.index(verb), noun, number, thing, thing_number, bool(why))


def notes(text: str) -> ParsedNotes:
    """Parse notes, as `notes.py` writes them.

    Raises:
        ModelError: these are no notes.
    """
    lines = text.split("\n")
    fields = dict(line.partition(": ")[::2] for line in lines[:4])
    if list(fields) != ["Goal", "Seen", "Done", "Here"]:
        raise ModelError("This model reads notes alone: ask it with --agent planner.")
    held = re.search(r"You have an? (.+?) in your hands", " ".join(lines[4:]))
    done = [] if fields["Done"] == "nothing" else fields["Done"].split("; ")
    task, *nouns = _reading(lines[4:])
    return ParsedNotes(
        _kinds(fields["Seen"]),
        _kinds(fields["Here"]),
        tuple(map(action, done)),
        held[1] if held is not None else "",
        task,
        tuple(nouns),
    )


def uncut(noun: str) -> str:
    """The noun that a slice is cut from, or ""."""
    return noun.removesuffix(" slice") if noun.endswith(" slice") else ""


def _reading(lines: Sequence[str]) -> Sequence[str]:
    """The task type and the noun of each role; empty where the notes tell of no reading."""
    said = next((line for line in lines if line.startswith(_READ_AS)), "")
    parts = ["" if part == "-" else part for part in said.removeprefix(_READ_AS).split("; ")]
    return parts if len(parts) == 1 + len(ROLES) else [""] * (1 + len(ROLES))


def _noun(text: str) -> tuple[str, str]:
    match = _NOUN.fullmatch(text.strip())
    return ("", "") if match is None else (match["noun"], match["number"] or "")


def _kinds(text: str) -> Mapping[str, float]:
    if text == "nothing":
        return {}
    return {kind.rstrip("?"): 0.5 if kind.endswith("?") else 1.0 for kind in text.split(", ")}
