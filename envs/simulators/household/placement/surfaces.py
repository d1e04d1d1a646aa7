"""Surfaces that things lie on, and how much room a thing takes there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.household.geometry.boxes import Array, Box, angles, box_metadata, xyz
from inhabit.envs.simulators.household.state.agent import AgentState
from inhabit.envs.simulators.household.state.world import SimObject, World, shut
from inhabit.envs.simulators.household.types.things import (
    BASINS,
    ENCLOSING,
    THINGS,
    spelled_out,
    those,
)

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
_ROOMY = 0.4
"""Half the width in metres from which on a toilet's box has room on all sides."""
_DRAWN_OUT = 0.8
"""Fraction of its depth that a drawer extends when fully open."""
_THICK_COUNTER = 0.06
"""A worktop's box higher than this, in metres, is the whole counter."""


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """A surface to put objects on."""

    owner: SimObject
    areas: tuple[Box, ...]
    """Boxes of the surface, of which only width and depth matter."""
    height: float
    """Height in the world, metres."""
    headroom: float
    """Clearance above the surface, metres; inf without a limit."""
    enclosed: bool
    """Whether objects outside do not block it."""
    brimming: bool
    """Whether objects in it may extend beyond it."""


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
    if thing.id in world.room.strips:
        return world.room.parts(thing.id, thing.box)
    box = thing.box.moved(slide(thing))
    if thing.kind == "Toilet":
        return (_tank(box),)
    share = _NARROWED.get(thing.kind, 0.95)
    wide = box.half * np.where(np.arange(3) == box.up, 1.0, share)
    return (Box(box.center, wide, box.axes),)


def _tank(toilet: Box) -> Box:
    """The top of a tank, as toilets are drawn: in AI2-THOR's rooms, all that is on one is there."""
    back, front, wide = (-0.53, -0.27, 0.45) if toilet.half[0] > _ROOMY else (-0.97, -0.55, 0.95)
    away = toilet.axes[:, 2] * toilet.half[2] * (back + front) / 2
    half = toilet.half * (wide, 1.0, (front - back) / 2)
    return Box(toilet.center + away, half, toilet.axes)


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


@dataclass(frozen=True, slots=True, eq=False)
class Rectangle:
    """A horizontal rectangle; x first, then z."""

    center: Array
    """Center, (2,), metres."""
    half: Array
    """Half sides, (2,), metres."""
    axes: Array
    """Directions of the sides, (2, 2): column i is that of side i."""

    @classmethod
    def of(cls, box: Box) -> Rectangle:
        """The footprint of a box: rotated if it is upright, otherwise axis-aligned."""
        axes, half = box.footprint
        return cls(box.center[[0, 2]], half, axes)

    def holds(self, point: Array) -> bool:
        """Whether a point (2,) lies in it."""
        return bool((np.abs((point - self.center) @ self.axes) <= self.half).all())


def clear(
    shape: Rectangle, centers: Array, others: Sequence[Rectangle], gap: float
) -> NDArray[np.bool_]:
    """The positions at which a rectangle overlaps none of the others.

    Two rectangles are apart exactly if they are along a side of one of them (separating axes).

    Args:
        shape: the rectangle; its own centre does not matter.
        centers: (N, 2), where its centre might be.
        others: what is there already.
        gap: metres to leave between.

    Returns:
        (N,), True where it is free.
    """
    free = np.ones(len(centers), np.bool_)
    for other in others:
        apart = np.zeros(len(centers), np.bool_)
        away = centers - other.center
        for axes in (shape.axes, other.axes):
            reach = np.abs(axes.T @ shape.axes) @ shape.half
            reach = reach + np.abs(axes.T @ other.axes) @ other.half + gap
            apart |= (np.abs(away @ axes) >= reach).any(axis=1)
        free &= apart
    return free


_COOKABLE = those("cooks")
_CUT = 0.06
"""Gap between slices, as a fraction of a slice's thickness."""
_SLICES = 6
"""Number of slices of a type of the user's own."""


def cut(world: World, thing: SimObject) -> list[SimObject]:
    """Replace an object by its slices; an egg by its contents.

    The whole stays on THOR's list with `isSliced` (an egg with `isBroken` too), but it is nowhere.
    """
    parents = thing.parents
    world.link(thing.id, ())
    if thing.kind == "Egg":
        kind, boxes, first = "EggCracked", [_spilled(thing.box)], 0
        world.change(thing, isSliced=True, isBroken=thing["breakable"])
    else:
        count = world.rules.slices.get(thing.kind, _SLICES)
        kind, boxes = f"{thing.kind}Sliced", _slabs(thing, count)
        first = world.rules.first_slice
        world.change(thing, isSliced=True)
    world.vanish(thing)
    made = []
    for number, box in enumerate(boxes, first):
        piece = _piece(thing, kind, number, box, len(boxes))
        if world.rules.names_as_in_thor and kind != "EggCracked":
            piece["name"] = f"{thing['assetId'] or thing.kind}_Slice_{number + 1}"
        made.append(world.add(piece, box))
        world.link(piece["objectId"], parents)
    return made


