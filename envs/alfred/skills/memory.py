"""What an agent remembers of an episode: what it saw, where it went, where it looked around."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

Cell = tuple[int, int]
"""A place on the floor, in steps of the grid along x and z."""


@dataclass(slots=True)
class Memory:
    """Grows with every picture and every action. Objects stand by THOR's ids."""

    seen: dict[str, None] = field(default_factory=dict)
    """What was in a picture, in the order it was first seen."""
    visited: dict[str, None] = field(default_factory=dict)
    """What it went to, or took."""
    focus: str | None = None
    """What it went to last, or did something to: the mug that "the mug" means."""
    searched: dict[Cell, None] = field(default_factory=dict)
    """Where it looked around."""
    refused: dict[str, None] = field(default_factory=dict)
    """Interactions that the simulator refused although nothing spoke against them, as
    "verb id id": the expert tries something else."""

    def see(self, ids: Iterable[str]) -> None:
        """Add what a picture shows."""
        self.seen.update(dict.fromkeys(ids))

    def go(self, id: str) -> None:
        """Add a visit."""
        self.visited[id] = None
        self.focus = id

    def copy(self) -> Memory:
        """The same memory, to grow apart."""
        return replace(
            self,
            seen=dict(self.seen),
            visited=dict(self.visited),
            searched=dict(self.searched),
            refused=dict(self.refused),
        )
