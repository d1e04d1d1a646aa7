"""What rows of object types say for ALFRED: what may be where, and what tasks do to it."""

from __future__ import annotations

from collections.abc import Mapping

from inhabit.envs.alfred.world.rooms import Kind
from inhabit.envs.simulators.household.types.things import THINGS, spelled_out, those


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
