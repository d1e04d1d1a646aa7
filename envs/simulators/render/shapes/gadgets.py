"""Small things one carries in a pocket or keeps by the bed."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from random import Random

from inhabit.envs.simulators.render.lathe import cylinder, lathe, torus
from inhabit.envs.simulators.render.material import Material
from inhabit.envs.simulators.render.mesh import Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import (
    BLACK,
    BRASS,
    CHROME,
    GREY,
    PLASTICS,
    SCREEN,
    WALNUT,
    WHITE,
    glowing,
    plain,
    shade,
)
from inhabit.envs.simulators.render.shapes.look import BROKEN, ON, Form, Look
from inhabit.envs.simulators.render.shapes.parts import lying
from inhabit.envs.simulators.render.shapes.wear import cracks
from inhabit.envs.simulators.render.solids import box
from inhabit.envs.simulators.render.sweep import prism, tube

_RED = plain(0.78, 0.20, 0.18)
_WALLPAPER = glowing(0.13, 0.24, 0.42)
_ICONS = tuple(
    glowing(*color)
    for color in ((0.95, 0.96, 0.98), (0.98, 0.76, 0.28), (0.40, 0.82, 0.50), (0.93, 0.40, 0.38))
)


def cell_phone(size: Vector, look: Look, choose: Random) -> Mesh:
    """A phone on its back; its screen is full of icons when on."""
    case = choose.choice((BLACK, WHITE, *PLASTICS[:2]))
    seed = choose.randrange(1 << 30)

    def build(size: Vector) -> Mesh:
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

    return lying(size, 0.5, build)


def remote_control(size: Vector, look: Look, choose: Random) -> Mesh:
    """A remote control with rows of buttons and a red one."""
    case, button = choose.choice(((BLACK, GREY), (GREY, BLACK), (BLACK, WHITE)))

    def build(size: Vector) -> Mesh:
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

    return lying(size, 0.25, build)


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


def credit_card(size: Vector, look: Look, choose: Random) -> Mesh:
    """A bank card with its chip and a stripe."""
    card = choose.choice(PLASTICS)

    def build(size: Vector) -> Mesh:
        x, y, z = size
        body = box((x, 0.7 * y, z), card).shifted(y=-0.15 * y)
        chip = box((0.16 * x, 0.3 * y, 0.2 * z), BRASS).shifted(-0.28 * x, 0.35 * y, 0.0)
        line = box((0.9 * x, 0.25 * y, 0.14 * z), shade(card, 1.5)).shifted(0, 0.325 * y, 0.3 * z)
        name = box((0.5 * x, 0.25 * y, 0.08 * z), WHITE).shifted(-0.12 * x, 0.325 * y, -0.32 * z)
        return join([body, chip, line, name]).fitted(size)

    return lying(size, 0.62, build)


def key_chain(size: Vector, look: Look, choose: Random) -> Mesh:
    """Two keys and a tag on a ring."""
    tag = choose.choice(PLASTICS)

    def build(size: Vector) -> Mesh:
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

    return lying(size, 0.6, build)


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
    "CellPhone": Form(cell_phone, (0.08, 0.01, 0.16), ON + BROKEN),
    "RemoteControl": Form(remote_control, (0.055, 0.022, 0.2)),
    "AlarmClock": Form(alarm_clock, (0.18, 0.18, 0.1)),
    "Watch": Form(watch, (0.07, 0.05, 0.06)),
    "CD": Form(disc, (0.12, 0.003, 0.12)),
    "CreditCard": Form(credit_card, (0.09, 0.002, 0.055)),
    "KeyChain": Form(key_chain, (0.13, 0.012, 0.08)),
}
