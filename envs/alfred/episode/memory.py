"""The agent's memory of an episode."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from inhabit.envs.alfred.thor.routes import Cell


@dataclass(slots=True)
class Memory:
    """What the agent has seen, visited and searched. Objects are THOR ids."""

    seen: dict[str, None] = field(default_factory=dict)
    """Objects seen in an image, in order."""
    visited: dict[str, None] = field(default_factory=dict)
    """Objects it went to or took."""
    focus: str | None = None
    """The object of the last navigation or interaction, which "the mug" refers to."""
    searched: dict[Cell, None] = field(default_factory=dict)
    """Cells where it looked around."""
    refused: dict[str, None] = field(default_factory=dict)
    """Interactions that the simulator refused unexpectedly, as "verb id id". The expert avoids
    them."""

    def see(self, ids: Iterable[str]) -> None:
        """Add the objects of an image."""
        self.seen.update(dict.fromkeys(ids))

    def go(self, id: str) -> None:
        """Add a visit."""
        self.visited[id] = None
        self.focus = id

    def copy(self) -> Memory:
        """An independent copy."""
        return replace(
            self,
            seen=dict(self.seen),
            visited=dict(self.visited),
            searched=dict(self.searched),
            refused=dict(self.refused),
        )
