"""Where a receptacle holds things: the area, its height, and how much room there is above it.

The heights were measured on what stands in the 120 rooms (median over each kind).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from inhabit.envs.simulators.household.geometry.boxes import Array, Box
from inhabit.envs.simulators.household.world import ENCLOSING, SimObject, World

_ABOVE_BOTTOM: Mapping[str, float] = {
    "BathtubBasin": 0.0,
    "Bowl": 0.01,
    "Box": 0.01,
    "Cabinet": 0.01,
    "CoffeeMachine": 0.056,
    "Cup": 0.01,
    "Drawer": 0.014,
    "Fridge": 0.80,
    "GarbageCan": 0.03,
    "LaundryHamper": 0.03,
    "Microwave": 0.07,
    "Mug": 0.01,
    "Pan": 0.01,
    "Plate": 0.01,
    "Pot": 0.01,
    "Safe": 0.02,
    "Shelf": 0.0,
    "SinkBasin": 0.0,
}
"""Metres from the bottom of the box."""

_SHARE: Mapping[str, float] = {
    "ArmChair": 0.48,
    "Bed": 0.61,
    "Chair": 0.5,
    "DogBed": 0.4,
    "Sofa": 0.47,
    "Toaster": 0.5,
}
"""Share of the box's height. What is in neither table holds things on its top."""

_NARROWED: Mapping[str, float] = {
    "Bathtub": 0.85,
    "BathtubBasin": 0.85,
    "Chair": 0.8,
    "Fridge": 0.85,
    "GarbageCan": 0.75,
    "Microwave": 0.8,
    "SinkBasin": 0.9,
    "Stool": 0.85,
}
"""Share of the box's width and depth that can be used."""

VESSELS = frozenset({"Bowl", "Box", "Cup", "Mug", "Pan", "Plate", "Pot"})
"""What is carried about with what is in it."""
BRIMMING = VESSELS | {"CoffeeMachine", "StoveBurner", "Toaster"}
"""What is as full as can be with one thing, however large."""
HANGERS = frozenset({"HandTowelHolder", "ToiletPaperHanger", "TowelHolder"})
"""What things hang on, one at a time."""
_BASINS: Mapping[str, str] = {"Sink": "SinkBasin", "Bathtub": "BathtubBasin"}


_DRAWN_OUT = 0.8
"""Share of its depth that a drawer comes out when it is wide open."""


_THICK_COUNTER = 0.06
"""Metres: a worktop's box that is higher is the whole counter."""


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """What something can be put down on."""

    owner: SimObject
    areas: tuple[Box, ...]
    """Only their width and depth count."""
    height: float
    """Metres in the world."""
    headroom: float
    """Metres above it; inf under the open sky."""
    enclosed: bool
    """What is outside is not in the way."""
    brimming: bool
    """What is in it may stick out of it."""


def surface(world: World, thing: SimObject) -> Surface:
    """Where a receptacle holds things. A sink's is its basin's."""
    own = basin(world, thing) or thing
    kind, box = own.kind, own.box
    height = float(box.low[1]) + rise(world, own)
    above = float(box.high[1]) - height
    inside = kind in ENCLOSING or kind in ("GarbageCan", "SinkBasin", "BathtubBasin")
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
    kind = _BASINS.get(thing.kind)
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
    """What part of a receptacle can be used, seen from above."""
    if (parts := world.room.strips.get(thing.id)) is not None:
        return parts
    share = _NARROWED.get(thing.kind, 0.95)
    box = thing.box.moved(slide(thing))
    wide = box.half * np.where(np.arange(3) == box.up, 1.0, share)
    return (Box(box.center, wide, box.axes),)


def counter_height(thing: SimObject) -> float:
    """Height of a worktop, metres: its box is a thin one above it, or the whole counter."""
    whole = 2 * thing.box.reach[1] > _THICK_COUNTER
    return float(thing.box.high[1] if whole else thing.box.low[1])


def slide(thing: SimObject) -> Array:
    """How far a drawer has been drawn out (3,), metres; nothing else moves when it opens."""
    if thing.kind != "Drawer" or not thing["isOpen"]:
        return np.zeros(3)
    return thing.box.axes[:, 2] * float(2 * thing.box.half[2] * _DRAWN_OUT * thing["openness"])


def rise(world: World, thing: SimObject) -> float:
    """From the bottom of its box to where things stand, metres.

    What the room came with tells best: tables with shelves above them, beds of any height.
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
