"""Worktops: a slab along the walls with cut-outs for sinks, and panels down to the floor.

The metadata has only a thin box over the whole corner, where objects stand, without a body.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from inhabit.envs.simulators.household.geometry.boxes import Box
from inhabit.envs.simulators.household.geometry.outline import Outline
from inhabit.envs.simulators.household.placement.surfaces import counter_height
from inhabit.envs.simulators.household.state.world import SimObject
from inhabit.envs.simulators.render.material import Material
from inhabit.envs.simulators.render.mesh import Mesh, join
from inhabit.envs.simulators.render.shapes.finishes import ENAMEL
from inhabit.envs.simulators.render.solids import box

_THICK = 0.04
"""Thickness of the slab, metres."""
_RIM = 0.02
"""Metres of a sink's edge that lie on the slab."""
_OVERHANG = 0.04
"""Overhang of the slab over its panels, metres; and on an island, for knees:"""
_ISLAND_OVERHANG = 0.2
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
    return join(parts)


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
    along_x = strip[2] - strip[0] >= strip[3] - strip[1]
    overlaps = taken[0] < strip[2] and taken[2] > strip[0]
    overlaps &= taken[1] < strip[3] and taken[3] > strip[1]
    if not overlaps:
        return taken
    if along_x:
        return taken[0], min(taken[1], strip[1]), taken[2], max(taken[3], strip[3])
    return min(taken[0], strip[0]), taken[1], max(taken[2], strip[2]), taken[3]


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
