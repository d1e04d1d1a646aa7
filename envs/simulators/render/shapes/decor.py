"""Plants, vases, figures and cushions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import cos, sin
from random import Random

from inhabit.envs.simulators.render.lathe import Point, cylinder, ellipsoid, lathe
from inhabit.envs.simulators.render.mesh import Material, Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import (
    BLACK,
    BROKEN,
    FILLED,
    GLAZES,
    LEAF,
    LINENS,
    OAK,
    SOIL,
    Form,
    Look,
    liquid,
    plain,
    shade,
)
from inhabit.envs.simulators.render.shapes.parts import along_longer
from inhabit.envs.simulators.render.sweep import tube

_FUR = (plain(0.66, 0.46, 0.28, gloss=0.0), plain(0.52, 0.36, 0.25, gloss=0.0))
_MUZZLE = plain(0.86, 0.74, 0.58, gloss=0.0)
_STONE = (
    plain(0.80, 0.77, 0.71),
    plain(0.42, 0.42, 0.44, gloss=0.3),
    plain(0.60, 0.45, 0.28, gloss=0.5),
)
_LEAVES = (LEAF, plain(0.33, 0.55, 0.25), plain(0.20, 0.40, 0.24))


def house_plant(size: Vector, look: Look, choose: Random) -> Mesh:
    """A plant in a pot, with broad leaves or with blades; its soil is wet once it is watered."""
    glaze, blades = choose.choice((*GLAZES, plain(0.70, 0.40, 0.26))), choose.random() < 0.45
    grown = Random(choose.randrange(1 << 30))
    tall = 1.0
    pot = [
        (0.0, 0.0),
        (0.21, 0.0),
        (0.29, 0.3),
        (0.31, 0.3),
        (0.31, 0.35),
        (0.26, 0.35),
        (0.25, 0.31),
        (0.0, 0.31),
    ]
    soil = SOIL if look.filled is None else replace(shade(SOIL, 0.5), gloss=0.6)
    parts = [lathe(pot, [glaze] * 6 + [soil], segments=16)]
    if look.filled is not None:
        parts.append(cylinder(0.2, 0.012, liquid(look.filled), segments=12).shifted(y=0.318))
    if blades:
        for k in range(13):
            parts.append(_blade(grown, 2.4 * k, tall))
    else:
        for k in range(11):
            parts += _leaf_on_stalk(grown, 2.4 * k, tall * (0.55 + 0.45 * (k + 1) / 11))
    return join(parts).fitted(size)


def _blade(grown: Random, around: float, tall: float) -> Mesh:
    """A long leaf that bends outward."""
    reach, height = grown.uniform(0.12, 0.4), grown.uniform(0.75, 1.0) * tall
    c, s = cos(around), sin(around)
    bend = [(0.03, 0.3), (0.3, 0.75), (0.7, 0.97), (1.0, 0.9)]
    path = [(r * reach * c, h * height, r * reach * s) for r, h in bend]
    return tube(path, [0.018, 0.03, 0.022, 0.003], grown.choice(_LEAVES), sides=4)


def _leaf_on_stalk(grown: Random, around: float, height: float) -> list[Mesh]:
    """A broad leaf, tilted outward at the end of its stalk."""
    reach, green = grown.uniform(0.12, 0.3), grown.choice(_LEAVES)
    c, s = cos(around), sin(around)
    tip = (reach * c, height, reach * s)
    stalk = tube([(0.03 * c, 0.3, 0.03 * s), tip], 0.01, _LEAVES[1], sides=4)
    leaf = ellipsoid((0.34, 0.03, 0.2), green, rings=3, segments=8).shifted(0.13)
    leaf = leaf.turned("z", grown.uniform(-35, 20)).turned("y", -around * 180 / 3.14159)
    return [stalk, leaf.shifted(*tip)]


_VASES: tuple[tuple[Point, ...], ...] = (
    ((0.5, 0.0), (0.9, 0.2), (1.0, 0.42), (0.72, 0.7), (0.42, 0.86), (0.5, 1.0)),
    ((0.6, 0.0), (0.75, 0.3), (1.0, 0.72), (0.9, 0.9), (0.62, 1.0)),
    ((0.8, 0.0), (0.68, 0.25), (0.6, 0.6), (0.78, 0.9), (1.0, 1.0)),
)


def vase(size: Vector, look: Look, choose: Random) -> Mesh:
    """A hollow vase of one of three forms, with a coloured band."""
    glaze, band = choose.choice(GLAZES), choose.choice(GLAZES)
    outline = choose.choice(_VASES)
    wall = [(max(0.3, r - 0.1), y) for r, y in reversed(outline) if y > 0.15]
    profile = [(0.0, 0.0), *outline, *wall, (0.0, 0.15)]
    surfaces = [glaze] * (len(profile) - 1)
    surfaces[2] = band
    surfaces[len(outline) + 1 :] = [shade(glaze, 0.7)] * (len(profile) - 2 - len(outline))
    return lathe(profile, surfaces, segments=18).fitted(size)


def statue(size: Vector, look: Look, choose: Random) -> Mesh:
    """A bust on a plinth, or an abstract figure."""
    stone, bust = choose.choice(_STONE), choose.random() < 0.5
    base = [(0.0, 0.0), (0.26, 0.0), (0.26, 0.08), (0.14, 0.12)]
    if bust:
        chest = [(0.16, 0.2), (0.36, 0.34), (0.38, 0.44), (0.26, 0.54), (0.13, 0.58), (0.12, 0.66)]
        torso = lathe([*base, *chest, (0.0, 0.66)], stone, segments=14).scaled(1, 1, 0.7)
        head = ellipsoid((0.3, 0.36, 0.34), stone, rings=8, segments=12).shifted(y=0.82)
        nose = ellipsoid((0.06, 0.11, 0.1), stone, rings=4, segments=6).shifted(0, 0.81, 0.17)
        hair = ellipsoid((0.33, 0.24, 0.34), stone, rings=6, segments=10).shifted(0, 0.92, -0.04)
        parts = [torso, head, nose, hair]
    else:
        limb = [(0.0, 0.14, 0.0), (-0.12, 0.4, 0.0), (0.1, 0.62, 0.0), (0.0, 0.84, 0.0)]
        body = tube(limb, [0.2, 0.15, 0.12, 0.05], stone, sides=10)
        head = ellipsoid((0.2, 0.2, 0.2), stone, rings=6, segments=10).shifted(y=0.92)
        arms = tube(
            [(-0.36, 0.85, 0), (0.1, 0.62, 0.05), (0.4, 0.8, 0)], [0.03, 0.08, 0.03], stone, sides=8
        )
        foot = lathe([*base, (0.0, 0.14)], stone, segments=14)
        parts = [foot, body, head, arms]
    return join(parts).fitted(size)


def teddy_bear(size: Vector, look: Look, choose: Random) -> Mesh:
    """A sitting bear that looks to +z."""
    fur = choose.choice(_FUR)

    def ball(size: Vector, at: Vector, material: Material = fur, rings: int = 4) -> Mesh:
        return ellipsoid(size, material, rings=rings, segments=8).shifted(*at)

    parts = [
        ball((0.56, 0.6, 0.48), (0, 0.32, -0.05), rings=5),
        ball((0.36, 0.4, 0.1), (0, 0.3, 0.17), _MUZZLE),
        ball((0.5, 0.46, 0.44), (0, 0.77, 0.0), rings=5),
        ball((0.22, 0.17, 0.16), (0, 0.71, 0.21), _MUZZLE),
        ball((0.07, 0.05, 0.05), (0, 0.75, 0.29), BLACK, 3),
    ]
    for side in (-1, 1):
        parts += [
            ball((0.17, 0.17, 0.1), (0.2 * side, 0.97, -0.02)),
            ball((0.1, 0.1, 0.06), (0.2 * side, 0.97, 0.03), _MUZZLE, 4),
            ball((0.05, 0.06, 0.04), (0.1 * side, 0.83, 0.2), BLACK, 3),
            ball((0.17, 0.4, 0.18), (0, 0, 0))
            .turned("z", 38 * side)
            .shifted(0.3 * side, 0.42, 0.05),
            ball((0.2, 0.2, 0.44), (0.2 * side, 0.1, 0.22)),
            ball((0.15, 0.15, 0.04), (0.2 * side, 0.11, 0.43), _MUZZLE, 3),
        ]
    return join(parts).fitted(size)


def pillow(size: Vector, look: Look, choose: Random) -> Mesh:
    """A pillow with its corners drawn out; it is thin along its shortest side."""
    cloth = choose.choice(LINENS)
    order = sorted(range(3), key=lambda axis: (size[axis], axis))
    thin = order[0]
    body = ellipsoid((1, 1, 1), cloth, square=(0.05, 0.62), rings=8, segments=20)
    x, y, z = (size[(thin + k) % 3] for k in (2, 0, 1))
    upright = body.fitted((x, y, z))
    return upright.reordered(*((1, 2, 0), (0, 1, 2), (2, 0, 1))[thin]).fitted(size)


@along_longer
def watering_can(size: Vector, look: Look, choose: Random) -> Mesh:
    """A can with a long spout along the longer side, and a bow; a full one shows water on top."""
    metal = choose.choice((GLAZES[2], GLAZES[4], GLAZES[1], plain(0.60, 0.62, 0.63, gloss=0.5)))
    profile = [(0.0, 0.0), (0.36, 0.0), (0.33, 0.7), (0.29, 0.7), (0.31, 0.6), (0.0, 0.6)]
    top = metal if look.filled is None else liquid(look.filled)
    can = lathe(profile, [metal, metal, metal, metal, top], segments=16)
    spout = tube(
        [(0.28, 0.12, 0), (0.6, 0.5, 0), (0.78, 0.78, 0)], [0.09, 0.06, 0.05], metal, sides=8
    )
    rose = cylinder(0.05, 0.08, metal, top=0.13, segments=10).turned("z", -45).shifted(0.8, 0.8)
    bow = [
        (-0.3, 0.15, 0),
        (-0.55, 0.35, 0),
        (-0.5, 0.75, 0),
        (-0.2, 0.98, 0),
        (0.15, 0.95, 0),
        (0.28, 0.7, 0),
    ]
    return join([can, spout, rose, tube(bow, 0.035, metal, sides=6)]).fitted(size)


def room_decor(size: Vector, look: Look, choose: Random) -> Mesh:
    """Dry branches in a floor vase."""
    glaze, grown = choose.choice(GLAZES), Random(choose.randrange(1 << 30))
    pot = lathe(
        [(0.0, 0.0), (0.5, 0.0), (0.9, 0.15), (0.7, 0.32), (0.4, 0.4), (0.3, 0.4), (0.0, 0.3)],
        glaze,
    )
    parts = [pot.scaled(0.35, 1, 0.35)]
    for k in range(7):
        c, s, far = cos(2.4 * k), sin(2.4 * k), grown.uniform(0.2, 0.5)
        path = [
            (0.03 * c, 0.35, 0.03 * s),
            (0.5 * far * c, 0.7, 0.5 * far * s),
            (far * c, grown.uniform(0.85, 1), far * s),
        ]
        parts.append(tube(path, [0.02, 0.014, 0.006], OAK, sides=4))
        bud = ellipsoid((0.07, 0.05, 0.07), GLAZES[5], rings=4, segments=6)
        parts.append(bud.shifted(*path[-1]))
    return join(parts).fitted(size)


def table_top_decor(size: Vector, look: Look, choose: Random) -> Mesh:
    """A dish of round pebbles."""
    glaze, grown = choose.choice(GLAZES), Random(choose.randrange(1 << 30))
    dish = lathe(
        [(0.0, 0.0), (0.5, 0.0), (1.0, 0.5), (0.94, 0.5), (0.5, 0.1), (0.0, 0.1)],
        glaze,
        segments=18,
    )
    parts = [dish]
    for k in range(7):
        c, s, far = cos(2.4 * k), sin(2.4 * k), 0.0 if k == 0 else 0.5
        pebble = ellipsoid((0.5, 0.45, 0.42), grown.choice(_STONE), rings=4, segments=7)
        parts.append(pebble.shifted(far * c, 0.35 if k else 0.6, far * s))
    return join(parts).fitted(size)


KINDS: Mapping[str, Form] = {
    "HousePlant": Form(house_plant, (0.4, 0.64, 0.4), FILLED[:1]),
    "Vase": Form(vase, (0.18, 0.28, 0.18), BROKEN),
    "Statue": Form(statue, (0.2, 0.34, 0.18), BROKEN),
    "TeddyBear": Form(teddy_bear, (0.36, 0.46, 0.38)),
    "Pillow": Form(pillow, (0.5, 0.15, 0.38)),
    "WateringCan": Form(watering_can, (0.3, 0.2, 0.15), FILLED[:1]),
    "RoomDecor": Form(room_decor, (0.4, 1.4, 0.4)),
    "TableTopDecor": Form(table_top_decor, (0.36, 0.14, 0.36)),
}
