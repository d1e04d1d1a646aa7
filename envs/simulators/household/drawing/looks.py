"""Looks of objects in their states, and of the robot."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache

from inhabit.envs.simulators.household.geometry.boxes import Array
from inhabit.envs.simulators.household.state.agent import AgentState
from inhabit.envs.simulators.household.state.robot_arm import LENGTH, SHOULDER
from inhabit.envs.simulators.household.state.world import SimObject, World
from inhabit.envs.simulators.render.mesh import Mesh, Vector
from inhabit.envs.simulators.render.shapes import Look, shape
from inhabit.envs.simulators.render.shapes.finishes import WATER, Side, plain
from inhabit.envs.simulators.render.sweep import tube

_CORKED = "wine"
"""Contents of bottles that are full at the start; THOR does not say."""
_MEASURED = frozenset({"Cabinet", "Fridge", "Microwave"})
_AT_EDGE = 0.8
"""Fraction of the half width from which on a position is on an edge."""


def look_of(
    thing: SimObject,
    *,
    burning: bool = False,
    measured: bool = False,
    levels: tuple[float, ...] = (),
) -> Look:
    """The visible state of an object; a burner shows that of its knob.

    Args:
        thing: the object.
        burning: whether it is a burner whose knob is on.
        measured: whether its doors and shelves are to be AI2-THOR's.
        levels: heights in metres above its bottom at which things stand in it.
    """
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
        hinge=_hinge(thing) if measured else None,
        measured=measured and thing.kind in _MEASURED,
        levels=levels,
    )


def _hinge(thing: SimObject) -> Side | None:
    """Where a door hangs, as AI2-THOR's masks show it.

    A cupboard's on the edge where THOR's position of it is. A fridge's on the left, as in 12 of the
    24 rooms that ALFRED's training trajectories tell of: 7 have it on the right, and 5 have two.
    """
    if thing.kind == "Fridge":
        return "left"
    offset, half = float(thing.pivot[0]), float(thing.box.half[0])
    if thing.kind != "Cabinet" or abs(offset) < _AT_EDGE * half:
        return None
    return "left" if offset > 0 else "right"


@lru_cache(maxsize=2048)
def mesh_of(kind: str, size: Vector, look: Look, seed: int) -> Mesh:
    """A cached shape: building all shapes of a room takes ten times as long as loading it."""
    return shape(kind, size, look, seed=seed)


_TAPS = frozenset({"Faucet", "ShowerHead"})
_BASINS = frozenset({"BathtubBasin", "SinkBasin"})
BASIN_SHARE = 0.35
"""Fraction of a basin's height, from below, that belongs to its mask (fitted to ALFRED's masks)."""


def name_of(thing: str) -> str:
    """Stage name of the part outside an object's mask.

    The client takes every name with a bar in it for an object's.
    """
    return f"{thing.replace('|', ' ')} trimming"


def split(kind: str, mesh: Mesh) -> tuple[Mesh, Mesh | None]:
    """The part of a mesh inside THOR's mask of this type, and the rest; None if it is all
    inside.
    """
    if kind in _TAPS and WATER in mesh.palette:
        own = mesh.materials != mesh.palette.index(WATER)
    elif kind in _BASINS:
        low, high = (float(corner[1]) for corner in mesh.bounds)
        middles = mesh.vertices[mesh.faces][:, :, 1].mean(axis=1)
        own = middles < low + BASIN_SHARE * (high - low)
    else:
        return mesh, None
    return mesh.part(own), None if own.all() else mesh.part(~own)


def lit(world: World) -> frozenset[str]:
    """Ids of the glowing burners: their knob is on."""
    return frozenset(
        burner
        for thing in world.things.values()
        if thing.kind == "StoveKnob" and thing["isToggled"]
        for burner in thing["controlledObjects"] or ()
    )


_GREY = plain(0.55, 0.56, 0.58, gloss=0.3)
_PARTS = (
    ("base", float(SHOULDER[2]), 0.05),
    ("upper", LENGTH / 2, 0.04),
    ("lower", LENGTH / 2, 0.035),
    ("hand", 0.07, 0.03),
)
"""Name, length and radius in metres of what begins at each joint."""


def limbs(agent: AgentState) -> Iterator[tuple[str, Mesh, Array, Array]]:
    """The parts of an agent's arm: name, mesh, orientation (3, 3) and place (3,) in the world."""
    if agent.robot is None:
        return
    base = agent.base()
    for (name, length, radius), (place, axes) in zip(_PARTS, agent.robot.joints, strict=True):
        yield name, _bar(length, radius), base.axes @ axes, base.to_world(place)


@cache
def _bar(length: float, radius: float) -> Mesh:
    return tube(((0.0, 0.0, 0.0), (0.0, 0.0, length)), radius, _GREY, sides=12)
