"""Counters, cabinets and drawers, as they stand in a row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from random import Random

import numpy as np

from inhabit.envs.simulators.household.geometry.boxes import Array, Box, Outline, into, out_of
from inhabit.envs.simulators.household.geometry.fronts import CARCASSES
from inhabit.envs.simulators.household.placement.surfaces import counter_height
from inhabit.envs.simulators.household.state.world import SimObject
from inhabit.envs.simulators.household.types.things import BASINS
from inhabit.envs.simulators.render.lathe import box
from inhabit.envs.simulators.render.mesh import Material, Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import (
    COUNTERS,
    ENAMEL,
    FRONTS,
    METALS,
    WHITEWOOD,
    WOODS,
    shade,
)

_THICK = 0.04
"""Thickness of the slab, metres."""
_RIM = 0.02
"""Metres of a sink's edge that lie on the slab."""
_OVERHANG = 0.04
"""Overhang of the slab over its panels, metres; and on an island, for knees:"""
_ISLAND_OVERHANG = 0.2
_LEAST_CUT, _MOST_CUT = 0.1, 0.3
"""Metres that a slab reaches beyond the fronts below it where it is cut: more are knee room."""
_FACING = 0.9
"""Cosine of the angle within which a front faces a side."""
_NARROWEST = 0.05
"""Slivers below this many metres are left out."""
_AT_WALL = 0.35
_BETWEEN = frozenset({"Desk", "DiningTable", "Dresser", "Fridge", "SideTable"})
"""Objects with a top of their own, which interrupt a worktop."""
_LOWER = 0.15
"""Metres that such a top may be lower than the worktop."""

Rectangle = tuple[float, float, float, float]
"""Lowest x and z, highest x and z, metres."""


def counter(
    top: SimObject,
    strips: Sequence[Box],
    others: Iterable[SimObject],
    outline: Outline,
    stone: Material,
    front: Material,
) -> Mesh:
    """The mesh of a worktop in the world's frame.

    Args:
        top: the counter.
        strips: its parts along the walls.
        others: the room's things: sinks are let in, cupboards stay free.
        outline: the room's.
        stone: of the slab.
        front: of the panels.
    """
    others = [other for other in others if other.id != top.id and other.kind != "Floor"]
    height = counter_height(top)
    sinks = [o.box for o in others if o.kind == "Sink"] or [
        o.box for o in others if o.kind == "SinkBasin"
    ]
    let_in = [sink for sink in sinks if abs(sink.high[1] - height) < 0.2]
    holes = [_rectangle(sink, -_RIM) for sink in let_in]
    between = [_rectangle(o.box, 0.0) for o in others if _interrupts(o, height, outline.floor)]
    below = [o for o in others if o.box.low[1] < height - 0.15 and not o["pickupable"]]
    cupboards = [_rectangle(o.box, 0.005) for o in below if o.kind not in ("Sink", "SinkBasin")]
    taken = cupboards + [_rectangle(sink, 0.0) for sink in let_in]
    parts = []
    for strip in strips:
        whole = _rectangle(strip, 0.0)
        gaps = [_across(gap, whole) for gap in between if _deep_in(gap, whole)]
        for sink in let_in:
            for piece in _without(
                _common(_inset(whole, outline), _rectangle(sink, 0.0)), cupboards
            ):
                parts.append(_block(piece, outline.floor, float(sink.low[1]), front))
        parts += [_block(r, height - _THICK, height, stone) for r in _without(whole, holes + gaps)]
        for piece in _without(_inset(whole, outline), [_deepened(t, whole) for t in taken] + gaps):
            if min(piece[2] - piece[0], piece[3] - piece[1]) > _NARROWEST:
                parts.append(_block(piece, outline.floor, height - _THICK, front))
    # What stands in all of it leaves nothing: then it is drawn as if nothing did.
    return join(
        parts or [_block(_rectangle(s, 0.0), height - _THICK, height, stone) for s in strips]
    )


