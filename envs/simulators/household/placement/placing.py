"""Puts objects down without overlap, picks them up, and moves their contents along."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from inhabit.envs.simulators.household.geometry.boxes import STEP, Array, Box, yaw
from inhabit.envs.simulators.household.geometry.grid import distance
from inhabit.envs.simulators.household.placement.surfaces import (
    HANGERS,
    VESSELS,
    Rectangle,
    Surface,
    clear,
    surface,
)
from inhabit.envs.simulators.household.state.agent import AgentState
from inhabit.envs.simulators.household.state.world import SimObject, World, shut
from inhabit.envs.simulators.household.types.things import BASINS, ENCLOSING, those

_UPRIGHT = np.eye(3)
_ON_X = np.array(((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)))
"""Rotation of a thing whose own x points up."""
_ON_Z = np.array(((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0)))
"""Rotation of a thing whose own z points up."""
_LIES_ON_X, _LIES_ON_Z = those("lies_on_x"), those("lies_on_z")


def ways_to_lie(kind: str, half: Array, heading: float) -> Iterator[Array]:
    """Rotations (3, 3) to try, best first: upright as its type rests, rotated by 90 degrees, then
    flat.

    Args:
        kind: THOR's type.
        half: (3,), half its extent along its own axes.
        heading: degrees, of what it is put on.
    """
    if kind in _LIES_ON_X:
        rest = _ON_X
    elif kind in _LIES_ON_Z:
        rest = _ON_Z
    else:
        rest = _UPRIGHT
    thinnest = int(np.argmin(half))
    flat = (_ON_X, _UPRIGHT, _ON_Z)[thinnest]
    for base in (rest,) if flat is rest else (rest, flat):
        for quarter in (0.0, 90.0):
            yield yaw(heading + quarter) @ base


def heading(box: Box) -> float:
    """The heading of a box's front, degrees."""
    ahead = box.axes[:, 2] if box.up != 2 else box.axes[:, 1]
    return float(np.degrees(np.arctan2(ahead[0], ahead[2])))


_GAP = 0.004
"""Gap in metres between objects."""
_SPACING = 0.04
"""Distance in metres between tried positions."""
_TOUCHING = 0.04
"""Tolerance in metres for being on a surface."""
_AT_HAND = 0.1
"""Maximum distance in metres of an object from its hanger."""
_LOW_RIMMED = those("low_rimmed")
"""Receptacles over whose rim large objects may extend."""
_ON_FLOOR = 0.005
"""Metres above the floor: what is lower lies on the floor itself, not in a basket or cupboard."""
_OVER_FLOOR = 0.36
"""Metres above the floor: what is lower is on it too. Right for 96 % of things in iTHOR's rooms."""
_DEEP = (VESSELS & those("inside")) - {"Pan"}
"""Vessels whose hollow fills their box; a pan's box holds its handle, too."""
_HOLLOW = 0.75
"""Share of a vessel's width and depth in which it is open."""
_SUNK = those("sunk")
"""Objects that nothing may be put across, though they do not rise above the counter."""


def place(
    world: World, thing: SimObject, ground: Surface, wish: Array, *, among: bool = False
) -> Box | None:
    """Find a place for an object on a surface.

    Args:
        world: the room.
        thing: what to put down; where it is now does not matter.
        ground: the surface of a receptacle, or a part of it.
        wish: (3,), the place that is wanted; the nearest free one is given.
        among: whether it may go through what lies there.

    Returns:
        Its box there, or None if there is no room for it.
    """
    receptacle = ground.owner
    if receptacle.kind in HANGERS:
        return None if world.put_in(receptacle.id) else _hung(thing, receptacle)
    others = [] if among else list(_in_the_way(world, thing, ground))
    turn = heading(receptacle.box)
    for axes in ways_to_lie(thing.kind, thing.box.half, turn):
        box = Box(thing.box.center, thing.box.half, axes)
        tall = 2 * float(box.reach[1])
        if tall > ground.headroom + 0.01:
            continue
        low, high = ground.height, ground.height + tall
        standing = [Rectangle.of(o) for o in others if _meets(o, low, high)]
        if (spot := _nearest_free(box, ground, standing, wish)) is not None:
            return Box(np.array((spot[0], low + tall / 2, spot[1])), box.half, axes)
    return None


