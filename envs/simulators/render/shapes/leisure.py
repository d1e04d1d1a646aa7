"""Sports gear, and the odd things that stand about in a home."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from inhabit.envs.simulators.render.lathe import cylinder, ellipsoid, lathe, torus
from inhabit.envs.simulators.render.mesh import Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import (
    BLACK,
    CARDBOARD,
    CHARCOAL,
    OAK,
    PINE,
    PLASTICS,
    RUBBER,
    STEEL,
    WALNUT,
    WHITE,
    plain,
    shade,
)
from inhabit.envs.simulators.render.shapes.look import Form, Look
from inhabit.envs.simulators.render.shapes.parts import lying
from inhabit.envs.simulators.render.shapes.soft import bumpy
from inhabit.envs.simulators.render.solids import box
from inhabit.envs.simulators.render.sweep import tube


def basket_ball(size: Vector, look: Look, choose: Random) -> Mesh:
    """An orange ball with its black seams."""
    leather = plain(0.80, 0.42, 0.18)
    seam = [torus(0.488, 0.024, BLACK, segments=20, sides=3)]
    seam += [seam[0].along("x"), seam[0].along("z")]
    return join([ellipsoid((0.985, 0.985, 0.985), leather, rings=8, segments=16), *seam]).fitted(
        size
    )


def baseball_bat(size: Vector, look: Look, choose: Random) -> Mesh:
    """A bat with a dark grip, standing or lying as its box does."""
    wood, grip = choose.choice((PINE, OAK, WALNUT)), choose.choice((BLACK, PLASTICS[1]))
    profile = [
        (0.0, 0.0),
        (0.5, 0.0),
        (0.5, 0.02),
        (0.34, 0.035),
        (0.36, 0.3),
        (0.55, 0.5),
        (1.0, 0.75),
    ]
    profile += [(1.0, 0.95), (0.8, 1.0), (0.0, 1.0)]
    surfaces = [grip] * 4 + [wood] * 5

    def build(size: Vector) -> Mesh:
        return lathe(profile, surfaces, segments=14).reordered(1, 0, 2).fitted(size)

    return lying(size, 0.09, build)


def tennis_racket(size: Vector, look: Look, choose: Random) -> Mesh:
    """A racket with strings."""
    frame = choose.choice(PLASTICS)

    def build(size: Vector) -> Mesh:
        ring = torus(0.5, 0.06, frame, segments=20, sides=5).scaled(0.52, 0.8, 0.43).shifted(0.23)
        parts = [ring]
        for k in (-2, -1, 0, 1, 2):
            half = (1 - (k / 2.9) ** 2) ** 0.5
            parts.append(box((0.5 * half, 0.008, 0.008), WHITE).shifted(0.23, 0, 0.074 * k))
            parts.append(box((0.008, 0.008, 0.42 * half), WHITE).shifted(0.23 + 0.09 * k, 0, 0))
        for side in (-1, 1):
            parts.append(
                tube([(-0.18, 0, 0.01 * side), (0.03, 0, 0.14 * side)], 0.016, frame, sides=5)
            )
        parts.append(box((0.32, 0.05, 0.055), BLACK, bevel=0.012).shifted(-0.34))
        return join(parts).fitted(size)

    return lying(size, 0.42, build)


def dumbbell(size: Vector, look: Look, choose: Random) -> Mesh:
    """A bar with two hexagonal weights."""
    rubber = choose.choice((CHARCOAL, *PLASTICS[:3]))

    def build(size: Vector) -> Mesh:
        bar = cylinder(0.12, 0.7, STEEL, segments=10)
        weight = cylinder(0.5, 0.3, rubber, bevel=0.05, segments=6)
        whole = join([bar, weight.shifted(y=0.35), weight.shifted(y=-0.35)])
        return whole.along("x").fitted(size)

    return lying(size, 0.42, build)


def boots(size: Vector, look: Look, choose: Random) -> Mesh:
    """A pair of tall boots that point to +z."""
    leather = choose.choice(
        (plain(0.42, 0.27, 0.17, gloss=0.3), BLACK, plain(0.60, 0.42, 0.25, gloss=0.3))
    )
    lined = shade(leather, 0.5)
    shaft = [(0.0, 0.0), (0.18, 0.0), (0.16, 0.5), (0.2, 1.25), (0.18, 1.25), (0.14, 0.5)]
    leg = lathe([*shaft, (0.0, 0.4)], [leather] * 4 + [lined] * 2, segments=12)
    foot = ellipsoid((0.34, 0.34, 0.8), leather, square=(0.3, 0.3), rings=6, segments=12)
    sole = box((0.34, 0.08, 0.76), RUBBER, bevel=0.03).shifted(0, 0.04, 0.05)
    leg, foot = leg.shifted(0, 0.15, -0.15), foot.shifted(0, 0.18, 0.05)
    one = join([leg, foot, sole])
    return join([one.shifted(-0.21), one.shifted(0.21)]).fitted(size)


def garbage_bag(size: Vector, look: Look, choose: Random) -> Mesh:
    """A full bag, tied at the top."""
    plastic = choose.choice(
        (plain(0.13, 0.13, 0.15, gloss=0.6), plain(0.85, 0.85, 0.84, gloss=0.5))
    )
    profile = [
        (0.0, 0.0),
        (0.7, 0.02),
        (0.95, 0.2),
        (1.0, 0.42),
        (0.8, 0.66),
        (0.4, 0.8),
        (0.12, 0.86),
    ]
    profile += [(0.3, 1.0), (0.0, 0.97)]
    body = lathe(profile, plastic, segments=16)
    return bumpy(body, 0.12, 2.6, Random(choose.randrange(1 << 30))).fitted(size)


def vacuum_cleaner(size: Vector, look: Look, choose: Random) -> Mesh:
    """An upright cleaner: a head on the floor (+z), a body and a handle that leans back."""
    color = choose.choice(PLASTICS)
    head = box((0.9, 0.12, 0.4), CHARCOAL, bevel=0.04).shifted(0, 0.06, 0.25)
    body = (
        ellipsoid((0.46, 0.56, 0.34), color, square=(0.4, 0.3), rings=7, segments=12)
        .turned("x", -18)
        .shifted(0, 0.4, 0.06)
    )
    jar = (
        cylinder(0.14, 0.28, plain(0.70, 0.78, 0.80, gloss=0.8), segments=12)
        .turned("x", -18)
        .shifted(0, 0.44, 0.2)
    )
    stick = tube(
        [(0, 0.6, 0), (0, 0.9, -0.18), (0, 1.0, -0.3)], [0.04, 0.03, 0.05], CHARCOAL, sides=8
    )
    return join([head, body, jar, stick]).fitted(size)


def aluminum_foil(size: Vector, look: Look, choose: Random) -> Mesh:
    """A long carton of foil with a strip of it showing."""

    def build(size: Vector) -> Mesh:
        x, y, z = size
        card = choose.choice(PLASTICS)
        foil = plain(0.72, 0.74, 0.77, gloss=0.9)
        carton = box((x, 0.94 * y, 0.94 * z), card).shifted(y=-0.03 * y, z=-0.03 * z)
        strip = box((0.96 * x, 0.06 * y, 0.7 * z), foil).shifted(0, 0.47 * y, 0.15 * z)
        label = box((0.5 * x, 0.5 * y, 0.06 * z), CARDBOARD).shifted(0, 0, 0.47 * z)
        return join([carton, strip, label]).fitted(size)

    return lying(size, 0.3, build)


KINDS: Mapping[str, Form] = {
    "BasketBall": Form(basket_ball, (0.24, 0.24, 0.24)),
    "BaseballBat": Form(baseball_bat, (0.07, 0.9, 0.07)),
    "TennisRacket": Form(tennis_racket, (0.28, 0.03, 0.66)),
    "Dumbbell": Form(dumbbell, (0.34, 0.13, 0.15)),
    "Boots": Form(boots, (0.29, 0.52, 0.28)),
    "GarbageBag": Form(garbage_bag, (0.51, 0.56, 0.51)),
    "VacuumCleaner": Form(vacuum_cleaner, (0.4, 1.0, 0.44)),
    "AluminumFoil": Form(aluminum_foil, (0.3, 0.05, 0.06)),
}
