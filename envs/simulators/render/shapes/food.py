"""What one eats, whole, sliced and cooked. Slices are kinds of their own, as in THOR."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from random import Random

import numpy as np

from inhabit.envs.simulators.render.lathe import Point, cylinder, ellipsoid, lathe
from inhabit.envs.simulators.render.mesh import AXES, Color, Material, Mesh, Pattern, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import (
    BROKEN,
    COOKED,
    LEAF,
    SLICED,
    Form,
    Look,
    mixed,
    plain,
    shade,
)
from inhabit.envs.simulators.render.shapes.parts import along_longer, bumpy, cutout, facing
from inhabit.envs.simulators.render.sweep import prism, tube

_SLICES = 4
_BAKED: Color = (0.36, 0.18, 0.06)


@dataclass(frozen=True, slots=True)
class _Fruit:
    """Something round that grew: its outline from pole to pole, skin and flesh."""

    outline: tuple[Point, ...]
    skins: tuple[Material, ...]
    flesh: Material
    core: Material
    """Material in the middle of a cut."""


_APPLE = _Fruit(
    (
        *((0.0, 0.1), (0.3, 0.0), (0.62, 0.1), (0.92, 0.38), (1.0, 0.62), (0.84, 0.88)),
        *((0.5, 1.0), (0.2, 0.95), (0.0, 0.84)),
    ),
    (plain(0.74, 0.13, 0.12, gloss=0.4), plain(0.62, 0.72, 0.24, gloss=0.4)),
    plain(0.95, 0.91, 0.74),
    plain(0.80, 0.70, 0.45),
)
_TOMATO = _Fruit(
    (
        *((0.0, 0.03), (0.4, 0.0), (0.8, 0.16), (1.0, 0.5), (0.86, 0.82), (0.5, 0.98)),
        *((0.15, 0.95), (0.0, 0.88)),
    ),
    (plain(0.83, 0.17, 0.11, gloss=0.6), plain(0.86, 0.25, 0.13, gloss=0.6)),
    plain(0.90, 0.38, 0.28),
    plain(0.93, 0.62, 0.38),
)
_POTATO = _Fruit(
    ((0.0, 0.0), (0.55, 0.04), (0.9, 0.22), (1.0, 0.5), (0.92, 0.78), (0.55, 0.96), (0.0, 1.0)),
    (
        Material((0.80, 0.67, 0.45), Pattern.SPECKLE, (0.73, 0.59, 0.38), scale=0.012, gloss=0.05),
        Material((0.76, 0.58, 0.42), Pattern.SPECKLE, (0.69, 0.51, 0.36), scale=0.012, gloss=0.05),
    ),
    plain(0.94, 0.88, 0.62),
    plain(0.92, 0.84, 0.56),
)


def _cut(fruit: _Fruit, skin: Material, flesh: Material, low: float, high: float) -> Mesh:
    """The part of a fruit between two heights, 0..1, with flat cuts."""
    lowest = min(range(len(fruit.outline)), key=lambda i: fruit.outline[i][1])
    highest = max(range(len(fruit.outline)), key=lambda i: fruit.outline[i][1])
    flank = fruit.outline[lowest : highest + 1]  # without the dimples at the poles
    radii, heights = np.array(flank).T
    inner = [(r, y) for r, y in flank if low < y < high]
    ends = [(float(np.interp(y, heights, radii)), y) for y in (low, high)]
    side = [ends[0], *inner, ends[1]]
    core = [(0.35 * side[-1][0], high), (0.0, high)]
    seed = [(0.0, low), (0.35 * side[0][0], low)]
    surfaces = [fruit.core, flesh] + [skin] * (len(side) - 1) + [flesh, fruit.core]
    return lathe([*seed, *side, *core], surfaces, segments=12)


def fruit(what: _Fruit, top: str, size: Vector, look: Look, choose: Random) -> Mesh:
    """A round fruit, whole or as a row of slices where it lay."""
    skin = choose.choice(what.skins)
    seed = choose.randrange(1 << 30)
    flesh = what.flesh
    if look.cooked:
        skin, flesh = mixed(skin, _BAKED, 0.65), mixed(flesh, _BAKED, 0.35)
    if look.sliced:
        cuts = np.linspace(0.03, 0.97, _SLICES + 1)
        parts = [
            _cut(what, skin, flesh, float(low), float(high)).shifted(y=0.12 * i).turned("z", 4 * i)
            for i, (low, high) in enumerate(pairwise(cuts))
        ]
        return join(parts).turned("z", -90).fitted(size)
    body = lathe(list(what.outline), skin, segments=14)
    if top == "stem":
        leaf = ellipsoid((0.42, 0.05, 0.22), LEAF, rings=3, segments=6).turned("z", 20)
        stalk = tube([(0, 0.84, 0), (0.05, 1.12, 0)], 0.05, plain(0.35, 0.24, 0.13), sides=5)
        body = join([body, stalk, leaf.shifted(0.24, 1.08, 0)])
    elif top == "calyx":
        body = join([body, *_calyx()])
    else:
        body = bumpy(body, 0.10, 1.6, Random(seed))
    return body.fitted(size)


def _calyx() -> list[Mesh]:
    tip = [(0.0, 0.0), (0.14, 0.06), (0.5, 0.0), (0.14, -0.06)]
    point = prism(tip, 0.05, LEAF).turned("z", -14).shifted(y=0.97)
    stalk = tube([(0, 0.9, 0), (0.03, 1.08, 0)], 0.06, LEAF, sides=5)
    return [stalk, *(point.turned("y", 72 * k) for k in range(5))]


def fruit_slice(what: _Fruit, size: Vector, look: Look, choose: Random) -> Mesh:
    """One slice, whose axis is the box's thinnest side."""
    skin = choose.choice(what.skins)
    flesh = what.flesh
    if look.cooked:
        skin, flesh = mixed(skin, _BAKED, 0.65), mixed(flesh, _BAKED, 0.35)
    piece = _cut(what, skin, flesh, 0.42, 0.62)
    return across_thinnest(piece, size)


