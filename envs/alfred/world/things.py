"""Types of objects, and their states."""

from __future__ import annotations

from collections.abc import Mapping

from inhabit.envs.alfred.world.rooms import Kind
from inhabit.envs.simulators.household.types.things import THINGS, spelled_out, those
from inhabit.envs.world.rows import State


def _by_room(role: str) -> Mapping[Kind, tuple[str, ...]]:
    return {
        kind: tuple(
            type
            for type, thing in THINGS.items()
            if thing.role == role and kind.replace(" ", "-") in thing.rooms
        )
        for kind in Kind
    }


def that_can(action: str) -> frozenset[str]:
    """The types to which something may be done: "open"."""
    return frozenset(type for type, thing in THINGS.items() if action in thing.can)


def that_suit(task: str) -> tuple[str, ...]:
    """The types that tasks ask something to be done to: "heat"."""
    return tuple(sorted(type for type, thing in THINGS.items() if task in thing.suits))


HOLDERS = _by_room("holder")
"""Receptacles, movable ones included."""
ITEMS = _by_room("item")
"""Pickupable objects that hold nothing."""
FIXTURES = _by_room("fixture")
"""Other objects to open, switch or go to."""
TYPES = frozenset(type for type, thing in THINGS.items() if thing.role is not None)
"""All types that have names."""
CARRIED = those("carried")
"""Movable receptacles, footstools included."""
MOVABLE = tuple(sorted(those("vessel")))
"""Movable receptacles of goals."""
IN_SLICES = tuple(sorted(type for type, thing in THINGS.items() if thing.slices is not None))
"""Types that goals may ask slices of: an egg is cracked."""
DOORS = those("door")
"""Receptacles to close again after something is taken out."""
KNIVES = those("knife")
IN = those("inside")
"""Objects go in these, and on all other receptacles."""
SYNONYMS: Mapping[str, str] = {said: type for type, thing in THINGS.items() for said in thing.also}
"""Synonyms that the parser accepts."""

PLACES: Mapping[str, tuple[str, ...]] = {
    type: spelled_out(thing.places) for type, thing in THINGS.items() if thing.places
}
"""Object type -> receptacle types."""
LOADS: Mapping[str, tuple[str, ...]] = {
    type: spelled_out(THINGS[type].loads) for type in sorted(THINGS) if THINGS[type].loads
}
"""Movable receptacle -> the types that are put in or on it."""
LIT = that_suit("light")
"""Types that are examined in the light."""


STATES = (
    State("open", ("open", "closed"), "openable", "isOpen", "OpenObject", "CloseObject"),
    State("on", ("on", "off"), "toggleable", "isToggled", "ToggleObjectOn", "ToggleObjectOff"),
    State("dirty", ("dirty", "clean"), "dirtyable", "isDirty", "DirtyObject", "CleanObject"),
    State("filled", ("filled", "unfilled"), "canFillWithLiquid", "isFilledWithLiquid"),
    State("sliced", ("sliced", "whole"), "sliceable", "isSliced", "SliceObject"),
    State("broken", ("broken", "intact"), "breakable", "isBroken", "BreakObject"),
    State("cooked", ("cooked", "uncooked"), "cookable", "isCooked", "CookObject"),
)
