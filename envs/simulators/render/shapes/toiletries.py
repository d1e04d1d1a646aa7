"""Toiletries, and things of paper."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import numpy as np

from inhabit.envs.simulators.render.lathe import box, cylinder, ellipsoid, lathe, sheet, torus
from inhabit.envs.simulators.render.mesh import AXES, Material, Mesh, Pattern, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import (
    BLACK,
    BRASS,
    CARDBOARD,
    CHROME,
    DIRTY,
    LINENS,
    OAK,
    OPEN,
    PAPER,
    PLASTICS,
    STEEL,
    USED_UP,
    WHITE,
    Form,
    Look,
    plain,
    shade,
)
from inhabit.envs.simulators.render.shapes.parts import (
    along_longer,
    block,
    bumpy,
    drape,
    facing,
    lying,
    tapered,
)


def paper_roll(size: Vector, look: Look, choose: Random) -> Mesh:
    """A roll of paper about its longest side; used up, only the cardboard is left."""
    axis = AXES[_odd_side(size)]
    core, wall = 0.38, 0.05
    if look.used_up:
        tube_ = [(core, -1.0), (core, 1.0), (core - wall, 1.0), (core - wall, -1.0), (core, -1.0)]
        roll = lathe(tube_, CARDBOARD, segments=16)
        whole = lathe([(1.0, -1.0), (1.0, 1.0), (0.9, 1.0), (0.9, -1.0), (1.0, -1.0)], PAPER)
        return roll.along(axis).fitted(size, like=whole.along(axis))
    outline = [(1.0, -1.0), (1.0, 1.0), (core, 1.0), (core - wall, 1.0), (core - wall, -1.0)]
    outline += [(core, -1.0), (1.0, -1.0)]
    surfaces = [PAPER, PAPER, CARDBOARD, CARDBOARD, CARDBOARD, PAPER]
    roll = lathe(outline, surfaces, segments=18)
    return roll.along(axis).fitted(size)


def _odd_side(size: Vector) -> int:
    """The axis whose side differs from the other two: that of a roll or a disc."""
    gaps = [abs(size[(k + 1) % 3] - size[(k + 2) % 3]) for k in range(3)]
    return int(np.argmin(gaps))


def soap_bar(size: Vector, look: Look, choose: Random) -> Mesh:
    """A worn bar of soap."""
    soaps = (plain(0.93, 0.86, 0.72), plain(0.86, 0.72, 0.74), plain(0.74, 0.84, 0.76))
    soap = choose.choice(soaps)
    bar = ellipsoid((1, 1, 1), soap, square=(0.5, 0.55), rings=6, segments=14)
    stamp = ellipsoid((0.5, 0.1, 0.4), shade(soap, 0.92), rings=3, segments=10).shifted(y=0.48)
    return join([bar, stamp]).fitted(size)


def tissue_box(size: Vector, look: Look, choose: Random) -> Mesh:
    """A box of tissues with one sticking out, if there are any left."""
    x, y, z = size
    card = choose.choice(PLASTICS)
    puff = 0.25 * y
    body = box((x, y - puff, z), card, bevel=0.003).shifted(y=-puff / 2)
    slit = cylinder(0.5, 0.004, BLACK if look.used_up else shade(card, 0.6), segments=14)
    top = y / 2 - puff
    parts = [body, slit.scaled(0.6 * x, 1, 0.45 * z).shifted(y=top + 0.002)]
    whole = join([*parts, _tissue(x, puff, z, Random(choose.randrange(1 << 30))).shifted(y=top)])
    return join(parts).fitted(size, like=whole) if look.used_up else whole.fitted(size)


def _tissue(x: float, height: float, z: float, crumple: Random) -> Mesh:
    profile = [(0.0, 0.0), (0.4, 0.0), (0.6, 0.3), (0.9, 0.6), (0.45, 0.8), (0.0, 1.0)]
    leaf = lathe(profile, WHITE, segments=12).scaled(0.25 * x, height, 0.3 * z)
    return bumpy(leaf, 0.25, 2.0, crumple)


def cloth(size: Vector, look: Look, choose: Random) -> Mesh:
    """A wash cloth, folded and put down."""
    x, y, z = size
    color = choose.choice(LINENS)
    stripes = Material(
        color.color, Pattern.STRIPES, shade(color, 1.25).color, scale=0.06, gloss=0.02
    )
    rows = np.random.default_rng(choose.randrange(1 << 30))
    under = sheet(0.45 + 0.15 * rows.random((5, 6)), (x, y, z), stripes)
    over = sheet(0.85 + 0.15 * rows.random((5, 5)), (0.62 * x, 0.9 * y, 0.9 * z), color)
    return join([under, over.turned("y", 8).shifted(-0.1 * x, 0.1 * y)]).fitted(size)


@along_longer
def dish_sponge(size: Vector, look: Look, choose: Random) -> Mesh:
    """A yellow sponge with a green pad on top."""
    x, y, z = size
    foam = Material((0.93, 0.79, 0.33), Pattern.SPECKLE, (0.82, 0.66, 0.22), 0.008, 0.0)
    pad = Material((0.25, 0.47, 0.30), Pattern.SPECKLE, (0.18, 0.38, 0.24), 0.006, 0.0)
    body = box((x, 0.7 * y, z), foam, bevel=0.12 * y).shifted(y=-0.15 * y)
    return join([body, box((x, 0.3 * y, z), pad, bevel=0.05 * y).shifted(y=0.35 * y)])


@facing
def towel(size: Vector, look: Look, choose: Random) -> Mesh:
    """A towel that hangs, with two bands near its lower end."""
    color = choose.choice(LINENS)
    x, y, z = size
    body = drape(x, y, 0.9 * z, 2, color)
    band = drape(x, 0.05 * y, 0.9 * z, 2, shade(color, 0.7))
    bands = [band.shifted(0, at * y, side * 0.002) for at in (-0.32, -0.4) for side in (-1, 1)]
    return join([body, *bands]).fitted(size)


@facing
def hand_towel(size: Vector, look: Look, choose: Random) -> Mesh:
    """A small towel drawn through its ring, so that it narrows at the top."""
    color = choose.choice(LINENS)
    x, y, z = size
    body = drape(x, y, 0.9 * z, 2, color)
    band = drape(x, 0.06 * y, 0.9 * z, 2, shade(color, 0.7)).shifted(y=-0.38 * y)
    bands = [band.shifted(z=side * 0.003) for side in (-1, 1)]
    return tapered(join([body, *bands]), 0.55).fitted(size)


@along_longer
def towel_holder(size: Vector, look: Look, choose: Random) -> Mesh:
    """A rail between two posts on the wall (-z)."""
    x, y, z = size
    r = min(0.4 * y, 0.012)
    rail = cylinder(r, x, CHROME, segments=8).along("x").shifted(z=z / 2 - r)
    post = cylinder(0.8 * r, z - r, CHROME, segments=8).along("z").shifted(z=-r / 2)
    plate = cylinder(0.5 * y, 0.1 * z, CHROME, segments=12).along("z").shifted(z=-0.45 * z)
    posts = [part.shifted(k * (x / 2 - 0.5 * y)) for part in (post, plate) for k in (-1, 1)]
    return join([rail, *posts]).fitted(size)


@facing
def hand_towel_holder(size: Vector, look: Look, choose: Random) -> Mesh:
    """A ring on the wall (-z)."""
    x, y, z = size
    ring = torus(0.43, 0.08, CHROME, segments=18, sides=6).along("z").scaled(x, 0.86 * y, z)
    plate = cylinder(0.16 * x, 0.12 * z, CHROME, segments=12).along("z")
    post = cylinder(0.05 * x, 0.9 * z, CHROME, segments=8).along("z")
    top = 0.4 * y
    parts = [
        ring.shifted(y=-0.07 * y, z=0.3 * z),
        post.shifted(y=top),
        plate.shifted(y=top, z=-0.44 * z),
    ]
    return join(parts).fitted(size)


@along_longer
def toilet_paper_hanger(size: Vector, look: Look, choose: Random) -> Mesh:
    """A spindle on two arms from the wall (-z)."""
    x, y, z = size
    spindle = cylinder(0.2 * min(y, z), x, CHROME, segments=10).along("x").shifted(z=0.3 * z)
    plate = box((0.9 * x, y, 0.12 * z), CHROME, bevel=0.02 * z).shifted(z=-0.44 * z)
    arm = box((0.07 * x, 0.3 * y, 0.9 * z), CHROME)
    arms = [arm.shifted(k * 0.4 * x, 0, -0.03 * z) for k in (-1, 1)]
    return join([spindle, plate, *arms]).fitted(size)


def plunger(size: Vector, look: Look, choose: Random) -> Mesh:
    """A rubber cup on a stick."""
    rubber = choose.choice((plain(0.60, 0.20, 0.14), BLACK))
    cup = [(0.0, 0.16), (0.86, 0.0), (1.0, 0.0), (0.96, 0.1), (0.5, 0.24), (0.28, 0.3), (0.0, 0.3)]
    stick = [(0.0, 0.28), (0.17, 0.28), (0.15, 0.97), (0.08, 1.0), (0.0, 1.0)]
    parts = [lathe(cup, rubber, segments=16), lathe(stick, OAK, segments=8)]
    return join(parts).fitted(size)


def scrub_brush(size: Vector, look: Look, choose: Random) -> Mesh:
    """A toilet brush in its holder."""
    holder = choose.choice((WHITE, STEEL, BLACK))
    pot = [(0.0, 0.0), (0.9, 0.0), (1.0, 0.03), (0.9, 0.42), (0.82, 0.42), (0.8, 0.1), (0.0, 0.1)]
    bristles = [(0.0, 0.1), (0.6, 0.14), (0.66, 0.4), (0.3, 0.48), (0.0, 0.48)]
    stick = [(0.0, 0.46), (0.13, 0.46), (0.11, 0.9), (0.18, 0.95), (0.0, 1.0)]
    parts = [lathe(pot, holder, segments=16), lathe(bristles, WHITE, segments=12)]
    return join([*parts, lathe(stick, holder, segments=8)]).fitted(size)


_INK = plain(0.30, 0.30, 0.33, gloss=0.0)
_LEAD = plain(0.20, 0.20, 0.20)
_CUT_WOOD = plain(0.86, 0.70, 0.50)
_ERASER = plain(0.88, 0.55, 0.55)


@lying(0.75)
def book(size: Vector, look: Look, choose: Random) -> Mesh:
    """A book whose spine is a long edge. Its upper half turns over about the spine."""
    cover, title = choose.choice(PLASTICS), choose.choice((BRASS, PAPER))
    x, y, z = size
    board = min(0.12 * y, 0.004)
    pages = (-0.48 * x, 0.0, -0.49 * z), (0.48 * x, y / 2 - board, 0.48 * z)
    half = [
        block((-x / 2, y / 2 - board, -z / 2), (x / 2, y / 2, z / 2), cover),
        block((-x / 2, 0.0, -z / 2), (x / 2, y / 2, board - z / 2), cover),
        block(*pages, PAPER),
    ]
    lower = join(half).scaled(1, -1, 1)
    mark = min(0.0008, 0.2 * board)
    for width, at in ((0.14, 0.2), (0.06, -0.22)):
        half.append(box((0.66 * x, mark, width * z), title).shifted(0, y / 2 + mark / 2, at * z))
    upper = join(half)
    closed = join([lower, upper])
    if look.openness == 0:
        return closed.fitted(size)
    text = [_print(0.8 * x, 0.8 * z).shifted(y=0.0004)]
    upper = join([upper, *(t.turned("x", 180) for t in text)])
    hinge = upper.shifted(z=z / 2).turned("x", -180 * look.openness).shifted(z=-z / 2)
    return join([lower, *text, hinge]).fitted(size, like=closed)


def _print(width: float, depth: float) -> Mesh:
    """Lines of print across z on the plane y = 0."""
    lines = [box((0.022 * width, 0.0006, depth), _INK) for _ in range(9)]
    return join(line.shifted((k - 4) / 9 * width) for k, line in enumerate(lines))


@lying(0.68)
def newspaper(size: Vector, look: Look, choose: Random) -> Mesh:
    """A folded newspaper with a headline, a picture and columns."""
    photo = choose.choice(PLASTICS)
    x, y, z = size
    fold = box((x, y - 0.001, z), PAPER, bevel=0.3 * y).shifted(y=-0.0005)
    top = y / 2 - 0.0005
    parts = [fold, box((0.07 * x, 0.001, 0.86 * z), _INK).shifted(-0.4 * x, top)]
    parts.append(box((0.3 * x, 0.001, 0.42 * z), photo).shifted(-0.15 * x, top, 0.22 * z))
    for column in range(4):
        line = box((0.4 * x if column > 1 else 0.74 * x, 0.001, 0.025 * z), shade(PAPER, 0.6))
        for k in range(3):
            at = (column - 1.5) * 0.23 * z + (k - 1) * 0.05 * z
            parts.append(line.shifted((0.24 if column > 1 else 0.06) * x, top, at))
    return join(parts).fitted(size)


@lying(0.08)
def pen(size: Vector, look: Look, choose: Random) -> Mesh:
    """A ball pen: a coloured barrel, a metal tip and a clip."""
    barrel = choose.choice((*PLASTICS, BLACK))
    profile = [(0.0, 0.0), (0.8, 0.0), (1.0, 0.03), (1.0, 0.85), (0.3, 0.99), (0.0, 1.0)]
    body = lathe(profile, [CHROME, CHROME, barrel, CHROME, CHROME], segments=10)
    clip = box((0.5, 0.3, 0.3), CHROME).shifted(0.9, 0.17)
    return join([body, clip]).reordered(1, 0, 2).fitted(size)


@lying(0.06)
def pencil(size: Vector, look: Look, choose: Random) -> Mesh:
    """A six-sided pencil with an eraser."""
    paint = choose.choice((plain(0.94, 0.72, 0.20), *PLASTICS))
    profile = [(0.0, 0.0), (0.95, 0.0), (0.95, 0.05), (1.0, 0.05), (1.0, 0.10), (1.0, 0.88)]
    profile += [(0.25, 0.97), (0.0, 1.0)]
    surfaces = [_ERASER, _ERASER, CHROME, CHROME, paint, _CUT_WOOD, _LEAD]
    return lathe(profile, surfaces, segments=6).reordered(1, 0, 2).fitted(size)


KINDS: Mapping[str, Form] = {
    "ToiletPaper": Form(paper_roll, (0.11, 0.11, 0.1), USED_UP),
    "PaperTowelRoll": Form(paper_roll, (0.11, 0.22, 0.11), USED_UP),
    "ToiletPaperHanger": Form(toilet_paper_hanger, (0.18, 0.07, 0.1)),
    "SoapBar": Form(soap_bar, (0.1, 0.025, 0.07)),
    "TissueBox": Form(tissue_box, (0.22, 0.15, 0.12), USED_UP),
    "Cloth": Form(cloth, (0.21, 0.03, 0.18), DIRTY),
    "DishSponge": Form(dish_sponge, (0.14, 0.03, 0.09)),
    "Towel": Form(towel, (0.41, 0.59, 0.05)),
    "TowelHolder": Form(towel_holder, (0.66, 0.04, 0.1)),
    "HandTowel": Form(hand_towel, (0.13, 0.4, 0.05)),
    "HandTowelHolder": Form(hand_towel_holder, (0.17, 0.21, 0.06)),
    "Plunger": Form(plunger, (0.15, 0.54, 0.15)),
    "ScrubBrush": Form(scrub_brush, (0.13, 0.48, 0.13)),
    "Book": Form(book, (0.2, 0.03, 0.28), OPEN),
    "Newspaper": Form(newspaper, (0.24, 0.03, 0.36)),
    "Pen": Form(pen, (0.015, 0.014, 0.16)),
    "Pencil": Form(pencil, (0.01, 0.01, 0.18)),
}