def across_thinnest(disc: Mesh, size: Vector) -> Mesh:
    """A disc about y, laid so that its axis is the box's thinnest side."""
    return disc.along(AXES[int(np.argmin(size))]).fitted(size)


_CRUST = plain(0.66, 0.40, 0.17)
_CRUMB = Material((0.93, 0.84, 0.66), Pattern.SPECKLE, (0.88, 0.78, 0.59), scale=0.02, gloss=0.0)
_LOAF = (
    *((-0.46, 0.0), (-0.46, 0.55), (-0.5, 0.72), (-0.38, 0.94), (0.0, 1.0), (0.38, 0.94)),
    *((0.5, 0.72), (0.46, 0.55), (0.46, 0.0)),
)


def _dough(look: Look, choose: Random) -> tuple[Material, Material]:
    """Crust and crumb."""
    crust, crumb = shade(_CRUST, choose.uniform(0.85, 1.15)), _CRUMB
    if look.cooked:
        crust, crumb = mixed(crust, _BAKED, 0.7), mixed(crumb, _BAKED, 0.5)
    return crust, crumb


@along_longer
def bread(size: Vector, look: Look, choose: Random) -> Mesh:
    """A tin loaf along the longer side of the box, or the same loaf in slices."""
    crust, crumb = _dough(look, choose)
    x, y, z = size
    if look.sliced:
        thick = x / 8
        slice_ = _bread_slice(crust, crumb, (0.8 * thick, y, z)).shifted(y=y / 2)
        leaning = (0, 0, 3, 2, 4, 5, 9, 14)
        parts = [
            slice_.turned("z", -lean).shifted((i - 3.5) * thick) for i, lean in enumerate(leaning)
        ]
        return join(parts).fitted(size)
    body = ellipsoid((x, 1.15 * y, z), crust, square=(0.4, 0.55), rings=8, segments=14)
    flat = body.vertices.copy()
    flat[:, 1] = np.maximum(flat[:, 1], -0.4 * y)  # it stands on its underside
    body = bumpy(replace(body, vertices=flat), 0.06, 1.2, Random(choose.randrange(1 << 30)))
    slash = ellipsoid((0.07 * x, 0.06 * y, 0.5 * z), crumb, rings=3, segments=8).turned("y", 25)
    return join([body, *(slash.shifted(k * x, 0.575 * y) for k in (-0.22, 0.0, 0.22))]).fitted(size)


def _bread_slice(crust: Material, crumb: Material, size: Vector) -> Mesh:
    x, y, z = size
    outline = [(a * z, (b - 0.5) * y) for a, b in _LOAF]
    return cutout(outline, x, crust, ends=crumb).turned("y", 90)


@facing
def bread_slice(size: Vector, look: Look, choose: Random) -> Mesh:
    """A slice of bread, its cut across the box's thinnest side."""
    crust, crumb = _dough(look, choose)
    return cutout(_LOAF, 1.0, crust, ends=crumb).fitted(size)


_GREENS = (plain(0.33, 0.56, 0.20), plain(0.45, 0.64, 0.26), plain(0.56, 0.71, 0.35))
_RINGS = ((0.84, _GREENS[2]), (0.62, plain(0.70, 0.80, 0.46)), (0.34, plain(0.88, 0.91, 0.68)))
"""Radius and colour of what a cut through a head shows."""


def lettuce(size: Vector, look: Look, choose: Random) -> Mesh:
    """A head of crumpled leaves; sliced, a row of rounds that show the pale heart."""
    crumple = Random(choose.randrange(1 << 30))
    if look.sliced:
        cut = join([_round_of_lettuce(Random(k)).shifted(y=0.3 * k) for k in range(_SLICES)])
        return cut.turned("z", -90).fitted(size)
    heart = ellipsoid((1.5, 1.5, 1.5), _GREENS[2], rings=5, segments=8)
    parts = [bumpy(heart, 0.12, 3.0, crumple).shifted(y=0.06)]
    leaf = ellipsoid((1.35, 1.6, 0.6), _GREENS[0], rings=5, segments=8)
    for k in range(6):
        green = replace(leaf, palette=(_GREENS[k % 2],))
        ruffled = bumpy(green, 0.3, 3.5, crumple).turned("x", crumple.uniform(6, 16))
        parts.append(ruffled.shifted(0, -0.04, 0.5).turned("y", 60 * k + crumple.uniform(-8, 8)))
    return join(parts).fitted(size)


