"""Kitchen machines: what cools, heats, toasts and brews."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from inhabit.envs.simulators.render.lathe import cylinder, torus
from inhabit.envs.simulators.render.material import Material
from inhabit.envs.simulators.render.mesh import Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import (
    BLACK,
    CHARCOAL,
    CHROME,
    ENAMEL,
    IRON,
    PLASTICS,
    SCREEN,
    STEEL,
    WHITE,
    glowing,
    liquid,
    plain,
    shade,
)
from inhabit.envs.simulators.render.shapes.look import BROKEN, ON, OPEN, Form, Look, Side
from inhabit.envs.simulators.render.shapes.parts import (
    along_longer,
    bar,
    cabinet_box,
    facing,
    hollow_box,
    swing,
)
from inhabit.envs.simulators.render.shapes.wear import cracks
from inhabit.envs.simulators.render.solids import box

_LIT_INSIDE = glowing(0.95, 0.96, 0.97, 0.25)
_SHELF = plain(0.78, 0.84, 0.87, gloss=0.6)
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
    foot = 0.03 * y
    split = (0.36 if freezer_below else 0.68) * y  # the main room holds what stands at .4 to .65
    rooms = [(foot, split), (split, y)]
    parts = [box((0.94 * x, foot, 0.9 * depth), CHARCOAL).shifted(0, (foot - y) / 2, -0.05 * z)]
    hinge = look.hinge or "right"
    for low, high in rooms:
        tall, middle = high - low, (low + high - y) / 2
        room_depth = (depth - z) / 2
        if look.openness > 0:
            parts.append(_cold_room((x, tall, depth), coat).shifted(0, middle, room_depth))
        else:
            parts.append(box((x, tall, depth), coat).shifted(0, middle, room_depth))
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


def _cold_room(size: Vector, coat: Material) -> Mesh:
    """A lit room with thick walls and glass shelves, open to +z."""
    x, y, z = size
    wall = min(0.045, 0.1 * x)
    parts = [cabinet_box((x, y, z), wall, coat, inside=_LIT_INSIDE)]
    count = round(y / 0.32)
    for k in range(1, count):
        shelf = box((x - 2 * wall, 0.008, 0.82 * z), _SHELF)
        parts.append(shelf.shifted(0, k * y / count - y / 2, -0.04 * z))
    return join(parts)


def _door_bins(width: float, height: float, thick: float) -> list[Mesh]:
    """Shelves on the inside of a door, behind its back (-z)."""
    reach = 0.09
    rack = box((0.8 * width, 0.06, reach), _SHELF, bevel=0.01).shifted(z=-(thick + reach) / 2)
    rows = (-0.35, 0.05) if height > 0.7 else (-0.3,)
    return [rack.shifted(y=row * height) for row in rows]


def microwave(size: Vector, look: Look, choose: Random) -> Mesh:
    """A microwave oven: window and controls in front, lit inside while it runs or stands open."""
    x, y, z = size
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
    return join([*parts, swing(door, hinge, 110 * look.openness)])


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


def toaster(size: Vector, look: Look, choose: Random) -> Mesh:
    """A two-slot toaster, its lever at one end; the slots glow and the lever is down when on."""
    coat = choose.choice((STEEL, PLASTICS[1], ENAMEL, CHARCOAL, CHROME))

    def build(size: Vector) -> Mesh:
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

    return along_longer(size, build)


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


def stove_knob(size: Vector, look: Look, choose: Random) -> Mesh:
    """A knob that faces +z; its pointer is up when off, and aside when on."""
    coat = choose.choice((BLACK, STEEL, BLACK))

    def build(size: Vector) -> Mesh:
        collar = cylinder(1.0, 0.2, CHROME, segments=16).along("z").shifted(z=-0.4)
        grip = cylinder(0.82, 0.7, coat, top=0.7, bevel=0.1, segments=16).along("z")
        ridge = box((0.22, 1.3, 0.2), coat, bevel=0.05).shifted(z=0.42)
        mark = box((0.1, 0.5, 0.02), _RED_LIGHT if look.on else WHITE).shifted(0, 0.4, 0.525)
        dial = join([ridge, mark]).turned("z", 90 if look.on else 0)
        whole = join([collar, grip.shifted(z=0.03), dial])
        return whole.fitted(size)

    return facing(size, build)


KINDS: Mapping[str, Form] = {
    "Fridge": Form(fridge, (0.86, 1.87, 0.76), OPEN),
    "Microwave": Form(microwave, (0.61, 0.35, 0.38), OPEN + ON),
    "Toaster": Form(toaster, (0.33, 0.21, 0.2), ON),
    "CoffeeMachine": Form(coffee_machine, (0.26, 0.44, 0.32), ON + BROKEN),
    "StoveBurner": Form(stove_burner, (0.22, 0.03, 0.22), ON),
    "StoveKnob": Form(stove_knob, (0.07, 0.07, 0.05), ON),
}
