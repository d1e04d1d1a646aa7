"""Large kitchen and laundry machines: stoves, dishwashers, washing machines."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from inhabit.envs.simulators.render.lathe import cylinder, ellipsoid, torus
from inhabit.envs.simulators.render.material import Material
from inhabit.envs.simulators.render.mesh import Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import (
    BLACK,
    CHARCOAL,
    CHROME,
    ENAMEL,
    GREY,
    IRON,
    SCREEN,
    STEEL,
    glowing,
    shade,
)
from inhabit.envs.simulators.render.shapes.look import ON, OPEN, Form, Look
from inhabit.envs.simulators.render.shapes.parts import bar, block, cabinet_box
from inhabit.envs.simulators.render.solids import box
from inhabit.envs.simulators.render.sweep import tube

_COATS = (ENAMEL, ENAMEL, STEEL, CHARCOAL)
_RED_HOT = glowing(1.0, 0.28, 0.08)
_WARM_LIGHT = glowing(0.93, 0.62, 0.28, 0.7)
_RUNNING = glowing(0.35, 0.95, 0.55)
_WATER = glowing(0.45, 0.68, 0.86, 0.3)


def _tilted(leaf: Mesh, low: float, front: float, angle: float) -> Mesh:
    """A flap that hangs at its lower edge, y = `low`, and falls forward by `angle` degrees."""
    return leaf.shifted(0, -low, -front).turned("x", angle).shifted(0, low, front)


def _body(size: Vector, depth: float, thick: float, coat: Material, openness: float) -> Mesh:
    """A casing that ends where its door begins; open in front only while one looks in."""
    x, y, z = size
    if openness > 0:
        hull = cabinet_box((x, y, depth), 0.03, coat, inside=shade(STEEL, 0.8))
    else:
        hull = box((x, y, depth), coat, bevel=0.004)
    return hull.shifted(z=(depth - z) / 2)


def stove(size: Vector, look: Look, choose: Random) -> Mesh:
    """A range: four plates that glow when on, knobs, and an oven door that falls open."""
    coat = choose.choice(_COATS)
    closed = _stove(size, Look(), coat)
    return _stove(size, look, coat).fitted(size, like=closed)


def _stove(size: Vector, look: Look, coat: Material) -> Mesh:
    x, y, z = size
    trim = CHROME if coat != STEEL else BLACK
    top, panel, thick, reach = 0.03, 0.11 * y, 0.035, 0.045
    depth = z - thick - reach
    oven = y - top - panel
    parts = [_body((x, oven, z), depth, thick, coat, look.openness).shifted(y=(oven - y) / 2)]
    parts.append(box((x, top, z - reach), BLACK, bevel=0.006).shifted(0, (y - top) / 2, -reach / 2))
    strip = box((x, panel, depth + thick), coat, bevel=0.006)
    front = z / 2 - reach
    parts.append(strip.shifted(0, y / 2 - top - panel / 2, -reach / 2))
    for k in range(4):
        turn = 70 if look.on and k == 1 else 0
        grip = cylinder(0.02, 0.02, trim, segments=8).along("z")
        mark = box((0.004, 0.03, 0.004), coat).turned("z", turn).shifted(z=0.011)
        at = (k - 1.5) * 0.2 * x, y / 2 - top - panel / 2, front + 0.01
        parts.append(join([grip, mark]).shifted(*at))
    for i, (sx, sz) in enumerate(((-1, -1), (1, -1), (-1, 1), (1, 1))):
        radius = (0.15 if i in (1, 2) else 0.19) * min(x, z)
        hot = look.on and i == 3
        plate = cylinder(radius, 0.012, _RED_HOT if hot else IRON, segments=14)
        hub = cylinder(0.4 * radius, 0.016, CHARCOAL, segments=8)
        parts.append(
            join([plate, hub]).shifted(sx * 0.24 * x, y / 2 - 0.004, sz * 0.22 * z - reach / 2)
        )
    low = 0.12 * oven - y / 2
    tall = 0.86 * oven
    leaf = block((-x / 2 + 0.004, 0, -thick), (x / 2 - 0.004, tall, 0), coat, bevel=0.008)
    glass = box((0.7 * x, 0.5 * tall, 0.004), _WARM_LIGHT if look.on else SCREEN)
    pull = bar(0.7 * x, reach, trim).turned("z", 90).shifted(y=0.88 * tall)
    door = join([leaf, glass.shifted(0, 0.48 * tall, 0.001), pull]).shifted(0, low, front)
    parts.append(_tilted(door, low, front - thick, 85 * look.openness))
    parts.append(block((-x / 2, -y / 2, front - thick), (x / 2, low - 0.006, front), coat))
    if look.openness > 0:
        rack = box((0.88 * x, 0.008, 0.85 * depth), GREY)
        parts.append(rack.shifted(0, low + 0.45 * tall, -reach))
    return join(parts)


def dishwasher(size: Vector, look: Look, choose: Random) -> Mesh:
    """A dishwasher: its door falls open before two racks; a light shows that it runs."""
    coat = choose.choice(_COATS)
    closed = _dishwasher(size, Look(), coat)
    return _dishwasher(size, look, coat).fitted(size, like=closed)


def _dishwasher(size: Vector, look: Look, coat: Material) -> Mesh:
    x, y, z = size
    thick, plinth, worktop = 0.05, 0.09, 0.03
    depth = z - thick
    tall = y - plinth - worktop
    parts = [
        block((-x / 2, -y / 2, -z / 2), (x / 2, plinth - y / 2, z / 2 - thick - 0.04), CHARCOAL),
        block((-x / 2, y / 2 - worktop, -z / 2), (x / 2, y / 2, z / 2), shade(GREY, 1.2),
              bevel=0.006),
        _body((x, tall, z), depth, thick, coat, look.openness).shifted(y=(plinth - worktop) / 2),
    ]  # fmt: skip
    low, front = plinth - y / 2, z / 2
    leaf = block((-x / 2 + 0.003, 0, -thick), (x / 2 - 0.003, tall, 0), coat, bevel=0.006)
    strip = box((x - 0.006, 0.1, 0.004), CHARCOAL).shifted(y=tall - 0.055)
    light = box((0.03, 0.012, 0.008), _RUNNING if look.on else GREY)
    slot = box((0.4 * x, 0.03, 0.012), BLACK).shifted(y=tall - 0.14)
    door = join([leaf, strip, light.shifted(0.36 * x, tall - 0.055), slot]).shifted(0, low, front)
    parts.append(_tilted(door, low, front - thick, 88 * look.openness))
    if look.openness > 0:
        for height in (0.16, 0.52):
            parts.append(_rack(0.9 * x, 0.85 * depth).shifted(0, low + height * tall, -thick / 2))
    return join(parts)


def _rack(width: float, depth: float) -> Mesh:
    """A basket of wires on the plane y = 0."""
    wires = [box((0.008, 0.008, depth), GREY).shifted((k / 6 - 0.5) * width) for k in range(7)]
    rim = 0.07
    for side in (-1, 1):
        wires.append(box((0.008, rim, depth), GREY).shifted(side * width / 2, rim / 2))
        wires.append(box((width, 0.008, 0.008), GREY).shifted(0, rim, side * depth / 2))
    return join(wires)


def washing_machine(size: Vector, look: Look, choose: Random) -> Mesh:
    """A front loader: a porthole that swings open, a drawer and a dial; water turns when on."""
    coat = choose.choice((ENAMEL, ENAMEL, STEEL))
    closed = _washing_machine(size, Look(), coat)
    return _washing_machine(size, look, coat).fitted(size, like=closed)


def _washing_machine(size: Vector, look: Look, coat: Material) -> Mesh:
    x, y, z = size
    bulge = 0.07 * z
    depth = z - bulge
    front = z / 2 - bulge
    hull = box((x, y, depth), coat, bevel=0.012).shifted(z=-bulge / 2)
    radius, middle = 0.3 * x, -0.04 * y
    rim = torus(radius, 0.05, CHROME if coat != STEEL else CHARCOAL, segments=18, sides=5)
    parts = [hull, rim.along("z").shifted(0, middle, front)]
    drum = cylinder(radius, 0.004, shade(STEEL, 0.5) if look.openness else SCREEN, segments=18)
    parts.append(drum.along("z").shifted(0, middle, front + 0.001))
    glass = _WATER if look.on else SCREEN
    dome = ellipsoid((1.84 * radius, 1.84 * radius, 1.4 * bulge), glass, rings=5, segments=14)
    ring = torus(0.95 * radius, 0.035, CHARCOAL, segments=18, sides=5).along("z")
    pull = box((0.03, 0.12, 0.02), CHROME, bevel=0.004).shifted(x=0.9 * radius, z=0.4 * bulge)
    door = join([dome, ring, pull]).shifted(0, middle, front + 0.02)
    edge = -radius
    swung = door.shifted(-edge, 0, -front).turned("y", -115 * look.openness).shifted(edge, 0, front)
    parts.append(swung)
    strip = box((0.94 * x, 0.11 * y, 0.006), shade(coat, 0.92)).shifted(0, 0.41 * y, front)
    drawer = box((0.3 * x, 0.08 * y, 0.012), coat, bevel=0.003).shifted(-0.3 * x, 0.41 * y, front)
    dial = cylinder(0.035, 0.03, CHROME, segments=14).along("z").shifted(0.1 * x, 0.41 * y, front)
    light = box((0.05, 0.02, 0.01), _RUNNING if look.on else SCREEN)
    feet = tube([(-0.4 * x, 0, 0), (0.4 * x, 0, 0)], 0.01, CHARCOAL, sides=5)
    parts += [strip, drawer, dial, light.shifted(0.33 * x, 0.41 * y, front)]
    parts.append(feet.shifted(0, 0.012 - y / 2, front - 0.02))
    return join(parts)


KINDS: Mapping[str, Form] = {
    "Stove": Form(stove, (0.62, 0.92, 0.6), OPEN[1:] + ON),
    "Dishwasher": Form(dishwasher, (0.6, 0.88, 0.6), OPEN + ON),
    "WashingMachine": Form(washing_machine, (0.6, 0.86, 0.6), OPEN[1:] + ON),
}
