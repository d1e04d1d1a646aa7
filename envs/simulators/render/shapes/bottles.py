"""Bottles, and what else stands in a pantry."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import cos, pi, sin
from random import Random

import numpy as np

from inhabit.envs.simulators.render.lathe import Point, box, cylinder, ellipsoid, lathe
from inhabit.envs.simulators.render.mesh import Material, Mesh, Pattern, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import (
    BLACK,
    BROKEN,
    CHROME,
    FILLED,
    GLASS,
    GLAZES,
    LINENS,
    OAK,
    PAPER,
    PINE,
    PLASTICS,
    STEEL,
    USED_UP,
    WALNUT,
    WHITE,
    Form,
    Look,
    liquid,
    plain,
    shade,
)
from inhabit.envs.simulators.render.shapes.kitchenware import vessel
from inhabit.envs.simulators.render.shapes.parts import along_longer, bumpy, cutout, facing, lying
from inhabit.envs.simulators.render.sweep import prism, tube

_GREEN_GLASS = plain(0.14, 0.30, 0.17, gloss=0.9)
_DARK_GLASS = plain(0.17, 0.11, 0.09, gloss=0.9)
_CLEAR_BROWN = plain(0.55, 0.36, 0.18, gloss=0.9)
_SALT = plain(0.95, 0.95, 0.94)
_PEPPER = plain(0.27, 0.22, 0.19)


def _banded(outline: list[Point], bands: list[tuple[float, Material]], segments: int = 16) -> Mesh:
    """A closed body of revolution whose material changes at heights: (up to height, material)."""
    radii, heights = np.array(outline).T
    levels = sorted({float(h) for h in heights} | {h for h, _ in bands[:-1]})
    profile = [(float(np.interp(y, heights, radii)), y) for y in levels]
    surfaces = [
        next(material for top, material in bands if (low + high) / 2 <= top)
        for low, high in pairwise(levels)
    ]
    whole = [(0.0, levels[0]), *profile, (0.0, levels[-1])]
    return lathe(whole, [surfaces[0], *surfaces, surfaces[-1]], segments=segments)


def bottle(size: Vector, look: Look, choose: Random) -> Mesh:
    """A glass bottle. What is in it shows through, up to the shoulder."""
    glass = choose.choice((GLASS, _CLEAR_BROWN, _GREEN_GLASS))
    content = glass if look.filled is None else liquid(look.filled)
    outline = [(0.9, 0.0), (1.0, 0.03), (1.0, 0.55), (0.85, 0.66), (0.4, 0.8), (0.36, 0.92)]
    outline += [(0.42, 0.925), (0.42, 1.0)]
    return _banded(outline, [(0.04, glass), (0.55, content), (0.92, glass), (1.0, CHROME)]).fitted(
        size
    )


def wine_bottle(size: Vector, look: Look, choose: Random) -> Mesh:
    """A wine bottle with a label and a capsule; a full one is dark to the neck."""
    glass, capsule = choose.choice((_GREEN_GLASS, _DARK_GLASS)), choose.choice(PLASTICS)
    content = shade(glass, 1.7) if look.filled is None else liquid(look.filled)
    outline = [(0.95, 0.0), (1.0, 0.02), (1.0, 0.58), (0.9, 0.65), (0.42, 0.76), (0.36, 0.84)]
    outline += [(0.36, 0.95), (0.42, 0.955), (0.42, 1.0)]
    bands = [(0.16, glass), (0.45, PAPER), (0.7, content), (0.84, glass), (1.0, capsule)]
    return _banded(outline, bands).fitted(size)


def soap_bottle(size: Vector, look: Look, choose: Random) -> Mesh:
    """A dispenser with a pump whose spout points to the front."""
    color, label = choose.choice(PLASTICS), choose.choice((WHITE, PAPER))
    if look.used_up:
        color = shade(GLASS, 0.95)
    outline = [(0.92, 0.0), (1.0, 0.04), (1.0, 0.6), (0.8, 0.68), (0.4, 0.72), (0.4, 0.8)]
    body = _banded(outline, [(0.15, color), (0.48, label), (0.72, color), (0.8, WHITE)])
    stem = cylinder(0.13, 0.14, WHITE, segments=8).shifted(y=0.86)
    head = box((0.42, 0.07, 0.5), WHITE, bevel=0.02).shifted(0, 0.965, 0.05)
    spout = box((0.18, 0.05, 0.7), WHITE, bevel=0.02).shifted(0, 0.965, 0.6)
    return join([body, stem, head, spout]).fitted(size)


@along_longer
def spray_bottle(size: Vector, look: Look, choose: Random) -> Mesh:
    """A spray gun on a bottle, its nozzle to the front, or along the longer side."""
    color, head = choose.choice(PLASTICS), choose.choice((WHITE, BLACK, PLASTICS[1]))
    content = shade(GLASS, 0.95) if look.used_up else color
    outline = [(0.9, 0.0), (1.0, 0.03), (1.0, 0.4), (0.75, 0.55), (0.34, 0.66), (0.34, 0.74)]
    body = _banded(outline, [(0.1, content), (0.34, PAPER), (0.66, content), (0.74, head)], 14)
    gun = [
        (-0.7, 0.74),
        (-0.6, 0.9),
        (-0.3, 1.0),
        (0.9, 1.0),
        (1.0, 0.96),
        (0.9, 0.88),
        (0.35, 0.86),
    ]
    gun += [(0.3, 0.74)]
    top = cutout(gun, 0.5, head).turned("y", -90)
    trigger = tube([(0, 0.88, 0.5), (0, 0.8, 0.62), (0, 0.7, 0.6)], 0.05, BLACK, sides=5)
    return join([body, top, trigger]).turned("y", 90).fitted(size)


def salt_shaker(size: Vector, look: Look, choose: Random) -> Mesh:
    """A glass shaker with salt in it and a metal top."""
    return _shaker(size, _SALT)


def pepper_shaker(size: Vector, look: Look, choose: Random) -> Mesh:
    """A glass shaker with pepper in it and a metal top."""
    return _shaker(size, _PEPPER)


def _shaker(size: Vector, content: Material) -> Mesh:
    outline = [
        (1.0, 0.0),
        (0.96, 0.1),
        (0.72, 0.66),
        (0.76, 0.68),
        (0.76, 0.85),
        (0.5, 0.97),
        (0.2, 1.0),
    ]
    bands = [(0.08, GLASS), (0.5, content), (0.66, GLASS), (1.0, CHROME)]
    return _banded(outline, bands, 12).fitted(size)


_CRUST = plain(0.74, 0.50, 0.24)
_BERRY = plain(0.48, 0.10, 0.18, gloss=0.5)
_APPLE_FILLING = plain(0.85, 0.66, 0.32, gloss=0.4)
_BANANA = plain(0.94, 0.80, 0.24, gloss=0.2)
_STALK = plain(0.40, 0.32, 0.16)
_GREENS = (plain(0.34, 0.58, 0.22), plain(0.48, 0.68, 0.30))
_TOMATO = plain(0.84, 0.20, 0.14, gloss=0.5)
_CUCUMBER = plain(0.72, 0.84, 0.58, gloss=0.3)
_ICINGS = (plain(0.94, 0.68, 0.74), plain(0.96, 0.94, 0.88), plain(0.45, 0.27, 0.16))


def carton(size: Vector, look: Look, choose: Random) -> Mesh:
    """A drink carton with a gable top; a band of colour and a cap."""
    x, y, z = size
    band = choose.choice((PLASTICS[0], PLASTICS[2], PLASTICS[1]))
    wall, gable, fin = 0.74 * y, 0.17 * y, 0.09 * y
    body = box((x, wall, z), WHITE, bevel=0.004).shifted(y=(wall - y) / 2)
    stripe = box((1.01 * x, 0.32 * wall, 1.01 * z), band).shifted(y=-0.5 * y + 0.3 * wall)
    spot = cylinder(0.26 * x, 1.03 * z, shade(WHITE, 0.98), segments=14).along("z")
    roof = prism([(-z / 2, 0.0), (z / 2, 0.0), (0.0, gable)], x, WHITE, ends=shade(WHITE, 0.9))
    roof = roof.reordered(1, 2, 0).shifted(y=wall - y / 2)
    ridge = box((x, fin, 0.07 * z), WHITE).shifted(y=y / 2 - fin / 2)
    cap = cylinder(0.16 * x, 0.05 * y, band, segments=10).turned("x", 40)
    parts = [body, stripe, spot.shifted(y=-0.5 * y + 0.3 * wall), roof, ridge]
    parts.append(cap.shifted(0, wall - y / 2 + 0.55 * gable, 0.27 * z))
    return join(parts).fitted(size)


def cereal_box(size: Vector, look: Look, choose: Random) -> Mesh:
    """An upright pack with a name, a bowl on its front and a stripe around it."""
    return _pack(size, look, choose).fitted(size)


@facing
def _pack(size: Vector, look: Look, choose: Random) -> Mesh:
    ground, accent = choose.sample(PLASTICS[:4], 2)
    x, y, z = size
    thin = 0.0008
    face = [
        box((0.78 * x, 0.16 * y, thin), PAPER).shifted(y=0.28 * y),
        box((0.62 * x, 0.05 * y, thin), accent).shifted(y=0.28 * y, z=thin),
        cylinder(0.3 * x, thin, accent, segments=18).along("z").shifted(y=-0.12 * y),
        cylinder(0.22 * x, thin, PAPER, segments=18).along("z").shifted(y=-0.12 * y, z=thin),
    ]
    side = join(face).shifted(z=z / 2 + thin / 2)
    band = box((1.004 * x, 0.07 * y, 1.004 * z), accent).shifted(y=-0.44 * y)
    return join([box(size, ground, bevel=0.002), band, side, side.turned("y", 180)])


def salad(size: Vector, look: Look, choose: Random) -> Mesh:
    """A bowl heaped with leaves, tomatoes and rounds of cucumber."""
    glaze = choose.choice(GLAZES)
    outline = [(0.45, 0.0), (0.45, 0.06), (0.72, 0.24), (0.92, 0.55), (1.0, 0.75)]
    parts = [vessel(outline, glaze, shade(glaze, 1.1), floor=0.1, segments=14)]
    for k in range(9):
        green = _GREENS[k % 2]
        leaf = bumpy(ellipsoid((0.75, 0.3, 0.5), green, rings=4, segments=6), 0.4, 2.5, choose)
        angle, out = 2 * pi * k / 8, 0.0 if k == 8 else 0.5
        leaf = leaf.turned("z", choose.uniform(-30, 30)).turned("y", choose.uniform(0, 360))
        parts.append(
            leaf.shifted(out * cos(angle), 0.72 + (0.14 if k == 8 else 0), out * sin(angle))
        )
    for k in range(7):
        angle = 2 * pi * k / 7 + 0.3
        piece = ellipsoid((0.24, 0.24, 0.24), _TOMATO, rings=4, segments=6)
        if k % 2:
            piece = cylinder(0.15, 0.04, _CUCUMBER, segments=10).turned("x", choose.uniform(20, 60))
        parts.append(piece.shifted(0.42 * cos(angle), 0.9, 0.42 * sin(angle)))
    return join(parts).fitted(size)


def pie(size: Vector, look: Look, choose: Random) -> Mesh:
    """A pie in its tin with a lattice over the filling."""
    filling = choose.choice((_BERRY, _APPLE_FILLING))
    profile = [
        (0.0, 0.0),
        (0.78, 0.0),
        (0.98, 0.8),
        (1.0, 1.0),
        (0.9, 1.0),
        (0.86, 0.8),
        (0.0, 0.8),
    ]
    surfaces = [STEEL, STEEL, _CRUST, _CRUST, _CRUST, filling]
    parts = [lathe(profile, surfaces, segments=24)]
    for k in (-2, -1, 0, 1, 2):
        long = 2 * (0.86**2 - (0.3 * k) ** 2) ** 0.5
        strip = box((0.13, 0.12, long), _CRUST, bevel=0.03).shifted(0.3 * k, 0.86)
        parts += [strip, strip.turned("y", 90)]
    return join(parts).fitted(size)


def cupcake(size: Vector, look: Look, choose: Random) -> Mesh:
    """A small cake in a pleated case, with a swirl of icing and a cherry."""
    case, icing = choose.choice(LINENS[1:]), choose.choice(_ICINGS)
    base = lathe(
        [(0.0, 0.0), (0.68, 0.0), (0.9, 0.5), (0.0, 0.5)], [case, case, _CRUST], segments=14
    )
    rings = [ellipsoid((w, 0.26, w), icing, rings=4, segments=12).shifted(y=y)
             for w, y in ((1.95, 0.56), (1.5, 0.7), (0.95, 0.82))]  # fmt: skip
    cherry = ellipsoid((0.34, 0.2, 0.34), _TOMATO, rings=5, segments=8).shifted(y=0.96)
    return join([base, *rings, cherry]).fitted(size)


@along_longer
def bananas(size: Vector, look: Look, choose: Random) -> Mesh:
    """A hand of four bananas, their stalks together at -x."""
    parts = []
    for k in range(4):
        spread = (k - 1.5) * 0.2
        path, radii = [], []
        for i in range(7):
            t = i / 6
            path.append((t, 0.28 * sin(pi * t) - 0.06 * k * (1 - t), spread * (0.3 + t)))
            radii.append((0.035, 0.075, 0.095, 0.1, 0.095, 0.07, 0.02)[i])
        parts.append(tube(path, radii, _BANANA, sides=6))
        x, y, z = path[-1]
        parts.append(ellipsoid((0.05, 0.04, 0.04), _STALK, rings=3, segments=6).shifted(x, y, z))
    stem = tube([(-0.14, 0.06, 0.0), (0.04, 0.0, 0.0)], (0.05, 0.08), _STALK, sides=6)
    return join([stem, *parts]).fitted(size)


@lying(0.62)
def cutting_board(size: Vector, look: Look, choose: Random) -> Mesh:
    """A wooden board with rounded corners and a hole to hang it up by."""
    wood = choose.choice((OAK, PINE, WALNUT))
    x, y, z = size
    board = box((0.84 * x, y, z), wood, bevel=0.3 * y).shifted(x=0.08 * x)
    grip = box((0.2 * x, y, 0.34 * z), wood, bevel=0.3 * y).shifted(x=-0.4 * x)
    hole = cylinder(0.05 * z, 1.02 * y, shade(wood, 0.4), segments=10).shifted(x=-0.44 * x)
    return join([board, grip, hole]).fitted(size)


def wine_glass(size: Vector, look: Look, choose: Random) -> Mesh:
    """A glass on a stem."""
    profile = [(0.0, 0.0), (0.72, 0.0), (0.72, 0.02), (0.1, 0.05), (0.08, 0.42), (0.5, 0.5)]
    profile += [(0.92, 0.68), (1.0, 0.82), (0.84, 1.0), (0.78, 1.0), (0.9, 0.82), (0.84, 0.7)]
    profile += [(0.4, 0.53), (0.0, 0.5)]
    pane = Material((0.84, 0.89, 0.90), Pattern.PLAIN, gloss=0.95)
    parts = [lathe(profile, pane, segments=16)]
    if look.filled is not None:
        wine = [(0.0, 0.52), (0.42, 0.55), (0.86, 0.71), (0.0, 0.71)]
        parts.append(lathe(wine, liquid(look.filled), segments=16))
    return join(parts).fitted(size)


KINDS: Mapping[str, Form] = {
    "Bottle": Form(bottle, (0.1, 0.25, 0.1), FILLED[:1] + BROKEN),
    "Glassbottle": Form(bottle, (0.08, 0.24, 0.08), FILLED[:1]),
    "WineBottle": Form(wine_bottle, (0.085, 0.33, 0.085), (("wine", Look(filled="wine")), *BROKEN)),
    "SoapBottle": Form(soap_bottle, (0.1, 0.22, 0.1), USED_UP),
    "SprayBottle": Form(spray_bottle, (0.07, 0.25, 0.11), USED_UP),
    "SaltShaker": Form(salt_shaker, (0.06, 0.11, 0.06)),
    "PepperShaker": Form(pepper_shaker, (0.06, 0.11, 0.06)),
    "Carton": Form(carton, (0.09, 0.24, 0.09)),
    "CerealBox": Form(cereal_box, (0.2, 0.3, 0.08)),
    "Salad": Form(salad, (0.2, 0.1, 0.2)),
    "Pie": Form(pie, (0.26, 0.06, 0.26)),
    "Cupcake": Form(cupcake, (0.08, 0.08, 0.08)),
    "Bananas": Form(bananas, (0.2, 0.06, 0.14)),
    "CuttingBoard": Form(cutting_board, (0.24, 0.02, 0.36)),
    "WineGlass": Form(wine_glass, (0.08, 0.2, 0.08), (("wine", Look(filled="wine")),)),
}
