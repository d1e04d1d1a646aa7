"""Lamps, candles, switches."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from inhabit.envs.simulators.render.lathe import cylinder, ellipsoid, lathe
from inhabit.envs.simulators.render.material import Material
from inhabit.envs.simulators.render.mesh import Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import (
    BLACK,
    BRASS,
    COTTON,
    GLAZES,
    LINENS,
    METALS,
    OAK,
    STEEL,
    WALNUT,
    WHITE,
    glowing,
    plain,
)
from inhabit.envs.simulators.render.shapes.look import ON, Form, Look
from inhabit.envs.simulators.render.shapes.parts import facing
from inhabit.envs.simulators.render.solids import box
from inhabit.envs.simulators.render.sweep import tube

_LIT_SHADE = glowing(1.0, 0.90, 0.68, 0.9)
_BULB = glowing(1.0, 0.95, 0.80)
_COLD_BULB = plain(0.88, 0.87, 0.82, gloss=0.6)
_FLAME = glowing(1.0, 0.62, 0.15)
_FLAME_HEART = glowing(1.0, 0.92, 0.55)


def _lamp_shade(wide: float, narrow: float, height: float, cloth: Material, on: bool) -> Mesh:
    """An open cone of cloth from y = 0 up, lit from inside when on, with its bulb."""
    outside = _LIT_SHADE if on else cloth
    wall = 0.02 * wide
    cone = [(wide, 0.0), (narrow, height), (narrow - wall, height), (wide - wall, 0.0), (wide, 0.0)]
    bulb = ellipsoid(
        (0.5 * narrow, 0.4 * height, 0.5 * narrow), _BULB if on else _COLD_BULB, rings=5, segments=8
    )
    return join([lathe(cone, outside, segments=20), bulb.shifted(y=0.45 * height)])


def floor_lamp(size: Vector, look: Look, choose: Random) -> Mesh:
    """A tall lamp: a foot, a pole and a shade."""
    _, y, _ = size
    metal, cloth = choose.choice(METALS), choose.choice((COTTON, COTTON, *LINENS[3:5]))
    wide, tall = 0.5, min(0.36, 0.22 * y)
    foot = cylinder(0.32, 0.03, metal, bevel=0.01, segments=20).shifted(y=0.015)
    pole = cylinder(0.025, y - tall, metal, segments=8).shifted(y=(y - tall) / 2)
    lamp = _lamp_shade(wide, 0.7 * wide, tall, cloth, look.on).shifted(y=y - tall)
    rod = cylinder(0.015, tall, metal, segments=6).shifted(y=y - tall / 2)
    return join([foot, pole, rod, lamp]).fitted(size)


def desk_lamp(size: Vector, look: Look, choose: Random) -> Mesh:
    """A table lamp with a cloth shade, or one on a jointed arm; it lights when on."""
    jointed = choose.random() < 0.4
    body, cloth = choose.choice((*GLAZES, OAK, WALNUT)), choose.choice((COTTON, COTTON, *LINENS))
    metal = choose.choice((BLACK, STEEL, GLAZES[1], GLAZES[4]))
    if jointed:
        return _jointed(metal, look.on).fitted(size)
    profile = [(0.0, 0.0), (0.34, 0.0), (0.34, 0.03), (0.12, 0.07), (0.2, 0.2), (0.24, 0.32)]
    profile += [(0.16, 0.46), (0.06, 0.54), (0.05, 0.62), (0.0, 0.62)]
    foot = lathe(profile, body, segments=16)
    rod = cylinder(0.03, 0.4, BRASS, segments=6).shifted(y=0.75)
    lamp = _lamp_shade(0.5, 0.34, 0.46, cloth, look.on).shifted(y=0.54)
    return join([foot, rod, lamp]).fitted(size)


def _jointed(metal: Material, on: bool) -> Mesh:
    """An arm lamp that bends to +z."""
    foot = cylinder(0.3, 0.06, metal, bevel=0.02, segments=18).shifted(y=0.03, z=-0.15)
    arm = tube([(0, 0.05, -0.2), (0, 0.62, -0.38), (0, 0.95, 0.1)], 0.028, metal, sides=6)
    joint = ellipsoid((0.09, 0.09, 0.09), metal, rings=5, segments=8).shifted(0, 0.62, -0.38)
    inside = _LIT_SHADE if on else WHITE
    profile = [
        (0.0, 0.24),
        (0.07, 0.24),
        (0.1, 0.18),
        (0.26, 0.0),
        (0.23, 0.0),
        (0.08, 0.15),
        (0.0, 0.15),
    ]
    hood = lathe(profile, [metal, metal, metal, metal, inside, inside], segments=16)
    bulb = ellipsoid((0.16, 0.2, 0.16), _BULB if on else _COLD_BULB, rings=5, segments=8)
    head = join([hood, bulb.shifted(y=0.03)]).turned("x", -35)
    return join([foot, arm, joint, head.shifted(0, 0.82, 0.22)])


def candle(size: Vector, look: Look, choose: Random) -> Mesh:
    """A candle; its flame stands above its box."""
    wax = choose.choice((plain(0.94, 0.90, 0.80), plain(0.86, 0.80, 0.68), plain(0.72, 0.30, 0.28)))
    x, y, z = size
    profile = [(0.0, 0.0), (1.0, 0.0), (1.0, 0.92), (0.9, 0.95), (0.6, 0.88), (0.0, 0.87)]
    body = lathe(profile, wax, segments=16).fitted((x, 0.88 * y, z)).shifted(y=-0.06 * y)
    thick = 0.05 * min(x, z)
    wick = cylinder(thick, 0.2 * y, BLACK, segments=5).shifted(y=0.4 * y)
    parts = [body, wick]
    if look.on:
        tall = max(0.03, 0.6 * min(x, z))
        drop = [(0.0, 0.0), (0.6, 0.12), (1.0, 0.35), (0.6, 0.65), (0.0, 1.0)]
        for width, height, fire in ((0.36, 1.0, _FLAME), (0.2, 0.55, _FLAME_HEART)):
            flame = lathe(drop, fire, segments=8).scaled(width * tall, height * tall, width * tall)
            parts.append(flame.shifted(y=0.47 * y))
    return join(parts)


def light_switch(size: Vector, look: Look, choose: Random) -> Mesh:
    """A rocker in its plate; it stands up when on."""

    def build(size: Vector) -> Mesh:
        x, y, z = size
        plate = box((x, y, 0.4 * z), WHITE, bevel=0.15 * z).shifted(z=-0.3 * z)
        frame = box((0.46 * x, 0.5 * y, 0.1 * z), plain(0.80, 0.80, 0.79)).shifted(z=-0.06 * z)
        lever = box((0.2 * x, 0.3 * y, 0.6 * z), WHITE, bevel=0.05 * z)
        tilt = lever.turned("x", 25 if look.on else -25).shifted(
            0, (0.06 if look.on else -0.06) * y, 0.2 * z
        )
        return join([plate, frame, tilt]).fitted(size)

    return facing(size, build)


KINDS: Mapping[str, Form] = {
    "FloorLamp": Form(floor_lamp, (0.46, 1.8, 0.46), ON),
    "DeskLamp": Form(desk_lamp, (0.28, 0.46, 0.28), ON),
    "Candle": Form(candle, (0.06, 0.13, 0.06), ON),
    "LightSwitch": Form(light_switch, (0.11, 0.15, 0.04), ON),
}