def put(world: World, thing: str, box: Box, parents: Iterable[str]) -> None:
    """Put an object with its contents in a place, and set its parents."""
    carry(world, thing, box)
    world.change(thing, isPickedUp=False)
    rest(world, thing, parents)


def rest(world: World, thing: str, parents: Iterable[str]) -> None:
    """Set what an object is on or in; in AI2-THOR, that is everything that it is on or in."""
    world.link(thing, [*dict.fromkeys((*parents, *_around(world, world.things[thing])))])
    for inner in _contents(world, thing):
        own = world.things[inner].parents
        world.link(inner, [*dict.fromkeys((*own, *_around(world, world.things[inner])))])


def lift(world: World, thing: str) -> None:
    """Take an object with its contents from what it is on or in."""
    own = {thing, *_contents(world, thing)}
    for one in own:
        kept = [id for id in world.things[one].parents if id in own] if one != thing else ()
        world.link(one, kept)


def _contents(world: World, thing: str) -> Sequence[str]:
    """What goes along with an object."""
    return list(world.within(thing)) if world.rules.contents_follow else []


def _around(world: World, thing: SimObject) -> Iterator[str]:
    if not world.rules.lies_in_all_around:
        return
    box, own = thing.box, {thing.id, *world.within(thing.id), *world.in_hands}
    base = box.center - np.array((0.0, box.reach[1], 0.0))
    basins = [one.box for one in world.things.values() if one.kind in BASINS.values()]
    # A cupboard whose box reaches into the basin above it does not hold what lies there.
    washed = any(basin.holds(box.center, 0.0) for basin in basins)
    for other in world.things.values():
        if other.kind == "Floor":
            holds = bool(base[1] < world.room.outline.floor + _OVER_FLOOR)
        else:
            able = other["receptacle"] and other.present and other.id not in own
            holds = able and not (washed and shut(other)) and _bearing(world, other, box, base) == 0
        if holds:
            yield other.id


def carry(world: World, thing: str, box: Box) -> None:
    """Move an object with everything on or in it."""
    old = world.things[thing].box
    turn = box.axes @ old.axes.T
    for inner in world.within(thing):
        world.move(inner, world.things[inner].box.about(turn, old.center, box.center))
    world.move(thing, box)


def hold(world: World) -> None:
    """Move what is held to the hands."""
    for agent in world.agents:
        for id, box in _in_hand(world, agent):
            now = world.things[id].box
            if not (np.allclose(now.center, box.center) and np.allclose(now.axes, box.axes)):
                carry(world, id, box)


def _in_hand(world: World, agent: AgentState) -> Iterator[tuple[str, Box]]:
    """Where what an agent holds belongs."""
    if agent.held is not None:
        thing = world.things[agent.held]
        hand, axes = agent.hand()
        yield thing.id, Box(hand - axes @ thing.pivot, thing.box.half, axes)
    if (robot := agent.robot) is not None:
        for grip in robot.held:
            half = world.things[grip.id].box.half
            yield grip.id, robot.pose_of(grip, agent.base(), half)


def drop(world: World, thing: SimObject, at: Array) -> tuple[Box, SimObject]:
    """The place where an object comes to rest when dropped at a point, and its support.

    The highest open surface below that has room for it; the floor has room everywhere.
    """
    floor = None
    below: list[Surface] = []
    inner = set(world.within(thing.id)) | {thing.id}
    for other in world.things.values():
        if other.kind == "Floor":
            floor = other
        elif other["receptacle"] and other.id not in inner and _open(world, other):
            ground = surface(world, other)
            if ground.height <= at[1] and any(_over(area, at) for area in ground.areas):
                below.append(ground)
    for ground in sorted(below, key=lambda ground: (-ground.height, ground.owner.id)):
        other = ground.owner
        if other.kind not in HANGERS and (box := place(world, thing, ground, at)) is not None:
            return box, other
    if floor is None:
        raise ValueError("The room has no Floor for objects to fall on.")
    return place_on_floor(world, thing, at), floor


