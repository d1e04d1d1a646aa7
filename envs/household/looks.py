"""From a thing's state to its mesh."""

from __future__ import annotations

import numpy as np

from envs.household.boxes import Box
from envs.household.grid import Outline, corner_strips
from envs.household.world import Thing
from envs.render.mesh import Mesh, join
from envs.render.shapes import Look, shape

_BACKWARDS = frozenset({"Bed"})
"""Kinds whose assets look along -z in THOR."""


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


def mesh_of(thing: Thing, look: Look, outline: Outline, seed: int) -> Mesh:
    """A thing's mesh in the frame of its box, about the box's centre."""
    if thing.kind == "CounterTop":
        return join(
            _in_frame(_shape(thing.kind, part, look, seed), part, thing.box)
            for part in corner_strips(thing.box, outline)
        )
    mesh = _shape(thing.kind, thing.box, look, seed)
    return mesh.turned("y", 180.0) if thing.kind in _BACKWARDS else mesh


def _shape(kind: str, box: Box, look: Look, seed: int) -> Mesh:
    x, y, z = (2 * box.half).tolist()
    return shape(kind, (x, y, z), look, seed=seed)


def _in_frame(mesh: Mesh, part: Box, whole: Box) -> Mesh:
    """The mesh of an axis-aligned part, moved into the frame of the whole."""
    turn = whole.axes.T @ part.axes
    degrees = float(np.degrees(np.arctan2(turn[0, 2], turn[2, 2])))
    x, y, z = whole.to_own(part.center)
    return mesh.turned("y", degrees).shifted(float(x), float(y), float(z))