def cut_to_fronts(
    top: SimObject, strips: Sequence[Box], others: Sequence[SimObject]
) -> Sequence[Box]:
    """The parts of a worktop, none deeper than the drawers and doors below it.

    What is recorded lies in open drawers that a worktop of the usual depth would hide.

    Args:
        top: the counter.
        strips: its parts along the walls.
        others: the room's things at first.
    """
    on_top = [other.box.center for other in others if top.id in other.parents]
    fronts = [
        other.box
        for other in others
        if other.kind in ("Cabinet", "Drawer") and other.box.high[1] <= top.box.high[1] + _THICK
    ]
    cut = []
    for strip in strips:
        rest = [other for other in strips if other is not strip]
        alone = [at for at in on_top if not any(_above(other, at) for other in rest)]
        cut.append(_cut(strip, fronts, [at for at in alone if _above(strip, at)]))
    return cut


def _cut(strip: Box, fronts: Sequence[Box], on_top: Sequence[Array]) -> Box:
    """A part of a worktop that ends at the fronts below it, unless something stands beyond."""
    across = 2 if strip.half[0] >= strip.half[2] else 0
    low, high = strip.low.copy(), strip.high.copy()
    for sign, edge in ((1.0, high), (-1.0, low)):
        below = [
            float(sign * front.center[across] + front.reach[across])
            for front in fronts
            if sign * front.axes[across, 2] > _FACING and _above(strip, front.center)
        ]
        front = max(below, default=-np.inf)
        beyond = sign * edge[across] - front
        held = any(sign * at[across] > front for at in on_top)
        if _LEAST_CUT < beyond < _MOST_CUT and not held:
            edge[across] = sign * (front + _OVERHANG)
    return Box((low + high) / 2, (high - low) / 2, strip.axes)


def _above(strip: Box, point: Array) -> bool:
    return bool((np.abs(point - strip.center)[[0, 2]] < strip.half[[0, 2]]).all())


def _interrupts(other: SimObject, height: float, floor: float) -> bool:
    """Whether it stands on the floor between two parts of a worktop, not under one."""
    low, high = float(other.box.low[1]), float(other.box.high[1])
    return other.kind in _BETWEEN and low < floor + 0.15 and high > height - _LOWER


def stove(burners: Sequence[Box], knobs: Sequence[Box], outline: Outline) -> Mesh:
    """The body of a stove below its burners, which THOR does not list.

    Its front is flush with the knobs, if there are any on that side.
    """
    low = np.min([b.low for b in burners], axis=0) - 0.03
    high = np.max([b.high for b in burners], axis=0) + 0.03
    height = float(np.min([b.low[1] for b in burners])) - 0.004
    for knob in knobs:
        if knob.center[1] < height + 0.1:
            low = np.minimum(low, knob.center)
            high = np.maximum(high, knob.center)
    whole = float(low[0]), float(low[2]), float(high[0]), float(high[2])
    return _block(whole, outline.floor, height, ENAMEL)


def _common(a: Rectangle, b: Rectangle) -> Rectangle:
    return max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])


def _rectangle(of: Box, margin: float) -> Rectangle:
    low, high = of.low - margin, of.high + margin
    return float(low[0]), float(low[2]), float(high[0]), float(high[2])


def _inset(strip: Rectangle, outline: Outline) -> Rectangle:
    """The panels' area: set back from the edges that are not at a wall."""
    x0, z0, x1, z1 = strip
    deep = _ISLAND_OVERHANG if min(x1 - x0, z1 - z0) > 0.8 else _OVERHANG
    gaps = (
        x0 - outline.low[0],
        z0 - outline.low[1],
        outline.high[0] - x1,
        outline.high[1] - z1,
    )
    back = [0.0 if gap < _AT_WALL else deep for gap in gaps]
    return x0 + back[0], z0 + back[1], x1 - back[2], z1 - back[3]


def _deepened(taken: Rectangle, strip: Rectangle) -> Rectangle:
    """The area of a cupboard from the strip's back to its front, to keep its doors free."""
    overlaps = taken[0] < strip[2] and taken[2] > strip[0]
    overlaps &= taken[1] < strip[3] and taken[3] > strip[1]
    return _across(taken, strip) if overlaps else taken


def _deep_in(gap: Rectangle, strip: Rectangle) -> bool:
    """Whether an object covers most of a strip's depth."""
    x0, z0, x1, z1 = _common(gap, strip)
    deep = min(strip[2] - strip[0], strip[3] - strip[1])
    return x1 - x0 > _NARROWEST and z1 - z0 > _NARROWEST and max(x1 - x0, z1 - z0) > deep / 2


