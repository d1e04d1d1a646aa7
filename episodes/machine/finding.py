"""One thing that was looked at on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How it stands."""

    OK = "ok"
    LACKING = "lacking"
    """Only what `matters_to` names goes without it."""
    BROKEN = "broken"
    """The defaults need it: nothing goes well before it is put right."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, what was found, and what to do about it."""

    what: str
    state: Status
    found: str
    """A few words, such as "3.11.7" or "not found"."""
    matters_to: str
    """Who needs it."""
    fix: str = ""
    """A command, or a sentence where no command does; empty where all is well."""


def judge(what: str, well: bool, found: str, *, to: str, fix: str, needed: bool = False) -> Finding:
    """A finding that is ok, or lacking, or (where `needed` by the defaults) broken."""
    if well:
        return Finding(what, Status.OK, found, to)
    return Finding(what, Status.BROKEN if needed else Status.LACKING, found, to, fix)