def support(world: World, box: Box, *, ignoring: Iterable[str] = ()) -> list[str]:
    """The smallest receptacle that a box rests on, in or at; otherwise the floor."""
    skipped = set(ignoring)
    base = box.center - np.array((0.0, box.reach[1], 0.0))
    found: list[tuple[int, float, str]] = []
    floor = []
    for other in world.things.values():
        if other.kind == "Floor":
            floor = [other.id]
        elif other["receptacle"] and other.present and other.id not in skipped:
            rank = _bearing(world, other, box, base)
            if rank is not None:
                found.append((rank, float(np.prod(other.box.reach[[0, 2]])), other.id))
    return [min(found)[2]] if found else floor


def _bearing(world: World, other: SimObject, box: Box, base: Array) -> int | None:
    """How well a surface supports a box: 0 on or in it, 1 deep in it; None if it does not.

    Furniture is not everywhere as high as when a pose was written down, and objects are sunk in it.
    """
    if other.kind in HANGERS:
        near_by = float(distance(other.box, base[None, [0, 2]])[0]) < _AT_HAND
        return 0 if near_by and box.low[1] < other.box.center[1] < box.high[1] + _AT_HAND else None
    ground = surface(world, other)
    off = float(base[1]) - ground.height
    if other.kind in _DEEP and _reaches_in(other.box, box):
        return 0
    if other.kind in ENCLOSING and base[1] < world.room.outline.floor + _ON_FLOOR:
        return None
    if ground.enclosed and other.box.holds(box.center, 0.01):
        return 0
    if abs(off) < _TOUCHING and any(_over(area, base) for area in ground.areas):
        return 0
    if other.kind in ENCLOSING:
        return None
    low, high = float(other.box.low[1]), float(other.box.high[1])
    above = any(_over(part, base) for part in world.room.parts(other.id, other.box))
    return 1 if above and low - _TOUCHING <= base[1] <= high + _TOUCHING else None


def _reaches_in(vessel: Box, box: Box) -> bool:
    """Whether a smaller box reaches into a vessel: what leans in a cup is in it, in AI2-THOR."""
    if vessel.half.prod() <= box.half.prod() or not _meets(vessel, box.low[1], box.high[1]):
        return False
    hollow = Rectangle.of(Box(vessel.center, _HOLLOW * vessel.half, vessel.axes))
    shape = Rectangle.of(box)
    return not clear(shape, shape.center[None], [hollow], 0.0)[0]


def _open(world: World, thing: SimObject) -> bool:
    return not shut(thing) and not world.hidden(thing.id) and not thing["isPickedUp"]


def _over(area: Box, point: Array) -> bool:
    return bool(Rectangle.of(area).holds(point[[0, 2]]))


def _in_the_way(world: World, thing: SimObject, ground: Surface) -> Iterator[Box]:
    """Boxes that an object on this surface must not touch."""
    own, held = {thing.id, *world.within(thing.id), ground.owner.id}, world.in_hands
    if ground.enclosed:
        yield from (world.things[i].box for i in ground.owner.contents if i not in own)
        return
    for other in world.things.values():
        if other.id in own or other.kind == "Floor" or other.id in held:
            continue
        if world.hidden(other.id) or _encloses(other.box, ground):
            continue
        if other.kind in _SUNK and abs(other.box.high[1] - ground.height) < 0.12:
            center = other.box.center.copy()
            center[1] = ground.height + 0.01
            yield Box(center, other.box.half, other.box.axes)
        elif other.kind == "Television":
            yield from _foot_and_screen(other.box)
        else:
            yield from world.room.parts(other.id, other.box)


def _foot_and_screen(box: Box) -> Iterator[Box]:
    """The box of a television without the free space in front of it and beside its foot."""
    low, tall = float(box.low[1]), 2 * float(box.reach[1])
    thin = min((axis for axis in range(3) if axis != box.up), key=lambda axis: box.half[axis])
    for bottom, top, wide, deep in ((0.0, 0.1, 0.35, 0.8), (0.1, 1.0, 1.0, 0.3)):
        half = box.half * wide
        half[thin] = box.half[thin] * deep
        half[box.up] = (top - bottom) * tall / 2
        center = box.center.copy()
        center[1] = low + (bottom + top) / 2 * tall
        yield Box(center, half, box.axes)