def _across(gap: Rectangle, strip: Rectangle) -> Rectangle:
    """The objects that interrupt a strip from back to front."""
    if strip[2] - strip[0] >= strip[3] - strip[1]:
        return gap[0], min(gap[1], strip[1]), gap[2], max(gap[3], strip[3])
    return min(gap[0], strip[0]), gap[1], max(gap[2], strip[2]), gap[3]


def _without(whole: Rectangle, holes: Sequence[Rectangle]) -> list[Rectangle]:
    """A rectangle minus other rectangles, as rectangles."""
    left = [whole] if whole[0] < whole[2] and whole[1] < whole[3] else []
    for hx0, hz0, hx1, hz1 in holes:
        cut = []
        for x0, z0, x1, z1 in left:
            if hx0 >= x1 or hx1 <= x0 or hz0 >= z1 or hz1 <= z0:
                cut.append((x0, z0, x1, z1))
                continue
            cut += [(x0, z0, hx0, z1)] if hx0 > x0 else []
            cut += [(hx1, z0, x1, z1)] if hx1 < x1 else []
            inner = max(x0, hx0), min(x1, hx1)
            cut += [(inner[0], z0, inner[1], hz0)] if hz0 > z0 else []
            cut += [(inner[0], hz1, inner[1], z1)] if hz1 < z1 else []
        left = cut
    return left


def _block(of: Rectangle, low: float, high: float, material: Material) -> Mesh:
    x0, z0, x1, z1 = of
    size = np.maximum((x1 - x0, high - low, z1 - z0), 0.002)
    made = box((float(size[0]), float(size[1]), float(size[2])), material)
    return made.shifted((x0 + x1) / 2, (low + high) / 2, (z0 + z1) / 2)


_OPEN_OVER = 0.92
"""Share of a basin's width and depth in which its sink is open."""
_UPPER = 0.2
"""Share of its height from which on a basin widens, up to this share of its sink's width:"""
_INNER = 0.87
_DOOR = 0.044
"""Metres of a cupboard's depth that are its door and handle."""


def around_basins(thing: SimObject, made: Mesh, others: Iterable[SimObject]) -> Mesh:
    """A sink without what lies in its basins, a basin as wide as its sink at the top, and a
    cupboard that ends below a basin: so AI2-THOR's sinks can be looked into.
    """
    if thing.kind in BASINS:
        inside = [other.box for other in others if other.kind == BASINS[thing.kind]]
        return _open_over(thing.box, made, inside)
    if thing.kind in BASINS.values():
        sinks = [
            o.box for o in others if BASINS.get(o.kind) == thing.kind and _overlaps(thing, o.box)
        ]
        return _widened(thing.box, made, sinks[0]) if sinks else made
    if thing.kind in ("Cabinet", "Drawer"):
        basins = [o.box for o in others if o.kind in BASINS.values() and _overlaps(thing, o.box)]
        return _ending_below(thing.box, made, basins)
    return made


def _overlaps(thing: SimObject, box: Box) -> bool:
    """Whether a thing's box and another box overlap."""
    apart = np.abs(thing.box.center - box.center) - thing.box.reach - box.reach
    return bool((apart < 0.0).all())


def _open_over(sink: Box, made: Mesh, basins: Iterable[Box]) -> Mesh:
    middles = out_of(sink, made).vertices[made.faces].mean(axis=1)
    inside = np.zeros(len(middles), np.bool_)
    for basin in basins:
        own = np.abs((middles - basin.center) @ basin.axes)
        inside |= (own[:, [0, 2]] < _OPEN_OVER * basin.half[[0, 2]]).all(axis=1)
    return made.part(~inside)


def _widened(basin: Box, made: Mesh, sink: Box) -> Mesh:
    rim = basin.to_own(sink.center), _INNER * np.abs(basin.axes.T @ sink.axes) @ sink.half
    vertices, tall = made.vertices.copy(), 2 * float(basin.half[1])
    up = np.clip((vertices[:, 1] / tall + 0.5 - _UPPER) / (1 - _UPPER), 0.0, 1.0)
    for side in (0, 2):
        for way in (-1, 1):
            there = way * vertices[:, side] > 0
            wider = max(0.0, float((way * rim[0] + rim[1])[side] / basin.half[side]) - 1.0)
            vertices[there, side] *= 1 + wider * up[there]
    return replace(made, vertices=vertices)


