"""Kitchen appliances, small and large."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from inhabit.envs.simulators.render.lathe import box, cylinder, ellipsoid, torus
from inhabit.envs.simulators.render.mesh import Material, Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import (
    BLACK,
    BROKEN,
    CHARCOAL,
    CHROME,
    ENAMEL,
    GREY,
    IRON,
    ON,
    OPEN,
    PLASTICS,
    SCREEN,
    STEEL,
    WHITE,
    Form,
    Look,
    Side,
    cracks,
    glowing,
    liquid,
    plain,
    shade,
)
from inhabit.envs.simulators.render.shapes.parts import (
    along_longer,
    bar,
    block,
    cabinet_box,
    facing,
    hollow_box,
    legs,
    swing,
)
from inhabit.envs.simulators.render.sweep import tube

_LIT_INSIDE = glowing(0.95, 0.96, 0.97, 0.25)
_SHELF = plain(0.78, 0.84, 0.87, gloss=0.6)
_SHELVES = (0.2, 0.49, 0.78, 1.07, 1.36, 1.65)
"""Heights of a fridge's shelves over its floor, metres: things are put on the third."""
_LEAST_ROOM = 0.2
"""Metres between the uppermost shelf and the ceiling, at least."""
_LEVEL = 0.08
"""Metres between heights at which things stand on one shelf."""
_RED_HOT = glowing(1.0, 0.30, 0.08)
_RED_LIGHT = glowing(1.0, 0.12, 0.08)
_GREEN_LIGHT = glowing(0.25, 0.95, 0.45)
_WARM_LIGHT = glowing(1.0, 0.85, 0.55, 0.8)


def fridge(size: Vector, look: Look, choose: Random) -> Mesh:
    """A refrigerator with a freezer door above or below; both doors open."""
    x, y, z = size
    coat = choose.choice((ENAMEL, ENAMEL, ENAMEL, STEEL, STEEL, BLACK))
    freezer_below = choose.random() < 0.4
    handle, thick = 0.05 * z, min(0.06, 0.1 * z)
    depth = z - thick - handle
    foot = (0.01 if look.measured else 0.03) * y
    split = (0.36 if freezer_below else 0.68) * y  # the main room holds what stands at .4 to .65
    doors = [(foot, split), (split, y)]
    parts = [box((0.94 * x, foot, 0.9 * depth), CHARCOAL).shifted(0, (foot - y) / 2, -0.05 * z)]
    # In AI2-THOR's fridges things stand up to .9 of the height: one room is behind both doors.
    for low, high in [(foot, y)] if look.measured else doors:
        room = x, high - low, depth
        usual = _SHELVES if look.measured else _shelves(high - low)
        inside = _cold_room(room, coat, usual, [level - low for level in look.levels])
        made = inside if look.openness > 0 else box(room, coat)
        parts.append(made.shifted(0, (low + high - y) / 2, (depth - z) / 2))
    hinge = look.hinge or "right"
    for low, high in doors:
        tall, middle = high - low, (low + high - y) / 2
        grip = min(0.5 * tall, 0.45)
        leaf = box((x, tall - 0.008, thick), coat, bevel=0.012)
        upper = low == split
        grip_y = (-0.5 if upper else 0.5) * (tall - grip) * 0.8
        pull = bar(grip, handle, STEEL if coat != STEEL else CHARCOAL)
        door = join([leaf, pull.shifted(0.42 * x, grip_y, thick / 2)])
        if look.openness > 0:
            door = join([door, *_door_bins(x, tall, thick)])
        door = (door if hinge == "right" else door.scaled(-1, 1, 1)).shifted(
            0, middle, depth + (thick - z) / 2
        )
        parts.append(swing(door, hinge, 110 * look.openness))
    return join(parts)


def _shelves(tall: float) -> list[float]:
    """Heights of the shelves of a room, evenly spaced."""
    count = round(tall / 0.32)
    return [k * tall / count for k in range(1, count)]


