"""What comes with a thing and is nobody's in THOR's masks: running water, a basin's upper wall."""

from __future__ import annotations

from functools import lru_cache

from inhabit.envs.simulators.household.world import SimObject
from inhabit.envs.simulators.render.mesh import Mesh, Vector
from inhabit.envs.simulators.render.shapes import Look, shape
from inhabit.envs.simulators.render.shapes.finishes import WATER

_CORKED = "wine"
"""What is in the bottles that are full from the start; THOR does not say."""


def look_of(thing: SimObject, *, burning: bool = False) -> Look:
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


_TAPS = frozenset({"Faucet", "ShowerHead"})
_BASINS = frozenset({"BathtubBasin", "SinkBasin"})
BASIN_SHARE = 0.35
"""Share of a basin's height, from below, that THOR counts to it (fitted to masks of ALFRED)."""


def name_of(thing: str) -> str:
    """What the body beside a thing is called on the stage.

    The client takes every name with a bar in it for an object's.
    """
    return f"{thing.replace('|', ' ')} trimming"


def split(kind: str, mesh: Mesh) -> tuple[Mesh, Mesh | None]:
    """What of a mesh THOR counts to a thing of this kind, and the rest; None if that is all."""
    if kind in _TAPS and WATER in mesh.palette:
        own = mesh.materials != mesh.palette.index(WATER)
    elif kind in _BASINS:
        low, high = (float(corner[1]) for corner in mesh.bounds)
        middles = mesh.vertices[mesh.faces][:, :, 1].mean(axis=1)
        own = middles < low + BASIN_SHARE * (high - low)
    else:
        return mesh, None
    return mesh.part(own), None if own.all() else mesh.part(~own)
