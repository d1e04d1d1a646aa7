"""Electronics and gadgets."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import cos, radians, sin
from random import Random

from inhabit.envs.simulators.render.lathe import box, cylinder, lathe, torus
from inhabit.envs.simulators.render.mesh import Material, Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import (
    BLACK,
    BRASS,
    BROKEN,
    CHARCOAL,
    CHROME,
    GREY,
    ON,
    OPEN,
    PLASTICS,
    SCREEN,
    STEEL,
    WALNUT,
    WHITE,
    Form,
    Look,
    cracks,
    glowing,
    plain,
    shade,
)
from inhabit.envs.simulators.render.shapes.parts import cutout, lying, squared
from inhabit.envs.simulators.render.sweep import prism, tube

_SKY = glowing(0.36, 0.62, 0.92)
_SUN = glowing(1.0, 0.87, 0.45)
_HILL = glowing(0.28, 0.60, 0.33)
_MEADOW = glowing(0.50, 0.76, 0.36)
_BAR = glowing(0.93, 0.95, 0.97)


def screen(width: float, height: float, look: Look, choose: Random) -> Mesh:
    """A display on the plane z = 0 that faces +z: dark, or a landscape; perhaps cracked."""
    thin = 0.001
    seed = choose.randrange(1 << 30)
    parts = [box((width, height, thin), _SKY if look.on else SCREEN).shifted(z=thin / 2)]
    if look.on:
        sun = cylinder(0.12 * height, thin, _SUN, segments=14).along("z")
        parts.append(sun.shifted(0.25 * width, 0.22 * height, 1.5 * thin))
        for material, top, z in (
            (_HILL, (0.05, 0.2, -0.02, 0.12), 1.6),
            (_MEADOW, (-0.2, -0.05, -0.15, -0.02), 2.0),
        ):
            ridge = [((k / 3 - 0.5) * width, t * height) for k, t in enumerate(top)]
            outline = [(-width / 2, -height / 2), *ridge, (width / 2, -height / 2)]
            parts.append(cutout(outline, thin, material).shifted(z=z * thin))
        task = box((width, 0.06 * height, thin), _BAR).shifted(0, -0.47 * height, 2.6 * thin)
        parts.append(task)
    if look.broken:
        parts.append(cracks(0.95 * width, 0.95 * height, Random(seed)).shifted(z=3.2 * thin))
    return join(parts)


def television(size: Vector, look: Look, choose: Random) -> Mesh:
    """A flat television, on a foot if its box is deep enough for one."""
    x, y, z = size
    standing = z > 0.13
    foot = 0.09 * y if standing else 0.0
    deep = min(z, 0.06)
    tall = y - foot
    set_ = box((x, tall, deep), BLACK, bevel=0.006).shifted(y=foot / 2)
    high = max(tall - 0.05 * x, 0.5 * tall)
    picture = screen(0.95 * x, high, look, choose).shifted(y=foot / 2, z=deep / 2)
    if not standing:
        return join([set_, picture]).fitted(size)
    neck = box((0.12 * x, 2 * foot, 0.5 * deep), CHARCOAL).shifted(y=foot - y / 2)
    base = squared(cylinder(0.5, 0.02, CHARCOAL, bevel=0.006, segments=20), 4).scaled(0.5 * x, 1, z)
    return join([set_, picture, neck, base.shifted(y=0.01 - y / 2)])


def desktop(size: Vector, look: Look, choose: Random) -> Mesh:
    """A computer: a monitor on a foot, its case beside it, a keyboard in front."""
    x, y, z = size
    monitor = television((0.7 * x, 0.75 * y, 0.3 * z), look, choose)
    case = box((0.2 * x, y, 0.8 * z), CHARCOAL, bevel=0.006)
    light = cylinder(0.01, 0.004, glowing(0.3, 0.9, 0.5) if look.on else GREY, segments=8).along(
        "z"
    )
    keys = _keyboard(0.62 * x, 0.26 * z, 0.02, BLACK)
    parts = [
        monitor.shifted(-0.15 * x, -0.125 * y, -0.2 * z),
        case.shifted(0.4 * x, 0, -0.1 * z),
        light.shifted(0.4 * x, 0.35 * y, 0.302 * z),
        keys.shifted(-0.17 * x, 0.01 - y / 2, 0.35 * z),
    ]
    return join(parts).fitted(size)


def _keyboard(width: float, depth: float, thick: float, case: Material) -> Mesh:
    """A slab with rows of keys, its front to +z."""
    parts = [box((width, 0.6 * thick, depth), case).shifted(y=-0.2 * thick)]
    key = shade(case, 0.6) if case != BLACK else shade(BLACK, 1.9)
    for row in range(4):
        strip = box((0.94 * width, 0.4 * thick, 0.17 * depth), key)
        parts.append(strip.shifted(0, 0.3 * thick, (row - 1.5) * 0.235 * depth))
    return join(parts)


def laptop(size: Vector, look: Look, choose: Random) -> Mesh:
    """A laptop whose screen looks to +z. A tall box is that of the opened one, as in THOR."""
    case = choose.choice((STEEL, CHARCOAL, GREY, WHITE))
    seed = choose.randrange(1 << 30)
    x, y, z = size
    thick = min(0.018, y / 2)
    if y < 0.25 * z:
        closed = _laptop((x, thick, z, z), 0.0, case, Look(), Random(seed))
        parts = _laptop((x, thick, z, z), look.openness * 110, case, look, Random(seed))
        return parts.fitted(size, like=closed)
    # The opened lid leans back: rising y, it reaches back as far as the base is short of z.
    widest = 105.0
    lid = (y - thick) / sin(radians(widest))
    base = max(z + lid * cos(radians(widest)), 0.6 * lid)
    form = (x, thick, base, min(lid, base))
    opened = _laptop(form, widest, case, Look(), Random(seed))
    return _laptop(form, widest * look.openness, case, look, Random(seed)).fitted(size, like=opened)


def _laptop(
    form: tuple[float, float, float, float],
    angle: float,
    case: Material,
    look: Look,
    choose: Random,
) -> Mesh:
    """(width, thickness, depth of the base, length of the lid), opened by `angle` degrees."""
    x, thick, depth, lid_length = form
    parts = [box((x, thick, depth), case, bevel=0.2 * thick)]
    keys = _keyboard(0.86 * x, 0.46 * depth, 0.1 * thick, BLACK)
    parts.append(keys.shifted(0, 0.55 * thick, -0.13 * depth))
    pad = box((0.3 * x, 0.05 * thick, 0.26 * depth), shade(case, 0.85))
    parts.append(pad.shifted(0, 0.525 * thick, 0.31 * depth))
    lid = box((x, 0.6 * thick, lid_length), case, bevel=0.15 * thick)
    picture = screen(0.92 * x, 0.88 * lid_length, look, choose).turned("x", 90)
    leaf = join([lid, picture.shifted(y=-0.3 * thick)]).shifted(
        y=0.3 * thick + 0.003, z=lid_length / 2
    )
    leaf = leaf.turned("x", -angle).shifted(y=thick / 2, z=-depth / 2)
    return join([*parts, leaf])


_RED = plain(0.78, 0.20, 0.18)
_WALLPAPER = glowing(0.13, 0.24, 0.42)
_ICONS = tuple(
    glowing(*color)
    for color in ((0.95, 0.96, 0.98), (0.98, 0.76, 0.28), (0.40, 0.82, 0.50), (0.93, 0.40, 0.38))
)


@lying(0.5)
def cell_phone(size: Vector, look: Look, choose: Random) -> Mesh:
    """A phone on its back; its screen is full of icons when on."""
    case = choose.choice((BLACK, WHITE, *PLASTICS[:2]))
    seed = choose.randrange(1 << 30)
    x, y, z = size
    body = box((x, y, z), case, bevel=0.3 * y)
    glass = box((0.86 * x, 0.001, 0.9 * z), _WALLPAPER if look.on else SCREEN)
    parts = [body, glass.shifted(y=y / 2)]
    if look.on:
        for row, column in product(range(5), range(3)):
            tile = box((0.17 * z, 0.001, 0.17 * z), _ICONS[(row * 2 + column) % len(_ICONS)])
            at = ((2 - row) * 0.15 * x, y / 2 + 0.0005, (column - 1) * 0.27 * z)
            parts.append(tile.shifted(*at))
    if look.broken:
        star = cracks(0.8 * x, 0.85 * z, Random(seed)).turned("x", -90)
        parts.append(star.shifted(y=y / 2 + 0.001))
    return join(parts).fitted(size)


@lying(0.25)
def remote_control(size: Vector, look: Look, choose: Random) -> Mesh:
    """A remote control with rows of buttons and a red one."""
    case, button = choose.choice(((BLACK, GREY), (GREY, BLACK), (BLACK, WHITE)))
    x, y, z = size
    parts = [box((x, 0.85 * y, z), case, bevel=0.25 * y).shifted(y=-0.075 * y)]
    key = box((0.07 * x, 0.16 * y, 0.2 * z), button)
    top = 0.42 * y
    for row in range(5):
        for column in (-1, 0, 1):
            parts.append(key.shifted((-0.1 + 0.11 * row) * x, top, 0.28 * column * z))
    wheel = cylinder(0.3 * z, 0.16 * y, button, segments=12).shifted(-0.28 * x, top)
    power = cylinder(0.11 * z, 0.16 * y, _RED, segments=8).shifted(0.44 * x, top, 0.28 * z)
    return join([*parts, wheel, power]).fitted(size)


def alarm_clock(size: Vector, look: Look, choose: Random) -> Mesh:
    """A clock with two bells, its dial to +z."""
    coat = choose.choice((*PLASTICS, CHROME))
    drum = cylinder(0.42, 0.5, coat, bevel=0.05, segments=16).along("z")
    dial = cylinder(0.36, 0.02, WHITE, segments=16).along("z").shifted(z=0.25)
    parts = [drum, dial]
    for k in (0, 3, 6, 9):
        mark = box((0.02, 0.05, 0.01), BLACK).shifted(0, 0.31, 0.262)
        parts.append(mark.turned("z", 30 * k))
    parts.append(box((0.03, 0.2, 0.01), BLACK).shifted(0, 0.1, 0.268).turned("z", 55))
    parts.append(box((0.02, 0.29, 0.01), BLACK).shifted(0, 0.13, 0.275).turned("z", -60))
    bell = [(0.0, 0.0), (0.18, 0.0), (0.14, 0.1), (0.0, 0.15)]
    for side in (-1, 1):
        parts.append(lathe(bell, BRASS, segments=12).shifted(y=0.43).turned("z", -32 * side))
        parts.append(
            cylinder(0.04, 0.18, BLACK, segments=6).shifted(y=-0.45).turned("z", 32 * side)
        )
    grip = tube(
        [(-0.13, 0.5, 0), (-0.06, 0.58, 0), (0.06, 0.58, 0), (0.13, 0.5, 0)], 0.02, BRASS, sides=5
    )
    return join([*parts, grip]).fitted(size)


def watch(size: Vector, look: Look, choose: Random) -> Mesh:
    """A wrist watch whose strap stands as a loop, its dial up."""
    strap, case = (
        choose.choice((BLACK, WALNUT, plain(0.45, 0.27, 0.16))),
        choose.choice((CHROME, BRASS)),
    )
    loop = torus(0.42, 0.05, strap, segments=20, sides=4).along("z").scaled(1, 0.8, 7)
    body = cylinder(0.24, 0.1, case, segments=16).shifted(y=0.36)
    dial = cylinder(0.19, 0.02, WHITE, segments=14).shifted(y=0.42)
    hand = box((0.02, 0.01, 0.15), BLACK).shifted(0, 0.435, 0.06)
    hands = [hand, hand.scaled(1, 1, 0.7).turned("y", 110)]
    whole = join([loop, body, dial, *hands])
    return (whole if size[0] >= size[2] else whole.turned("y", 90)).fitted(size)


def disc(size: Vector, look: Look, choose: Random) -> Mesh:
    """A compact disc."""
    tint = choose.choice((plain(0.72, 0.76, 0.83, gloss=0.95), plain(0.76, 0.72, 0.82, gloss=0.95)))
    label = choose.choice(PLASTICS)
    profile = [
        (1.0, -1.0),
        (1.0, 1.0),
        (0.45, 1.0),
        (0.3, 1.0),
        (0.13, 1.0),
        (0.13, -1.0),
        (1.0, -1.0),
    ]
    ring = lathe(profile, [tint, tint, label, shade(tint, 1.1), tint, tint], segments=24)
    thin = size.index(min(size))
    return (ring.along("x") if thin == 0 else ring if thin == 1 else ring.along("z")).fitted(size)


@lying(0.62)
def credit_card(size: Vector, look: Look, choose: Random) -> Mesh:
    """A bank card with its chip and a stripe."""
    card = choose.choice(PLASTICS)
    x, y, z = size
    body = box((x, 0.7 * y, z), card).shifted(y=-0.15 * y)
    chip = box((0.16 * x, 0.3 * y, 0.2 * z), BRASS).shifted(-0.28 * x, 0.35 * y, 0.0)
    line = box((0.9 * x, 0.25 * y, 0.14 * z), shade(card, 1.5)).shifted(0, 0.325 * y, 0.3 * z)
    name = box((0.5 * x, 0.25 * y, 0.08 * z), WHITE).shifted(-0.12 * x, 0.325 * y, -0.32 * z)
    return join([body, chip, line, name]).fitted(size)


@lying(0.6)
def key_chain(size: Vector, look: Look, choose: Random) -> Mesh:
    """Two keys and a tag on a ring."""
    tag = choose.choice(PLASTICS)
    ring = torus(0.17, 0.05, CHROME, segments=14, sides=5).shifted(-0.1)
    parts = [
        ring,
        _key(BRASS).turned("y", 24).shifted(-0.1),
        _key(CHROME).turned("y", -14).shifted(-0.1, 0.03),
    ]
    flag = prism(
        [(0.0, -0.05), (0.1, -0.16), (0.4, -0.16), (0.4, 0.16), (0.1, 0.16), (0.0, 0.05)],
        0.05,
        tag,
    )
    return join([*parts, flag.turned("y", 170).shifted(-0.26)]).fitted(size)


def _key(metal: Material) -> Mesh:
    """A key along x, its bow at the origin."""
    teeth = [
        (0.12, -0.035),
        (0.12, 0.035),
        (0.62, 0.035),
        (0.66, 0.0),
        (0.62, -0.035),
        (0.56, -0.09),
    ]
    teeth += [(0.5, -0.035), (0.45, -0.08), (0.4, -0.035)]
    bow = cylinder(0.11, 0.045, metal, segments=10).shifted(0.12)
    return join([bow, prism(teeth, 0.03, metal)])


KINDS: Mapping[str, Form] = {
    "Television": Form(television, (1.08, 0.72, 0.25), ON + BROKEN),
    "Desktop": Form(desktop, (0.75, 0.57, 0.46), ON),
    "Laptop": Form(
        laptop,
        (0.38, 0.27, 0.33),
        (
            *OPEN,
            ("on", Look(openness=1.0, on=True)),
            ("broken", Look(openness=1.0, broken=True)),
        ),
    ),
    "CellPhone": Form(cell_phone, (0.08, 0.01, 0.16), ON + BROKEN),
    "RemoteControl": Form(remote_control, (0.055, 0.022, 0.2)),
    "AlarmClock": Form(alarm_clock, (0.18, 0.18, 0.1)),
    "Watch": Form(watch, (0.07, 0.05, 0.06)),
    "CD": Form(disc, (0.12, 0.003, 0.12)),
    "CreditCard": Form(credit_card, (0.09, 0.002, 0.055)),
    "KeyChain": Form(key_chain, (0.13, 0.012, 0.08)),
}