def _cold_room(
    size: Vector, coat: Material, usual: Sequence[float], levels: Sequence[float]
) -> Mesh:
    """A lit room with thick walls and glass shelves, open to +z."""
    x, y, z = size
    wall = min(0.045, 0.1 * x)
    parts = [cabinet_box((x, y, z), wall, coat, inside=_LIT_INSIDE)]
    known: list[float] = []
    for level in levels:
        if wall < level < y - wall and (not known or level > known[-1] + _LEVEL):
            known.append(level)
    for height in known or [height for height in usual if height < y - _LEAST_ROOM]:
        shelf = box((x - 2 * wall, 0.008, 0.82 * z), _SHELF)
        parts.append(shelf.shifted(0, height - y / 2, -0.04 * z))
    return join(parts)


def _door_bins(width: float, height: float, thick: float) -> list[Mesh]:
    """Shelves on the inside of a door, behind its back (-z)."""
    reach = 0.09
    rack = box((0.8 * width, 0.06, reach), _SHELF, bevel=0.01).shifted(z=-(thick + reach) / 2)
    rows = (-0.35, 0.05) if height > 0.7 else (-0.3,)
    return [rack.shifted(y=row * height) for row in rows]


def microwave(size: Vector, look: Look, choose: Random) -> Mesh:
    """A microwave oven: window and controls in front, lit inside while it runs or stands open."""
    foot = min(0.018, 0.06 * size[1]) if look.measured else 0.0
    x, y, z = size[0], size[1] - foot, size[2]
    coat = choose.choice((CHARCOAL, BLACK, ENAMEL, STEEL))
    grip, thick = 0.05 * z, 0.09 * z
    depth = z - thick - grip
    hinge: Side = look.hinge or "left"
    door_width = 0.74 * x
    side = 1 if hinge == "left" else -1  # the door's side of the box, along x
    lit = look.on or look.openness > 0
    inside = _WARM_LIGHT if look.on else _LIT_INSIDE
    cavity = cabinet_box((door_width, y, depth), 0.06 * y, coat, inside=inside)
    casing = box((x - door_width, y, depth + thick), coat, bevel=0.006)
    back = (depth - z) / 2
    parts = [
        cavity.shifted(side * (x - door_width) / 2, 0, back),
        casing.shifted(-side * door_width / 2, 0, back + thick / 2),
    ]
    glass = (_WARM_LIGHT if look.on else SCREEN) if not look.openness else SCREEN
    front = depth + thick - z / 2
    parts += [
        part.shifted(-side * door_width / 2, 0, front)
        for part in _controls(x - door_width, y, grip, look.on)
    ]
    leaf = box((door_width - 0.004, y, thick), coat, bevel=0.006)
    pane = box((0.74 * door_width, 0.62 * y, 0.1 * thick), glass).shifted(z=thick / 2)
    pull = bar(0.6 * y, grip, CHROME).shifted(-side * 0.43 * door_width, 0, thick / 2)
    door = join([leaf, pane, pull]).shifted(side * (x - door_width) / 2, 0, front - thick / 2)
    if lit and look.openness > 0:
        turntable = cylinder(0.38 * min(door_width, depth), 0.01, _SHELF, segments=16)
        parts.append(turntable.shifted(side * (x - door_width) / 2, 0.065 * y - y / 2, back))
    body = join([*parts, swing(door, hinge, 110 * look.openness)])
    if not foot:
        return body
    feet = join(legs((0.9 * x, foot, 0.8 * z), 0.03, BLACK)).shifted(y=-(y + foot) / 2)
    return join([body, feet]).shifted(y=foot / 2)