def _encloses(box: Box, ground: Surface) -> bool:
    """Whether the surface is part of this box, such as a shelf of its unit."""
    center = ground.areas[0].center.copy()
    center[1] = ground.height - 0.005
    return box.holds(center) or box.holds(ground.owner.box.center)


def _meets(other: Box, low: float, high: float) -> bool:
    return bool(other.high[1] > low + 0.005 and other.low[1] < high - 0.005)


def _nearest_free(
    box: Box, ground: Surface, standing: Sequence[Rectangle], wish: Array
) -> tuple[float, float] | None:
    best: tuple[float, float, float] | None = None
    for area in ground.areas:
        spots = _spots(box, area, ground)
        if not len(spots):
            continue
        free = clear(Rectangle.of(box), spots, standing, _GAP)
        if ground.brimming and len(ground.owner.contents) < 2:
            free[:] = True  # A bowl is filled, not arranged.
        spots = spots[free]
        away = np.hypot(spots[:, 0] - wish[0], spots[:, 1] - wish[2])
        # Of those that are equally far, to a micrometre, the first along x and z.
        for i in np.flatnonzero(away <= away.min(initial=np.inf) + 2e-6):
            found = (round(float(away[i]), 6), float(spots[i, 0]), float(spots[i, 1]))
            best = min(best or found, found)
    return None if best is None else (best[1], best[2])


def _spots(box: Box, area: Box, ground: Surface) -> Array:
    """Centers (N, 2) for a box within an area, in rows and columns."""
    shape, thing = Rectangle.of(area), Rectangle.of(box)
    turned = np.abs(shape.axes.T @ thing.axes) @ thing.half
    room = shape.half - turned
    strict = ground.enclosed and ground.owner.kind not in _LOW_RIMMED
    slack = 0.02 if strict else 0.6 * shape.half
    if (room < -slack).any() and not ground.brimming:
        return np.empty((0, 2))
    room = np.maximum(room, 0.0)
    steps = np.minimum(np.floor(2 * room / _SPACING), 24).astype(int) + 1
    u, v = (
        np.linspace(-r, r, n) if n > 1 else np.zeros(1) for r, n in zip(room, steps, strict=True)
    )
    grid = np.stack(np.meshgrid(u, v, indexing="ij"), axis=-1).reshape(-1, 2)
    return shape.center + grid @ shape.axes.T


def _hung(thing: SimObject, hanger: SimObject) -> Box:
    """Hanging against the wall, with its top just above the bar; a roll around it."""
    axes = yaw(heading(hanger.box))
    box = Box(hanger.box.center, thing.box.half, axes)
    x, _, z = hanger.box.center
    roll = hanger.kind == "ToiletPaperHanger"
    top = float(hanger.box.low[1]) + (float(box.reach[1]) if roll else 0.06)
    return Box(np.array((x, top - float(box.reach[1]), z)), box.half, axes)


def place_on_floor(world: World, thing: SimObject, at: Array) -> Box:
    """On the floor at the free position nearest to a point; otherwise at the point."""
    axes = next(ways_to_lie(thing.kind, thing.box.half, world.agent.rotation))
    box = Box(thing.box.center, thing.box.half, axes)
    outline, tall = world.room.outline, 2 * float(box.reach[1])
    own = {thing.id, *world.within(thing.id)}
    standing = [
        Rectangle.of(other.box)
        for other in world.things.values()
        if other.id not in own
        and other.kind != "Floor"
        and not world.hidden(other.id)
        and _meets(other.box, outline.floor, outline.floor + tall)
    ]
    cells = np.array(sorted(world.cells), np.float64).reshape(-1, 2) * STEP
    offsets = np.linspace(-0.1, 0.1, 3)
    spots = (cells[:, None, None] + np.stack(np.meshgrid(offsets, offsets), -1)).reshape(-1, 2)
    spots = np.concatenate([[at[[0, 2]]], spots])
    inside = (spots >= np.array(outline.low) + 0.1) & (spots <= np.array(outline.high) - 0.1)
    free = clear(Rectangle.of(box), spots, standing, _GAP) & inside.all(axis=1)
    far = np.hypot(*(spots - at[[0, 2]]).T)
    choice = int(np.argmin(np.where(free, far, np.inf))) if free.any() else 0
    x, z = spots[choice]
    return Box(np.array((x, outline.floor + tall / 2, z)), box.half, axes)
