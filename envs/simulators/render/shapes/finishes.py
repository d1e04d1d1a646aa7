"""Finishes of surfaces, how they look worn, and looks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import cos, pi, sin
from random import Random
from typing import Literal

from inhabit.envs.simulators.render.lathe import box
from inhabit.envs.simulators.render.mesh import Color, Material, Mesh, Pattern, Vector, join
from inhabit.envs.simulators.render.sweep import prism


def plain(red: float, green: float, blue: float, *, gloss: float = 0.1) -> Material:
    """One colour."""
    return Material((red, green, blue), gloss=gloss)


def _wood(color: Color, grain: Color) -> Material:
    return Material(color, Pattern.WOOD, grain, scale=0.12, gloss=0.25)


def _fabric(color: Color) -> Material:
    return Material(color, Pattern.FABRIC, scale=0.012, gloss=0.02)


def glowing(red: float, green: float, blue: float, glow: float = 1.0) -> Material:
    """An emissive colour."""
    return Material((red, green, blue), gloss=0.2, glow=glow)


OAK = _wood((0.72, 0.53, 0.33), (0.60, 0.42, 0.25))
PINE = _wood((0.83, 0.67, 0.45), (0.73, 0.56, 0.35))
WALNUT = _wood((0.42, 0.28, 0.19), (0.32, 0.20, 0.13))
CHERRY = _wood((0.56, 0.31, 0.19), (0.45, 0.23, 0.13))
ESPRESSO = _wood((0.25, 0.18, 0.14), (0.18, 0.12, 0.09))
WHITEWOOD = Material((0.91, 0.90, 0.87), Pattern.PAINT, gloss=0.2)
WOODS = (OAK, PINE, WALNUT, CHERRY, ESPRESSO)
FURNITURE = (OAK, PINE, WALNUT, CHERRY, ESPRESSO, WHITEWOOD, WHITEWOOD)

STEEL = Material((0.70, 0.71, 0.73), Pattern.BRUSHED, scale=0.02, gloss=0.55)
CHROME = plain(0.66, 0.68, 0.71, gloss=0.9)
BRASS = plain(0.78, 0.62, 0.33, gloss=0.7)
IRON = plain(0.20, 0.20, 0.22, gloss=0.35)
FRONTS = (
    WHITEWOOD,
    WHITEWOOD,
    OAK,
    CHERRY,
    ESPRESSO,
    Material((0.66, 0.72, 0.66), Pattern.PAINT, gloss=0.2),
    Material((0.55, 0.63, 0.70), Pattern.PAINT, gloss=0.2),
)
"""Materials of fitted furniture: the same choice for cabinets, drawers and what holds them."""
COUNTERS = (
    Material((0.80, 0.78, 0.74), Pattern.MARBLE, (0.62, 0.58, 0.54), scale=0.4, gloss=0.5),
    Material((0.33, 0.32, 0.32), Pattern.SPECKLE, (0.48, 0.46, 0.44), scale=0.02, gloss=0.5),
    Material((0.66, 0.58, 0.48), Pattern.SPECKLE, (0.50, 0.42, 0.34), scale=0.02, gloss=0.4),
    OAK,
)
METALS = (CHROME, BRASS, IRON)

PORCELAIN = plain(0.94, 0.94, 0.93, gloss=0.6)
ENAMEL = plain(0.92, 0.92, 0.90, gloss=0.5)
WHITE = plain(0.93, 0.93, 0.92)
CREAM = plain(0.91, 0.87, 0.77)
BLACK = plain(0.09, 0.09, 0.10, gloss=0.4)
CHARCOAL = plain(0.22, 0.22, 0.24, gloss=0.2)
GREY = plain(0.55, 0.56, 0.58, gloss=0.2)
RUBBER = plain(0.13, 0.13, 0.14, gloss=0.05)
PAPER = plain(0.93, 0.92, 0.88, gloss=0.02)
CARDBOARD = plain(0.72, 0.56, 0.38, gloss=0.02)
GLASS = plain(0.80, 0.86, 0.86, gloss=0.9)
SCREEN = plain(0.05, 0.06, 0.08, gloss=0.8)
CRACK = plain(0.92, 0.94, 0.95, gloss=0.4)
SOIL = plain(0.30, 0.21, 0.14, gloss=0.0)
LEAF = plain(0.25, 0.47, 0.20, gloss=0.15)
MIRROR = plain(0.72, 0.79, 0.84, gloss=0.95)

GLAZES = (
    PORCELAIN,
    plain(0.85, 0.33, 0.27, gloss=0.5),
    plain(0.20, 0.42, 0.60, gloss=0.5),
    plain(0.93, 0.75, 0.33, gloss=0.5),
    plain(0.36, 0.58, 0.52, gloss=0.5),
    plain(0.87, 0.85, 0.78, gloss=0.5),
    plain(0.45, 0.50, 0.56, gloss=0.5),
)
"""Colours of crockery."""

PLASTICS = (
    plain(0.20, 0.47, 0.67, gloss=0.3),
    plain(0.80, 0.30, 0.27, gloss=0.3),
    plain(0.32, 0.62, 0.50, gloss=0.3),
    plain(0.92, 0.72, 0.30, gloss=0.3),
    plain(0.52, 0.40, 0.62, gloss=0.3),
    plain(0.30, 0.33, 0.38, gloss=0.3),
)

FABRICS = tuple(
    _fabric(color)
    for color in (
        (0.55, 0.57, 0.60),
        (0.31, 0.39, 0.50),
        (0.66, 0.58, 0.48),
        (0.45, 0.29, 0.25),
        (0.33, 0.45, 0.40),
        (0.30, 0.30, 0.33),
    )
)
"""Materials for upholstery."""

LINENS = tuple(
    _fabric(color)
    for color in (
        (0.86, 0.85, 0.82),
        (0.52, 0.65, 0.74),
        (0.78, 0.52, 0.45),
        (0.58, 0.67, 0.53),
        (0.85, 0.74, 0.52),
        (0.62, 0.55, 0.68),
    )
)
"""Materials for bedding, towels and curtains."""

COTTON = _fabric((0.92, 0.91, 0.88))

_LIQUIDS = {
    "water": plain(0.38, 0.64, 0.80, gloss=0.9),
    "coffee": plain(0.23, 0.13, 0.07, gloss=0.7),
    "wine": plain(0.42, 0.06, 0.12, gloss=0.7),
    "milk": plain(0.95, 0.94, 0.90, gloss=0.5),
    "juice": plain(0.93, 0.60, 0.18, gloss=0.6),
    "tea": plain(0.60, 0.33, 0.12, gloss=0.7),
}
WATER = _LIQUIDS["water"]


def liquid(name: str) -> Material:
    """What a liquid of that name looks like. One without a known colour looks like weak tea."""
    return _LIQUIDS.get(name.lower(), _LIQUIDS["tea"])


def shade(material: Material, factor: float) -> Material:
    """Darker (factor below 1) or lighter (above 1) in all its colours."""

    def scaled(color: Color) -> Color:
        red, green, blue = (min(1.0, channel * factor) for channel in color)
        return red, green, blue

    second = None if material.second is None else scaled(material.second)
    return replace(material, color=scaled(material.color), second=second)


def mixed(material: Material, color: Color, share: float) -> Material:
    """The material with a share 0..1 of another colour in it."""
    red, green, blue = (a + (b - a) * share for a, b in zip(material.color, color, strict=True))
    return replace(material, color=(red, green, blue))


_GRIME: Color = (0.42, 0.33, 0.20)


def soiled(mesh: Mesh) -> Mesh:
    """The same mesh with stained, dull surfaces."""
    return replace(mesh, palette=tuple(_stained(material) for material in mesh.palette))


def _stained(material: Material) -> Material:
    if material.glow > 0:
        return material
    dull = mixed(material, _GRIME, 0.15)
    stain = mixed(material, _GRIME, 0.6).color
    return replace(
        dull, pattern=Pattern.SPECKLE, second=stain, scale=0.03, gloss=0.3 * material.gloss
    )


def shards(whole: Mesh, size: Vector, choose: Random) -> Mesh:
    """What is left of something that fell apart: pieces of its materials on the box's ground."""
    x, y, z = size
    thick = min(0.04 * min(x, z), 0.3 * y)
    pieces = []
    for k in range(9):
        reach = choose.uniform(0.12, 0.24) * min(x, z)
        start = choose.uniform(0, 2 * pi)
        turns = (0.0, choose.uniform(1.2, 2.2), choose.uniform(2.8, 4.2), choose.uniform(4.6, 5.6))
        outline = [(reach * cos(start + t), reach * sin(start + t)) for t in turns]
        material = whole.palette[int(whole.materials[k * 37 % len(whole.materials)])]
        piece = prism(outline, thick, material).turned("x", choose.uniform(-22, 22))
        far = 0.0 if k == 0 else choose.uniform(0.2, 0.36)
        around = k * 2.4
        piece = piece.shifted(far * x * cos(around), 0, far * z * sin(around))
        pieces.append(piece.shifted(y=-float(piece.bounds[0][1]) + thick * (k % 3) * 0.4))
    heap = join(pieces)
    low, high = heap.bounds
    tall = min(float(high[1] - low[1]), y)
    return heap.fitted((x, tall, z)).shifted(y=(tall - y) / 2)


