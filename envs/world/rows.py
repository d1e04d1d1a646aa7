"""The rows that a world is described with. A row may hold a plain function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from inhabit.envs.template import ActionKind

T = TypeVar("T", contravariant=True)
"""An object of an environment."""


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


@dataclass(frozen=True, slots=True)
class Verb(Generic[T]):
    """A kind of action: how it is said and understood, and what it applies to."""

    name: str
    """As in `Action.verb`."""
    says: str
    """Its wording: "put {} {in} {}", with "{in}" for the preposition of the last object."""
    kind: ActionKind = ActionKind.OTHER
    also: tuple[str, ...] = ()
    """Regular expressions of the texts that mean it: see `Language`."""
    fits: Callable[[T], bool] | None = None
    """Whether it can apply to an object in its state; None if it takes none, or any."""
    takes: Callable[[T], bool] | None = None
    """The same in whatever state; None if that makes no difference."""
    needs: tuple[str, ...] = ()
    """Properties of which an object needs one; empty: any object."""
    near: bool = True
    """Whether the agent must be close to the object."""
    asks: str = ""
    """The simulator's own name of it, if it is another."""
    makes: str = ""
    """The state of the object that it brings about."""
    traits: tuple[str, ...] = ()
    """What else an environment tells of it."""

    @property
    def arity(self) -> int:
        """The number of its objects."""
        return self.says.count("{}")
