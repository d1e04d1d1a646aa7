"""What comes with a thing and is nobody's in THOR's masks: running water, a basin's upper wall."""

from __future__ import annotations

from envs.render.mesh import Mesh
from envs.render.shapes.finishes import WATER

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
