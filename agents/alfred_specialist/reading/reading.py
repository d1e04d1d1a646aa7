"""What a reader makes of an instruction. Needs no model."""

from __future__ import annotations

from dataclasses import dataclass

ROLES = ("object", "place", "movable")
"""Roles of nouns: the wanted object; its destination, or the lamp; the movable receptacle."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read an instruction."""

    task: str
    """The task type."""
    nouns: tuple[str, ...]
    """The noun of each of `ROLES`; empty where there is none, or where it can't be read."""
    probability: float

    @property
    def thing(self) -> str:
        """The wanted object."""
        return self.nouns[0]

    @property
    def place(self) -> str:
        """The destination, or the lamp."""
        return self.nouns[1]

    @property
    def movable(self) -> str:
        """The movable receptacle that the object is put into."""
        return self.nouns[2]


@dataclass(frozen=True, slots=True)
class Readings:
    """The readings of an instruction, the likeliest first; none where it says nothing."""

    ranked: tuple[Reading, ...] = ()
    unread: tuple[str, ...] = ()
    """The roles that could not be read: no known noun was likelier than none."""

    def __bool__(self) -> bool:
        return bool(self.ranked)
