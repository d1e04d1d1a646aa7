"""The rows that a world is described with. A row may hold a plain function."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class State:
    """A state that objects of a simulator may have."""

    name: str
    """As in `SceneObject.states`: "open"."""
    words: tuple[str, str]
    """Adjectives for "holds" and "does not hold"."""
    needs: str
    """The simulator's property that an object needs for it."""
    reads: str
    """The simulator's property that holds its value."""
    sets: str = ""
    """The simulator's action that brings it about, if it takes no more than the object,"""
    clears: str = ""
    """and the one that undoes it."""