def _round_of_lettuce(crumple: Random) -> Mesh:
    rind = bumpy(cylinder(1.0, 0.16, _GREENS[1], segments=14), 0.3, 3.0, crumple)
    parts = [cylinder(r, 0.2 + 0.03 * k, c, segments=12) for k, (r, c) in enumerate(_RINGS)]
    return join([rind, *parts])


def lettuce_slice(size: Vector, look: Look, choose: Random) -> Mesh:
    """One round of lettuce."""
    piece = _round_of_lettuce(Random(choose.randrange(1 << 30)))
    return across_thinnest(piece, size)


_SHELLS = (plain(0.93, 0.86, 0.76, gloss=0.2), plain(0.80, 0.62, 0.46, gloss=0.2))
_EGG_OUTLINE = [(0.0, 0.0), (0.5, 0.06), (0.85, 0.22), (1.0, 0.42), (0.9, 0.66), (0.6, 0.87)]


_EGG_OUTLINE += [(0.28, 0.97), (0.0, 1.0)]


_YOLK = plain(0.96, 0.68, 0.13, gloss=0.6)
_RAW_WHITE = plain(0.93, 0.90, 0.76, gloss=0.7)
_FRIED_WHITE = plain(0.97, 0.96, 0.93, gloss=0.3)


def egg(size: Vector, look: Look, choose: Random) -> Mesh:
    """An egg; broken or sliced it lies open, and cooked it is fried."""
    shell = choose.choice(_SHELLS)
    if not (look.broken or look.sliced):
        if look.cooked:
            shell = mixed(shell, _BAKED, 0.2)
        return lathe(_EGG_OUTLINE, shell, segments=14).fitted(size)
    low = min(size[1], 0.45 * min(size[0], size[2]))
    return (
        _cracked(shell, look.cooked).fitted((size[0], low, size[2])).shifted(y=(low - size[1]) / 2)
    )


def cracked_egg(size: Vector, look: Look, choose: Random) -> Mesh:
    """An egg out of its shell."""
    return _cracked(choose.choice(_SHELLS), look.cooked).fitted(size)


def _cracked(shell: Material, cooked: bool) -> Mesh:
    white = ellipsoid((2.0, 0.16, 1.7), _FRIED_WHITE if cooked else _RAW_WHITE, rings=4)
    yolk = ellipsoid((0.75, 0.5, 0.75), _YOLK, rings=5)
    half = [(0.0, 0.0), (0.5, 0.06), (0.85, 0.22), (1.0, 0.42), (0.92, 0.42), (0.78, 0.24)]
    cap = lathe([*half, (0.45, 0.1), (0.0, 0.06)], shell, segments=10).scaled(0.45, 0.9, 0.45)
    shells = [cap.turned("z", 55).shifted(-0.75, 0.1, -0.45)]
    shells.append(cap.turned("z", -65).shifted(0.8, 0.08, -0.25))
    parts = [white.shifted(y=0.08), yolk.shifted(0.1, 0.16, 0.15)]
    return join(parts if cooked else parts + shells)


KINDS: Mapping[str, Form] = {
    "Apple": Form(partial(fruit, _APPLE, "stem"), (0.11, 0.11, 0.11), SLICED),
    "AppleSliced": Form(partial(fruit_slice, _APPLE), (0.02, 0.1, 0.1)),
    "Tomato": Form(partial(fruit, _TOMATO, "calyx"), (0.12, 0.1, 0.12), SLICED),
    "TomatoSliced": Form(partial(fruit_slice, _TOMATO), (0.02, 0.09, 0.1)),
    "Potato": Form(partial(fruit, _POTATO, "plain"), (0.12, 0.08, 0.09), SLICED + COOKED),
    "PotatoSliced": Form(partial(fruit_slice, _POTATO), (0.02, 0.08, 0.09), COOKED),
    "Bread": Form(bread, (0.15, 0.14, 0.29), SLICED + COOKED),
    "BreadSliced": Form(bread_slice, (0.14, 0.14, 0.02)),
    "Lettuce": Form(lettuce, (0.19, 0.16, 0.2), SLICED),
    "LettuceSliced": Form(lettuce_slice, (0.03, 0.13, 0.13)),
    "Egg": Form(
        egg, (0.06, 0.07, 0.06), BROKEN + COOKED + (("fried", Look(cooked=True, broken=True)),)
    ),
    "EggCracked": Form(cracked_egg, (0.11, 0.03, 0.1)),
}
