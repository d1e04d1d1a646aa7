"""Parses notes (`agents/prompts/notes.py`) and actions into verbs and nouns.

What matters about a noun is where else it occurs: a mug is to be taken because the goal mentions it
and it was seen. So the nouns of a goal become slots, in order of their first mention, and what is
learned from one goal holds for every noun. `goals.py` assigns roles to the slots.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from inhabit.agents.core import ModelError
from inhabit.agents.dialogue.synonyms import surface_forms

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
_ARTICLES = ("a", "an", "the")
"""Whether it is a mug or the mug that is wanted makes no difference."""
_READ_AS = "Read as: "
_INTO = re.compile(r"^(?P<thing>.*?) (?:in|on) (?P<place>.*)$")


@dataclass(frozen=True, slots=True)
class NotedAction:
    """A parsed action, proposed or executed."""

    verb: int
    """Its place in `VERBS`."""
    noun: str = ""
    """The object; for "put" the receptacle."""
    number: str = ""
    thing: str = ""
    """For "put": the object that is put, if named."""
    thing_number: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class ParsedNotes:
    """Parsed notes."""

    goal: tuple[str, ...]
    """Its words, nouns as "<0>" and so on, without articles."""
    slots: tuple[str, ...]
    seen: Mapping[str, float]
    """Kinds, each with a confidence: 1, or one half with a question mark."""
    here: Mapping[str, float]
    done: tuple[NotedAction, ...]
    held: str
    """Kind of the held object, or ""."""
    reading: tuple[str, ...] = ()
    """How the goal was read: the task type and the nouns of its roles; empty where it was not."""


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


def notes(text: str, nouns: Iterable[str]) -> ParsedNotes:
    """Parse notes.

    Args:
        text: as `inhabit.agents.prompts.notes` writes them.
        nouns: that a goal may speak of.

    Raises:
        ModelError: these are no notes.
    """
    lines = text.split("\n")
    fields = dict(line.partition(": ")[::2] for line in lines[:4])
    if list(fields) != ["Goal", "Seen", "Done", "Here"]:
        raise ModelError("This model reads notes alone: ask it with --agent planner.")
    words, slots = with_slots(fields["Goal"].lower(), nouns)
    held = re.search(r"You have an? (.+?) in your hands", " ".join(lines[4:]))
    done = [] if fields["Done"] == "nothing" else fields["Done"].split("; ")
    return ParsedNotes(
        words,
        slots,
        _kinds(fields["Seen"]),
        _kinds(fields["Here"]),
        tuple(map(action, done)),
        held[1] if held is not None else "",
        _reading(lines[4:]),
    )


def uncut(noun: str) -> str:
    """The noun that a slice is cut from, or ""."""
    return noun.removesuffix(" slice") if noun.endswith(" slice") else ""


def _reading(lines: Sequence[str]) -> tuple[str, ...]:
    said = next((line for line in lines if line.startswith(_READ_AS)), "")
    parts = said.removeprefix(_READ_AS).split("; ") if said else []
    return tuple("" if part == "-" else part for part in parts)


def _noun(text: str) -> tuple[str, str]:
    match = _NOUN.fullmatch(text.strip())
    return ("", "") if match is None else (match["noun"], match["number"] or "")


def _kinds(text: str) -> Mapping[str, float]:
    if text == "nothing":
        return {}
    return {kind.rstrip("?"): 0.5 if kind.endswith("?") else 1.0 for kind in text.split(", ")}


def with_slots(goal: str, nouns: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of a goal with nouns as slots, and the nouns in order of their first mention."""
    known, pattern = _spoken_of(tuple(nouns))
    found: list[str] = []

    def slot(match: re.Match[str]) -> str:
        noun = known[match[0]]
        if noun not in found:
            found.append(noun)
        return f"<{found.index(noun)}>"

    words = re.findall(r"<\d+>|[a-z]+", pattern.sub(slot, re.sub(r"\b2\b", "two", goal)))
    return tuple(word for word in words if word not in _ARTICLES), tuple(found)


@lru_cache(maxsize=8)
def _spoken_of(nouns: Sequence[str]) -> tuple[Mapping[str, str], re.Pattern[str]]:
    """Surface forms of nouns, and a pattern that matches the longest one."""
    # "Drop it" is an action, but "it" in a goal is no other noun.
    named = [noun for noun in nouns if noun != "it"]
    known = {noun: noun for noun in named}
    for noun in named:
        for form in surface_forms(noun):
            known.setdefault(form, noun)
    longest = sorted(known, key=lambda form: (-len(form), form))
    several = "|".join(map(re.escape, longest)) or r"(?!)"
    return known, re.compile(rf"\b(?:{several})\b")