def _controls(width: float, height: float, depth: float, on: bool) -> list[Mesh]:
    """A display and a keypad on the plane z = 0."""
    display = box((0.7 * width, 0.14 * height, 0.2 * depth), _GREEN_LIGHT if on else SCREEN)
    key = box((0.18 * width, 0.07 * height, 0.3 * depth), shade(WHITE, 0.75))
    parts = [display.shifted(0, 0.33 * height, 0.1 * depth)]
    for row in range(4):
        for column in (-1, 0, 1):
            y = 0.14 * height - 0.13 * height * row
            parts.append(key.shifted(0.26 * width * column, y, 0.15 * depth))
    return parts


@along_longer
def toaster(size: Vector, look: Look, choose: Random) -> Mesh:
    """A two-slot toaster, its lever at one end; the slots glow and the lever is down when on."""
    coat = choose.choice((STEEL, PLASTICS[1], ENAMEL, CHARCOAL, CHROME))
    x, y, z = size
    lever, foot = 0.07 * x, 0.05 * y
    length, tall = x - lever, 0.97 * y - foot
    body = box((length, tall, z), coat, bevel=0.18 * min(tall, z))
    body = body.shifted(-lever / 2, foot - y / 2 + tall / 2)
    base = box((0.9 * length, 2 * foot, 0.9 * z), BLACK).shifted(-lever / 2, foot - y / 2)
    heat = _RED_HOT if look.on else BLACK
    slot = hollow_box((0.74 * length, 0.05 * y, 0.2 * z), 0.02 * z, STEEL, inside=heat)
    slots = [slot.shifted(-lever / 2, 0.475 * y, k * 0.17 * z) for k in (-1, 1)]
    height = -0.22 * y if look.on else 0.18 * y
    knob = box((lever, 0.08 * y, 0.2 * z), BLACK, bevel=0.01 * y)
    dial = cylinder(0.09 * y, 0.4 * lever, BLACK, segments=10).along("x")
    end = (x - lever) / 2
    return join(
        [
            body,
            base,
            *slots,
            knob.shifted(end, height),
            dial.shifted(end - 0.3 * lever, -0.3 * y),
        ]
    )


def coffee_machine(size: Vector, look: Look, choose: Random) -> Mesh:
    """A machine with room for a mug under its spout; it pours and shows a light when on."""
    x, y, z = size
    coat, trim = choose.choice(((BLACK, STEEL), (STEEL, BLACK), (PLASTICS[1], BLACK))), CHROME
    body, face = coat
    base = box((x, 0.12 * y, z), body, bevel=0.02 * y).shifted(y=-0.44 * y)
    tower = box((x, 0.7 * y, 0.45 * z), body, bevel=0.02 * y).shifted(y=-0.05 * y, z=-0.275 * z)
    head = box((x, 0.32 * y, 0.94 * z), face, bevel=0.05 * y).shifted(y=0.33 * y, z=-0.03 * z)
    lid = box((0.86 * x, 0.04 * y, 0.8 * z), body, bevel=0.01 * y).shifted(y=0.48 * y, z=-0.05 * z)
    grate = box((0.7 * x, 0.012 * y, 0.45 * z), trim).shifted(y=-0.375 * y, z=0.2 * z)
    spout = cylinder(0.06 * x, 0.08 * y, trim, top=0.1 * x, segments=10)
    light = _RED_LIGHT if look.on else CHARCOAL
    lamp = cylinder(0.045 * x, 0.03 * z, light, segments=10).along("z")
    button = cylinder(0.06 * x, 0.03 * z, trim, segments=12).along("z")
    front = 0.455 * z
    parts = [
        *(base, tower, head, lid, grate, spout.shifted(y=0.14 * y, z=0.2 * z)),
        lamp.shifted(0.2 * x, 0.33 * y, front),
        button.shifted(-0.15 * x, 0.33 * y, front),
    ]
    if look.on:
        stream = cylinder(0.018 * x, 0.46 * y, liquid("coffee"), segments=6)
        parts.append(stream.shifted(y=-0.13 * y, z=0.2 * z))
    if look.broken:
        parts.append(cracks(0.8 * x, 0.25 * y, choose).shifted(0, 0.33 * y, 0.44 * z))
    return join(parts)


