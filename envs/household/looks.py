"""From a thing's state to its mesh."""

from __future__ import annotations

from functools import lru_cache

from envs.household.world import Thing
from envs.render.mesh import Mesh, Vector
from envs.render.shapes import Look, shape

_CORKED = "wine"
"""What is in the bottles that are full from the start; THOR does not say."""


def look_of(thing: Thing, *, burning: bool = False) -> Look:
    """What can be seen of a thing's state; a burner's is that of its knob."""
    is_ = thing.metadata
    return Look(
        openness=float(is_["openness"]) if is_["isOpen"] else 0.0,
        on=is_["isToggled"] or burning,
        sliced=is_["isSliced"],
        dirty=is_["isDirty"],
        cooked=is_["isCooked"],
        broken=is_["isBroken"],
        used_up=is_["isUsedUp"],
        filled=(is_["fillLiquid"] or _CORKED) if is_["isFilledWithLiquid"] else None,
    )


@lru_cache(maxsize=2048)
def mesh_of(kind: str, size: Vector, look: Look, seed: int) -> Mesh:
    """A shape, kept: making all of a room takes ten times as long as entering it."""
    return shape(kind, size, look, seed=seed)
