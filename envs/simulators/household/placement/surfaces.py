"""The surfaces of receptacles: area, height and clearance.

The heights were measured on the objects of the 120 rooms (median per type).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from inhabit.envs.simulators.household.geometry.boxes import Array, Box
from inhabit.envs.simulators.household.state.world import SimObject, World
from inhabit.envs.simulators.household.types.things import BASINS, ENCLOSING, THINGS, those

_ABOVE_BOTTOM: Mapping[str, float] = {
    name: thing.rests for name, thing in THINGS.items() if thing.rests is not None
}
_SHARE: Mapping[str, float] = {
    name: thing.share for name, thing in THINGS.items() if thing.share is not None
}
_NARROWED: Mapping[str, float] = {
    name: thing.narrowed for name, thing in THINGS.items() if thing.narrowed is not None
}
VESSELS = those("vessel")
"""Movable receptacles."""
BRIMMING = VESSELS | {"CoffeeMachine", "StoveBurner", "Toaster"}
"""Receptacles for one object of any size."""
HANGERS = those("hanger")
"""Hangers, for one object at a time."""
_DRAWN_OUT = 0.8
"""Fraction of its depth that a drawer extends when fully open."""
_THICK_COUNTER = 0.06
"""A worktop's box higher than this, in metres, is the whole counter."""


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """A surface to put objects on."""

    owner: SimObject
    areas: tuple[Box, ...]
    """Only width and depth matter."""
    height: float
    """Height in the world, metres."""
    headroom: float
    """Clearance above it, metres; inf without a limit."""
    enclosed: bool
    """Objects outside do not block it."""
    brimming: bool
    """Objects in it may extend beyond it."""


def surface(world: World, thing: SimObject) -> Surface:
    """The surface of a receptacle; for a sink, that of its basin."""
    own = basin(world, thing) or thing
    kind, box = own.kind, own.box
    height = float(box.low[1]) + rise(world, own)
    above = float(box.high[1]) - height
    inside = kind in ENCLOSING or kind == "GarbageCan" or kind in BASINS.values()
    roofed = kind in ENCLOSING - {"Box", "LaundryHamper"} or kind in ("Shelf", "CoffeeMachine")
    return Surface(
        thing,
        areas(world, own),
        height,
        above if roofed and above > 0.05 else np.inf,
        inside or kind in BRIMMING,
        kind in BRIMMING,
    )


def basin(world: World, thing: SimObject) -> SimObject | None:
    """The basin of a sink or bathtub: the nearest one within half a metre."""
    kind = BASINS.get(thing.kind)
    if kind is None:
        return None
    apart = {
        other.id: float(np.linalg.norm(other.box.center - thing.box.center))
        for other in world.things.values()
        if other.kind == kind
    }
    nearest = min(apart, key=apart.__getitem__, default=None)
    return world.things[nearest] if nearest and apart[nearest] < 0.6 else None


def areas(world: World, thing: SimObject) -> tuple[Box, ...]:
    """The usable area of a receptacle, seen from above."""
    if (parts := world.room.strips.get(thing.id)) is not None:
        return parts
    share = _NARROWED.get(thing.kind, 0.95)
    box = thing.box.moved(slide(thing))
    wide = box.half * np.where(np.arange(3) == box.up, 1.0, share)
    return (Box(box.center, wide, box.axes),)


def counter_height(thing: SimObject) -> float:
    """Height of a worktop in metres: its box is either a thin one above it or the whole counter."""
    whole = 2 * thing.box.reach[1] > _THICK_COUNTER
    return float(thing.box.high[1] if whole else thing.box.low[1])


def slide(thing: SimObject) -> Array:
    """The displacement of an open drawer (3,), metres; nothing else moves when opened."""
    if thing.kind != "Drawer" or not thing["isOpen"]:
        return np.zeros(3)
    return thing.box.axes[:, 2] * float(2 * thing.box.half[2] * _DRAWN_OUT * thing["openness"])


def rise(world: World, thing: SimObject) -> float:
    """Metres from the bottom of its box to the surface.

    The room's initial contents are the best evidence: tables have shelves above them, beds vary.
    """
    if thing.kind == "CounterTop":
        return counter_height(thing) - float(thing.box.low[1])
    tall = float(2 * thing.box.reach[1])
    if thing.kind in _ABOVE_BOTTOM:
        return min(_ABOVE_BOTTOM[thing.kind], 0.6 * tall)
    seen = world.rises.get(thing.id)
    if seen is not None and 0.0 < seen <= tall + 0.02:
        return seen
    return _SHARE.get(thing.kind, 1.0) * tall