def stove_burner(size: Vector, look: Look, choose: Random) -> Mesh:
    """A hob's coil in its dish; it glows red when on."""
    flat = max(size[0], size[2])
    coil = _RED_HOT if look.on else IRON
    parts = [cylinder(1.0, 0.1, STEEL, segments=20).shifted(y=-0.4)]
    parts += [torus(r, 0.22, coil, segments=16, sides=4).scaled(1, 2, 1) for r in (0.36, 0.74)]
    if choose.random() < 0.3:  # a gas ring: a cap in the middle, a grate over it
        flame = glowing(0.35, 0.55, 1.0) if look.on else CHARCOAL
        grate = [box((1.9, 0.25, 0.1), IRON).turned("y", 45 * k).shifted(y=0.35) for k in range(4)]
        ring = torus(0.45, 0.3, flame, segments=16, sides=5).shifted(y=-0.1)
        parts = [parts[0], cylinder(0.36, 0.4, IRON, segments=14), ring, *grate]
    return join(parts).scaled(flat / 2, flat / 2, flat / 2).fitted(size)


@facing
def stove_knob(size: Vector, look: Look, choose: Random) -> Mesh:
    """A knob that faces +z; its pointer is up when off, and aside when on."""
    coat = choose.choice((BLACK, STEEL, BLACK))
    collar = cylinder(1.0, 0.2, CHROME, segments=16).along("z").shifted(z=-0.4)
    grip = cylinder(0.82, 0.7, coat, top=0.7, bevel=0.1, segments=16).along("z")
    ridge = box((0.22, 1.3, 0.2), coat, bevel=0.05).shifted(z=0.42)
    mark = box((0.1, 0.5, 0.02), _RED_LIGHT if look.on else WHITE).shifted(0, 0.4, 0.525)
    dial = join([ridge, mark]).turned("z", 90 if look.on else 0)
    whole = join([collar, grip.shifted(z=0.03), dial])
    return whole.fitted(size)


_COATS = (ENAMEL, ENAMEL, STEEL, CHARCOAL)
_HOT_RING = glowing(1.0, 0.28, 0.08)
_LAMP_INSIDE = glowing(0.93, 0.62, 0.28, 0.7)
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
        plate = cylinder(radius, 0.012, _HOT_RING if hot else IRON, segments=14)
        hub = cylinder(0.4 * radius, 0.016, CHARCOAL, segments=8)
        parts.append(
            join([plate, hub]).shifted(sx * 0.24 * x, y / 2 - 0.004, sz * 0.22 * z - reach / 2)
        )
    low = 0.12 * oven - y / 2
    tall = 0.86 * oven
    leaf = block((-x / 2 + 0.004, 0, -thick), (x / 2 - 0.004, tall, 0), coat, bevel=0.008)
    glass = box((0.7 * x, 0.5 * tall, 0.004), _LAMP_INSIDE if look.on else SCREEN)
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
    "Fridge": Form(fridge, (0.86, 1.87, 0.76), OPEN),
    "Microwave": Form(microwave, (0.61, 0.35, 0.38), OPEN + ON),
    "Toaster": Form(toaster, (0.33, 0.21, 0.2), ON),
    "CoffeeMachine": Form(coffee_machine, (0.26, 0.44, 0.32), ON + BROKEN),
    "StoveBurner": Form(stove_burner, (0.22, 0.03, 0.22), ON),
    "StoveKnob": Form(stove_knob, (0.07, 0.07, 0.05), ON),
    "Stove": Form(stove, (0.62, 0.92, 0.6), OPEN[1:] + ON),
    "Dishwasher": Form(dishwasher, (0.6, 0.88, 0.6), OPEN + ON),
    "WashingMachine": Form(washing_machine, (0.6, 0.86, 0.6), OPEN[1:] + ON),
}