def _ending_below(cupboard: Box, made: Mesh, basins: Iterable[Box]) -> Mesh:
    vertices = made.vertices.copy()
    for basin in basins:
        body = vertices[:, 2] < cupboard.half[2] - _DOOR
        limit = float(basin.low[1] - cupboard.center[1])
        if limit > -cupboard.half[1]:
            vertices[body, 1] = np.minimum(vertices[body, 1], limit)
    return replace(made, vertices=vertices)


_PLANK = 0.025
_POST = 0.04
"""Thickness of a plank and of a post, in metres."""
_HUTCH_DEPTH = 0.35
"""Maximum depth in metres of a rack above a desk's top."""


def carcass(size: Vector, surface: float, wood: Material, *, panelled: bool) -> Mesh:
    """A frame that fills its box, with its front at +z.

    Args:
        size: of the box, metres.
        surface: height of the top over its bottom; what is above that is a rack at the back.
        wood: of all parts.
        panelled: with sides and a back, as a dresser has, instead of legs.
    """
    x, y, z = size
    board, post = min(_PLANK, 0.2 * y), min(_POST, 0.2 * x, 0.2 * z)
    surface = min(max(surface, 0.2 * y), y)
    inside = surface - board
    parts = [box((x, board, z), wood, bevel=0.004).shifted(y=surface - board / 2 - y / 2)]
    middle = inside / 2 - y / 2
    if panelled:
        parts += [
            box((board, inside, z), wood).shifted(k * (x - board) / 2, middle) for k in (-1, 1)
        ]
        parts.append(
            box((x - 2 * board, inside, 0.01), shade(wood, 0.8)).shifted(0, middle, 0.005 - z / 2)
        )
    else:
        parts += [
            box((post, inside, post), wood).shifted(i * (x - post) / 2, middle, k * (z - post) / 2)
            for i in (-1, 1)
            for k in (-1, 1)
        ]
    if y - surface > 0.1:
        parts += _hutch(size, surface, wood)
    return join(parts)


def _hutch(size: Vector, surface: float, wood: Material) -> list[Mesh]:
    x, y, z = size
    tall, deep = y - surface, min(_HUTCH_DEPTH, z)
    back = (deep - z) / 2
    sides = [
        box((_PLANK, tall, deep), wood).shifted(k * (x - _PLANK) / 2, (y - tall) / 2, back)
        for k in (-1, 1)
    ]
    top = box((x, _PLANK, deep), wood).shifted(0, (y - _PLANK) / 2, back)
    return [*sides, top]


_FITTED = frozenset({"Cabinet", "Drawer", "Shelf"})
_PANELLED = frozenset({"Dresser", "TVStand"})
_BOARD = 0.02
_WITHIN = 0.97
"""Fraction of a rack's width and depth that its boards have."""
_NEAR_WALL = 0.3
"""A front nearer to a wall than this, in metres, cannot be seen."""
_WOODS = tuple(dict.fromkeys((*FRONTS, *WOODS, WHITEWOOD)))