def _slabs(thing: SimObject, count: int) -> list[Box]:
    """Equal slabs across the longest horizontal side."""
    box = thing.box
    level = [axis for axis in range(3) if axis != box.up]
    along = max(level, key=lambda axis: (round(float(box.half[axis]), 4), axis))
    thick = box.half[along] / count
    half = box.half.copy()
    half[along] = thick * (1 - _CUT)
    places = (2 * np.arange(count) + 1 - count) * thick
    return [Box(box.center + box.axes[:, along] * place, half, box.axes) for place in places]


def _spilled(box: Box) -> Box:
    half = np.array((0.06, 0.012, 0.06))
    center = box.center.copy()
    center[1] = box.low[1] + half[1]
    return Box(center, half, np.eye(3))


def _piece(thing: SimObject, kind: str, number: int, box: Box, count: int) -> dict[str, Any]:
    return {
        **thing.metadata,
        "assetId": "",
        "breakable": False,
        "cookable": kind in _COOKABLE,
        "isBroken": False,
        "isPickedUp": False,
        "isSliced": False,
        "mass": thing["mass"] / count,
        "name": f"{thing['name']}_{kind}_{number}",
        "objectId": f"{thing.id}|{kind}_{number}",
        "objectType": kind,
        "parentReceptacles": None,
        "position": xyz(box.center),
        "rotation": angles(box.axes),
        "sliceable": False,
        **box_metadata(box, oriented=True),
    }


_SUNK = 0.02
"""Metres that a hand may be in a thing: our shapes are not THOR's."""


def touched(world: World, agent: AgentState) -> list[SimObject]:
    """What the sphere of an agent's hand touches, in THOR's order."""
    if agent.robot is None:
        return []
    center = agent.base().to_world(agent.robot.sphere)
    return [
        thing
        for thing in world.things.values()
        if thing.kind != "Floor"
        and not world.hidden(thing.id)
        and _distance(thing.box, center) <= agent.robot.radius
    ]


def in_the_way(world: World, agent: AgentState) -> set[str]:
    """Names of the furniture and walls that an agent's hand, or what it holds, is in.

    What can be picked up or pushed gives way to an arm. The air over a shelf or in an open fridge
    is free, and so is that over a table, but not that below it.
    """
    robot, outline = agent.robot, world.room.outline
    if robot is None:
        return set()
    base = agent.base()
    points = [base.to_world(robot.wrist), base.to_world(robot.sphere)]
    for grip in robot.held:
        box = robot.pose_of(grip, base, world.things[grip.id].box.half)
        points += list(Box(box.center, np.maximum(box.half - _SUNK, 0.0), box.axes).corners)
    found = set()
    for point in points:
        if not outline.holds(point[0], point[2]):
            found.add("Wall")
        if point[1] < outline.floor - _SUNK:
            found.add("Floor")
        found |= {str(thing["name"]) for thing in _solid(world) if _is_in(world, thing, point)}
    return found


def _solid(world: World) -> Iterator[SimObject]:
    for thing in world.things.values():
        loose = thing["pickupable"] or thing["moveable"]
        if thing.kind != "Floor" and thing.present and not loose:
            yield thing


def _is_in(world: World, thing: SimObject, point: Array) -> bool:
    parts = world.room.parts(thing.id, thing.box)
    if not any(part.holds(point, -_SUNK) for part in parts):
        return False
    airy = thing["receptacle"] and not shut(thing)
    return not airy or bool(point[1] < surface(world, thing).height - _SUNK)


def _distance(box: Box, point: Array) -> float:
    """Metres from a point to a box; 0 inside."""
    return float(np.linalg.norm(np.maximum(np.abs(box.to_own(point)) - box.half, 0.0)))


_TAKES: Mapping[str, frozenset[str]] = {
    name: frozenset(spelled_out(thing.takes))
    for name, thing in THINGS.items()
    if thing.takes is not None
}


def allowed(kind: str, receptacle: str) -> bool:
    """Whether a type may be put on or in a receptacle type."""
    return kind in _TAKES.get(receptacle, (kind,))


def capacity(receptacle: str) -> int | None:
    """Maximum number of objects of a receptacle; None if only their size matters."""
    return THINGS[receptacle].capacity if receptacle in THINGS else None
