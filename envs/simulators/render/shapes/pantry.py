"""More of what is in kitchens: packs, baked things, bananas, boards, wine glasses."""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, pi, sin
from random import Random

from inhabit.envs.simulators.render.lathe import cylinder, ellipsoid, lathe
from inhabit.envs.simulators.render.material import Material, Pattern
from inhabit.envs.simulators.render.mesh import Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.crockery import vessel
from inhabit.envs.simulators.render.shapes.finishes import (
    GLAZES,
    LINENS,
    OAK,
    PAPER,
    PINE,
    PLASTICS,
    STEEL,
    WALNUT,
    WHITE,
    liquid,
    plain,
    shade,
)
from inhabit.envs.simulators.render.shapes.look import Form, Look
from inhabit.envs.simulators.render.shapes.parts import along_longer, facing, lying
from inhabit.envs.simulators.render.shapes.soft import bumpy
from inhabit.envs.simulators.render.solids import box
from inhabit.envs.simulators.render.sweep import prism, tube

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
    ground, accent = choose.sample(PLASTICS[:4], 2)

    def build(size: Vector) -> Mesh:
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

    return facing(size, build).fitted(size)


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


def bananas(size: Vector, look: Look, choose: Random) -> Mesh:
    """A hand of four bananas, their stalks together at -x."""

    def build(size: Vector) -> Mesh:
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
            parts.append(
                ellipsoid((0.05, 0.04, 0.04), _STALK, rings=3, segments=6).shifted(x, y, z)
            )
        stem = tube([(-0.14, 0.06, 0.0), (0.04, 0.0, 0.0)], (0.05, 0.08), _STALK, sides=6)
        return join([stem, *parts]).fitted(size)

    return along_longer(size, build)


def cutting_board(size: Vector, look: Look, choose: Random) -> Mesh:
    """A wooden board with rounded corners and a hole to hang it up by."""
    wood = choose.choice((OAK, PINE, WALNUT))

    def build(size: Vector) -> Mesh:
        x, y, z = size
        board = box((0.84 * x, y, z), wood, bevel=0.3 * y).shifted(x=0.08 * x)
        grip = box((0.2 * x, y, 0.34 * z), wood, bevel=0.3 * y).shifted(x=-0.4 * x)
        hole = cylinder(0.05 * z, 1.02 * y, shade(wood, 0.4), segments=10).shifted(x=-0.44 * x)
        return join([board, grip, hole]).fitted(size)

    return lying(size, 0.62, build)


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
    "Carton": Form(carton, (0.09, 0.24, 0.09)),
    "CerealBox": Form(cereal_box, (0.2, 0.3, 0.08)),
    "Salad": Form(salad, (0.2, 0.1, 0.2)),
    "Pie": Form(pie, (0.26, 0.06, 0.26)),
    "Cupcake": Form(cupcake, (0.08, 0.08, 0.08)),
    "Bananas": Form(bananas, (0.2, 0.06, 0.14)),
    "CuttingBoard": Form(cutting_board, (0.24, 0.02, 0.36)),
    "WineGlass": Form(wine_glass, (0.08, 0.2, 0.08), (("wine", Look(filled="wine")),)),
}