class Joinery:
    """The woods and metals of one room."""

    def __init__(self, things: Iterable[SimObject], seed: int) -> None:
        """Choose the materials.

        Args:
            things: of the room.
            seed: chooses.
        """
        things = tuple(things)
        self._owners = {thing.id: _owner(thing, things) for thing in things}
        self._framed = {owner for owner in self._owners.values() if owner is not None}
        self._seed = seed

    @property
    def stone(self) -> Material:
        """The material of all worktops."""
        return Random(f"stone {self._seed}").choice(COUNTERS)

    @property
    def front(self) -> Material:
        """The material of all fitted furniture."""
        return self._choice(None)[0]

    def board(self, thing: SimObject, things: Mapping[str, SimObject]) -> Mesh | None:
        """A shelf of a rack, as wide and deep as the rack; None if it belongs to none."""
        owner = self._owners.get(thing.id)
        if thing.kind != "Shelf" or owner is None or owner not in things:
            return None
        if things[owner].kind != "ShelvingUnit":
            return None
        around, wood = things[owner].box, self._choice(owner)[0]
        x, _, z = (2 * around.half * _WITHIN).tolist()
        slab = box((x, _BOARD, z), wood)
        middle = around.center.copy()
        middle[1] = thing.box.low[1] - _BOARD / 2
        return into(thing.box, out_of(Box(middle, around.half, around.axes), slab))

    def framed(self, thing: SimObject) -> bool:
        """Whether its drawers, doors or boards are objects of their own."""
        return thing.id in self._framed

    def frame(self, thing: SimObject, surface: float, size: Vector) -> Mesh:
        """The frame that holds the drawers, doors or boards of a piece of furniture.

        Args:
            thing: the furniture.
            surface: height of its top over its bottom, metres.
            size: of the box to fill, metres.
        """
        wood = self._choice(thing.id)[0]
        return carcass(size, surface, wood, panelled=thing.kind in _PANELLED)

    def finish(self, thing: SimObject, mesh: Mesh) -> Mesh:
        """A piece of furniture in the materials of the unit it belongs to."""
        if thing.kind not in _FITTED and thing.kind not in CARCASSES:
            return mesh
        owner = thing.id if thing.kind in CARCASSES else self._owners.get(thing.id)
        wood, metal = self._choice(owner)
        return replace(mesh, palette=tuple(_swapped(m, wood, metal) for m in mesh.palette))

    def _choice(self, owner: str | None) -> tuple[Material, Material]:
        choose = Random(f"joinery {owner} {self._seed}")
        return choose.choice(FRONTS), choose.choice(METALS)


def _swapped(material: Material, wood: Material, metal: Material) -> Material:
    """Replace a mesh's wood, its shades, or metal by another."""
    if material in METALS:
        return metal
    for old in _WOODS:
        factor = material.color[0] / old.color[0]
        if material == old or material == shade(old, factor):
            return shade(wood, factor)
    return material


def _owner(thing: SimObject, things: Iterable[SimObject]) -> str | None:
    """The smallest piece of furniture that a part is built into."""
    if thing.kind not in _FITTED:
        return None
    around = [
        (float(other.box.half.prod()), other.id)
        for other in things
        if other.kind in CARCASSES and other.box.holds(thing.box.center, 0.05)
    ]
    return min(around, default=(0.0, None))[1]


def quarters(things: Mapping[str, SimObject], outline: Outline) -> Mapping[str, float]:
    """Degrees by which furniture is rotated within its box, inferred from its surroundings.

    A bed's head is where its pillows are; a dresser's front is where its drawers' are; what has
    its front at a wall and its back in the room was built the other way round.
    """
    turns = {}
    for thing in things.values():
        if thing.kind == "Bed":
            pillows = [things[i].box.center for i in thing.contents if things[i].kind == "Pillow"]
            head = sum(float(thing.box.to_own(center)[2]) for center in pillows)
            turns[thing.id] = 180.0 if head < 0 else 0.0
        elif thing.kind in CARCASSES:
            turns[thing.id] = _front(thing, things.values(), outline)
    return {name: turn for name, turn in turns.items() if turn}


def _front(thing: SimObject, things: Iterable[SimObject], outline: Outline) -> float:
    votes: dict[float, int] = {}
    for part in things:
        if part.kind in ("Cabinet", "Drawer") and _owner(part, (thing,)) is not None:
            x, _, z = thing.box.axes.T @ part.box.axes[:, 2]
            quarter = float(round(np.degrees(np.arctan2(x, z)) / 90.0) * 90 % 360)
            votes[quarter] = votes.get(quarter, 0) + 1
    if votes:
        return max(votes, key=lambda quarter: (votes[quarter], -quarter))
    ahead = thing.box.center + thing.box.axes[:, 2] * (thing.box.half[2] + _NEAR_WALL)
    behind = thing.box.center - thing.box.axes[:, 2] * (thing.box.half[2] + _NEAR_WALL)
    walled = not outline.holds(float(ahead[0]), float(ahead[2]))
    return 180.0 if walled and outline.holds(float(behind[0]), float(behind[2])) else 0.0