def cracks(width: float, height: float, choose: Random) -> Mesh:
    """A star of cracks to lay on a pane that faces +z at z = 0; it is half a millimetre thick."""
    x, y = choose.uniform(-0.2, 0.2) * width, choose.uniform(-0.2, 0.2) * height
    thick = max(0.008 * min(width, height), 0.0008)
    rays = []
    for k in range(8):
        angle = k * pi / 4 + choose.uniform(-0.3, 0.3)
        reach = choose.uniform(0.25, 0.42) * min(width, height)
        ray = box((reach, thick * choose.uniform(0.7, 1.4), 0.0005), CRACK).shifted(reach / 2)
        bend = box((0.5 * reach, 0.7 * thick, 0.0005), CRACK).shifted(0.25 * reach)
        kink = bend.turned("z", choose.choice((-35, 35))).shifted(0.55 * reach)
        rays += [part.turned("z", angle * 180 / pi) for part in (ray, kink)]
    star = join(rays)
    low, high = star.bounds
    dx = min(max(x, -width / 2 - float(low[0])), width / 2 - float(high[0]))
    dy = min(max(y, -height / 2 - float(low[1])), height / 2 - float(high[1]))
    return star.shifted(dx, dy, 0.00025)


Side = Literal["left", "right"]


@dataclass(frozen=True, slots=True)
class Look:
    """The states that can be seen. A kind shows those that mean something for it."""

    openness: float = 0.0
    """How far it is open: 0 closed, 1 wide open."""
    on: bool = False
    """Whether it is lit, glowing, burning or running."""
    sliced: bool = False
    dirty: bool = False
    cooked: bool = False
    broken: bool = False
    used_up: bool = False
    """Whether only the cardboard of a roll is left, or an empty pack."""
    filled: str | None = None
    """The liquid in it: "water", "coffee", "wine", or any other name."""
    hinge: Side | None = None
    """Where a door hangs, as seen by who stands before it. None: where it does with its kind."""
    measured: bool = False
    """Whether a cupboard has no shelf, a fridge one room behind its doors, and a microwave feet, as
    in AI2-THOR."""
    levels: tuple[float, ...] = ()
    """Heights above its bottom, in metres, at which something stands on a shelf in it (there are no
    other shelves then), or lies on a bed."""


Builder = Callable[[Vector, Look, Random], Mesh]
"""(size of the box in metres, look, source of variety) -> the object, centred in the box.

The builder draws from the source in the same order whatever the look, so that an object keeps its
colours when its state changes.
"""

Telling = tuple[tuple[str, Look], ...]
"""Looks that a kind has beside the plain one, with their names."""
OPEN = ("half open", Look(openness=0.5)), ("open", Look(openness=1.0))
FILLED = ("water", Look(filled="water")), ("coffee", Look(filled="coffee"))
DIRTY = (("dirty", Look(dirty=True)),)
BROKEN = (("broken", Look(broken=True)),)
ON = (("on", Look(on=True)),)
COOKED = (("cooked", Look(cooked=True)),)
USED_UP = (("used up", Look(used_up=True)),)
SLICED = (("sliced", Look(sliced=True)),)


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a kind."""

    build: Builder
    size: Vector
    """Usual size in metres: close to the medians of the 120 rooms of iTHOR, in an object's own
    frame."""
    looks: Telling = ()
    """Looks for contact sheets and tests."""
