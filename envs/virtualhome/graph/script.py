"""Lines of a VirtualHome script: `<char0> [putin] <apple> (12) <fridge> (5)`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from inhabit.envs.virtualhome.graph.verbs import VERBS

_LINE = re.compile(
    r"\s*(?:<char(?P<character>\d+)>)?\s*\[(?P<action>\w+)\](?P<things>(?:\s*<[^<>]+>\s*\([^()]+\))*)"
    r"\s*(?:\[\d+\])?\s*"
)
_THING = re.compile(r"<([^<>]+)>\s*\((?:\d+\.)?(\d+)\)")
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
    """In capitals, of `VERBS`."""
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
