"""The verbs, and the lines of a script that are made of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from inhabit.envs.plain_data import csv_rows
from inhabit.envs.template import ActionKind
from inhabit.envs.world.rows import Verb

_VERBS: Sequence[Verb[object]] = [
    Verb(
        row["name"],
        row["says"],
        ActionKind(row["kind"]),
        needs=tuple(row["needs"].split()),
        near=bool(row["near"]),
        makes=row["makes"],
        traits=tuple(row["traits"].split()),
    )
    for row in csv_rows("inhabit.envs.virtualhome.graph", "verbs.csv")
]
VERBS: Mapping[str, Verb[object]] = {verb.name: verb for verb in _VERBS}
"""Every action with an executor, by its name in scripts."""
IDLE = frozenset(verb.name for verb in _VERBS if "idle" in verb.traits)
"""Actions that the evolving graph allows without any change."""


def say(action: str, *names: str) -> str:
    """The action on objects of these names: "put the mug_2 in the fridge_1"."""
    return VERBS[action].says.format(*(f"the {name}" for name in names))


def _words(verb: Verb[object]) -> Sequence[str]:
    """The words before and between the objects."""
    return [words.strip() for words in verb.says.split("{}")]


_LONGEST_FIRST = [(v, _words(v)) for v in VERBS.values()]
_LONGEST_FIRST.sort(key=lambda known: -len(known[1][0]))
"""Longer words first: "put back the mug" is not "put" with an object called "back the mug"."""


def read(text: str) -> Sequence[tuple[Verb[object], tuple[str, ...]]]:
    """Every reading of a text: the verb, and its object names.

    "put the cup on the table" reads one way; a name may hold any words, so there can be several.
    """
    said = " ".join(text.lower().strip().rstrip(".!").split())
    found: list[tuple[Verb[object], tuple[str, ...]]] = []
    for verb, words in _LONGEST_FIRST:
        if verb.arity == 0:
            if said == words[0]:
                found.append((verb, ()))
            continue
        if not said.startswith(words[0] + " "):
            continue
        rest = said[len(words[0]) + 1 :]
        if verb.arity == 1:
            found.append((verb, (rest,)))
        else:
            pieces = rest.split(f" {words[1]} ")
            for i in range(1, len(pieces)):
                joint = f" {words[1]} "
                found.append((verb, (joint.join(pieces[:i]), joint.join(pieces[i:]))))
    return found


_LINE = re.compile(
    r"\s*(?:<char(?P<character>\d{1,18})>)?\s*\[(?P<action>\w+)\](?P<things>(?:\s*<[^<>]+>\s*\([^()]+\))*)"
    r"\s*(?:\[\d+\])?\s*"
)
_THING = re.compile(r"<([^<>]+)>\s*\((?:\d+\.)?(\d{1,18})\)")
SYNONYMS = {
    "PUT": "PUTBACK",
    "WALKTO": "WALK",
    "WALKTOWARDS": "WALK",
    "LOOKAT_MEDIUM": "LOOKAT",
    "SWITCH_ON": "SWITCHON",
    "SWITCH_OFF": "SWITCHOFF",
}
"""Names of the same actions in Unity and in older scripts."""


class LineError(ValueError):
    """A script line can't be parsed. Quotes it and the expected form."""


@dataclass(frozen=True, slots=True)
class ScriptObject:
    """An object in a script; only its id matters."""

    name: str
    id: int

    def __str__(self) -> str:
        return f"<{self.name}> ({self.id})"


@dataclass(frozen=True, slots=True)
class ScriptLine:
    """One step of a script."""

    action: str
    """Action in capitals, of `VERBS`."""
    things: tuple[ScriptObject, ...] = ()
    character: int = 0

    def __str__(self) -> str:
        return " ".join((f"<char{self.character}> [{self.action.lower()}]", *map(str, self.things)))


def parse_line(text: str) -> ScriptLine:
    """Read one step of one character.

    Ids may carry the scene as in `(1.289)`: what follows the dot counts.

    Raises:
        LineError: it is not a script line, the action is unknown, or objects are missing.
    """
    found = _LINE.fullmatch(text)
    if found is None:
        raise LineError(
            f"{text!r} is not a script line; it should look like '<char0> [open] <fridge> (12)'."
        )
    word = found["action"].upper()
    action = SYNONYMS.get(word, word)
    if action not in VERBS:
        raise LineError(f"{text!r}: there is no action {found['action']!r}.")
    things = tuple(
        ScriptObject(name.strip(), int(id_)) for name, id_ in _THING.findall(found["things"])
    )
    if len(things) != VERBS[action].arity or len(things) != found["things"].count("<"):
        raise LineError(
            f"{text!r}: {action.lower()} takes {VERBS[action].arity} things, each as <name> (id)."
        )
    return ScriptLine(action, things, int(found["character"] or 0))


def parse_parallel(text: str) -> Sequence[ScriptLine]:
    """Read the simultaneous steps of several characters, joined by `|`.

    Raises:
        LineError: as `parse_line`.
    """
    return [parse_line(part) for part in text.split("|")]
