"""From a thing's state to its mesh."""

from __future__ import annotations

from envs.household.world import Thing
from envs.render.mesh import Mesh
from envs.render.shapes import Look, shape


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
        filled=is_["fillLiquid"] if is_["isFilledWithLiquid"] else None,
    )


def mesh_of(thing: Thing, look: Look, seed: int) -> Mesh:
    """A thing's mesh in the frame of its box, about the box's centre."""
    x, y, z = (2 * thing.box.half).tolist()
    return shape(thing.kind, (x, y, z), look, seed=seed)
