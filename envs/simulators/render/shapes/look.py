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
