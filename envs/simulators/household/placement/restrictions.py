"""Which types of object may be put where, and how many of them."""

from __future__ import annotations

from collections.abc import Mapping

from inhabit.envs.simulators.household.types.things import THINGS, spelled_out

_TAKES: Mapping[str, frozenset[str]] = {
    name: frozenset(spelled_out(thing.takes))
    for name, thing in THINGS.items()
    if thing.takes is not None
}


def allowed(kind: str, receptacle: str) -> bool:
    """Whether a type may be put on or in a receptacle type."""
    return kind in _TAKES.get(receptacle, (kind,))


def capacity(receptacle: str) -> int | None:
    """Maximum number of objects of a receptacle; None if only their size matters."""
    return THINGS[receptacle].capacity if receptacle in THINGS else None
