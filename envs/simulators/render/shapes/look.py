"""The visible state of an object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Literal

from inhabit.envs.simulators.render.mesh import Mesh, Vector

Side = Literal["left", "right"]


@dataclass(frozen=True, slots=True)
class Look:
    """The states that can be seen. A kind shows those that mean something for it."""

    openness: float = 0.0
    """0 closed, 1 wide open."""
    on: bool = False
    """Lit, glowing, burning or running."""
    sliced: bool = False
    dirty: bool = False
    cooked: bool = False
    broken: bool = False
    used_up: bool = False
    """Only the cardboard of a roll is left, or an empty pack."""
    filled: str | None = None
    """The liquid in it: "water", "coffee", "wine", or any other name."""
    hinge: Side | None = None
    """Where a door hangs, as seen by who stands before it. None: where it does with its kind."""


Builder = Callable[[Vector, Look, Random], Mesh]
"""(size of the box in metres, look, source of variety) -> the object, centred in the box.

The builder draws from the source in the same order whatever the look, so that an object keeps its
colours when its state changes.
"""

Telling = tuple[tuple[str, Look], ...]
"""Looks that a kind has beside the plain one, with their names."""
OPEN = ("half open", Look(openness=0.5)), ("open", Look(openness=1.0))
FILLED = ("water", Look(filled="water")), ("coffee", Look(filled="coffee"))
DIRTY = (("dirty", Look(dirty=True)),)
BROKEN = (("broken", Look(broken=True)),)
ON = (("on", Look(on=True)),)
COOKED = (("cooked", Look(cooked=True)),)
USED_UP = (("used up", Look(used_up=True)),)
SLICED = (("sliced", Look(sliced=True)),)


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a kind."""

    build: Builder
    size: Vector
    """Its usual size, in metres: close to the medians of the 120 rooms of iTHOR, in an object's own
    frame."""
    looks: Telling = ()
    """For contact sheets and tests."""
