"""Fittings of rooms, and lights."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from inhabit.envs.simulators.render.lathe import box, cylinder, ellipsoid, lathe
from inhabit.envs.simulators.render.mesh import Material, Mesh, Pattern, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import (
    BLACK,
    BRASS,
    CHROME,
    COTTON,
    FABRICS,
    FRONTS,
    GLASS,
    GLAZES,
    IRON,
    LINENS,
    METALS,
    OAK,
    ON,
    OPEN,
    PINE,
    STEEL,
    WALNUT,
    WHITE,
    WHITEWOOD,
    Form,
    Look,
    glowing,
    plain,
    shade,
)
from inhabit.envs.simulators.render.shapes.parts import (
    along_longer,
    bar,
    block,
    cabinet_box,
    facing,
    panel,
    swing,
)
from inhabit.envs.simulators.render.sweep import prism, tube

_GLOWING_CLOTH = glowing(1.0, 0.93, 0.78, 0.95)
_AJAR = 92.0
"""Degrees that a room's door opens."""


def door(size: Vector, look: Look, choose: Random) -> Mesh:
    """A panelled door in its frame. Its box is the frame's; the leaf swings out of it to +z."""
    wood = choose.choice((WHITEWOOD, WHITEWOOD, WHITEWOOD, OAK, PINE, WALNUT))
    metal = choose.choice((CHROME, BRASS, IRON))
    frame = join(_door_frame(size, wood))
    leaf, hinge = _door_leaf(size, wood, metal)
    swung = leaf.shifted(*(-h for h in hinge)).turned("y", -_AJAR * look.openness).shifted(*hinge)
    return join([frame, swung]).fitted(size, like=join([frame, leaf]))


def _door_frame(size: Vector, sill: Material) -> list[Mesh]:
    """The lining of the opening, its sill, and casings on both sides of the wall."""
    x, y, z = size
    post = min(0.06, 0.1 * x)
    parts = [
        block((-x / 2, -y / 2, -z / 2), (post - x / 2, y / 2, z / 2), WHITEWOOD),
        block((x / 2 - post, -y / 2, -z / 2), (x / 2, y / 2, z / 2), WHITEWOOD),
        block((post - x / 2, y / 2 - post, -z / 2), (x / 2 - post, y / 2, z / 2), WHITEWOOD),
        block((post - x / 2, -y / 2, -z / 2), (x / 2 - post, 0.008 - y / 2, z / 2), sill),
    ]
    for side in (-1, 1):  # casings on both sides of the wall
        flat = [block((-x / 2 - 0.03, -y / 2, 0), (0.04 - x / 2, y / 2 + 0.03, 0.012), WHITEWOOD),
                block((x / 2 - 0.04, -y / 2, 0), (x / 2 + 0.03, y / 2 + 0.03, 0.012), WHITEWOOD),
                block((-x / 2 - 0.03, y / 2 - 0.04, 0), (x / 2 + 0.03, y / 2 + 0.03, 0.012),
                      WHITEWOOD)]  # fmt: skip
        parts.append(join(flat).shifted(z=side * z / 2 + (-0.012 if side < 0 else 0)))
    return parts


def _door_leaf(size: Vector, wood: Material, metal: Material) -> tuple[Mesh, Vector]:
    """The leaf, closed at the front of its frame, and where its hinge is."""
    x, y, z = size
    post = min(0.06, 0.1 * x)
    width, tall, thick = x - 2 * post - 0.006, y - post - 0.01, min(0.04, 0.8 * z)
    parts = []
    for k in (-1, 1):
        half = panel(width, tall / 2, thick / 2, wood, 0.11).shifted(y=k * tall / 4, z=thick / 4)
        parts += [half, half.turned("y", 180)]
    for side in (-1, 1):
        grip = _handle(metal).shifted(0.42 * width, -0.01 * y, thick / 2)
        parts.append(grip.scaled(1, 1, side))
    depth = z / 2 - thick / 2 - 0.045
    leaf = join(parts).shifted(0, -post / 2, depth)
    return leaf, (-width / 2, 0.0, depth + thick / 2)


def _handle(metal: Material) -> Mesh:
    """A lever on its rose, on the plane z = 0, pointing to -x."""
    rose = cylinder(0.025, 0.008, metal, segments=12).along("z").shifted(z=0.004)
    neck = cylinder(0.008, 0.045, metal, segments=8).along("z").shifted(z=0.022)
    lever = box((0.12, 0.018, 0.014), metal, bevel=0.004).shifted(-0.055, 0, 0.045)
    return join([rose, neck, lever])


def wardrobe(size: Vector, look: Look, choose: Random) -> Mesh:
    """A tall cupboard for clothes: two or three doors, a rail and shelves behind them."""
    front, pull = choose.choice(FRONTS), choose.choice((CHROME, BRASS, IRON))
    closed = _wardrobe(size, 0.0, front, pull)
    return _wardrobe(size, look.openness, front, pull).fitted(size, like=closed)


def _wardrobe(size: Vector, openness: float, front: Material, pull: Material) -> Mesh:
    x, y, z = size
    thick, plinth, reach = 0.022, 0.07, 0.025
    depth = z - thick - reach
    tall = y - plinth
    inside = shade(front, 0.9)
    parts = [block((0.02 - x / 2, -y / 2, -z / 2), (x / 2 - 0.02, plinth - y / 2, 0.4 * z), inside)]
    up = plinth / 2
    if openness > 0:
        wall = 0.022
        parts.append(cabinet_box((x, tall, depth), wall, inside).shifted(0, up, (depth - z) / 2))
        split = block((-0.01, -tall / 2, 0), (0.01, tall / 2, 0.94 * depth), inside)
        parts.append(split.shifted(0, up, -z / 2))
        for height in (0.36, 0.67):
            board = box((x / 2, 0.02, 0.9 * depth), inside)
            parts.append(board.shifted(x / 4, height * y - y / 2, (depth - z) / 2))
            parts.append(board.shifted(-x / 4, height * y - y / 2, (depth - z) / 2))
        rail = cylinder(0.014, x - 2 * wall, CHROME, segments=8).along("x")
        parts.append(rail.shifted(0, 0.44 * tall, (depth - z) / 2))
    else:
        parts.append(box((x, tall, depth), inside).shifted(0, up, (depth - z) / 2))
    cornice = box((x, 0.03, z - reach), front, bevel=0.006)
    parts.append(cornice.shifted(0, y / 2 - 0.015, -reach / 2))
    leaves = 3 if x > 1.6 else 2
    width = x / leaves
    for number in range(leaves):
        left = number < (leaves + 1) // 2
        sheet = panel(width - 0.005, tall - 0.04, thick, front, 0.07)
        grip = bar(0.22, reach, pull).shifted(0.5 * width - 0.05, 0, thick / 2)
        leaf = join([sheet, grip])
        leaf = leaf if left else leaf.scaled(-1, 1, 1)
        leaf = leaf.shifted(
            (number - (leaves - 1) / 2) * width, up - 0.02, depth - z / 2 + thick / 2
        )
        parts.append(swing(leaf, "right" if left else "left", 105.0 * openness))
    return join(parts)


@along_longer
def rug(size: Vector, look: Look, choose: Random) -> Mesh:
    """A woven rug: a border, a field with lozenges, fringes at its short ends."""
    ground, border, figure = choose.sample((*FABRICS, *LINENS[1:]), 3)
    x, y, z = size
    fringe = min(0.05, 0.05 * x)
    long = x - 2 * fringe
    weave = shade(border, 0.9)
    field = Material(ground.color, Pattern.FABRIC, scale=0.01, gloss=0.0)
    parts = [box((long, 0.7 * y, z), weave).shifted(y=-0.15 * y)]
    parts.append(box((long - 0.2, 0.85 * y, z - 0.2), field).shifted(y=-0.075 * y))
    count = max(1, round((long - 0.3) / 0.42))
    step = (long - 0.3) / count
    for k in range(count):
        middle = (k - (count - 1) / 2) * step
        for part, (material, height) in ((0.44, (figure, 0.93)), (0.24, (weave, 1.0))):
            reach = part * step, part * 0.8 * (z - 0.3)
            line = [(reach[0], 0.0), (0.0, reach[1]), (-reach[0], 0.0), (0.0, -reach[1])]
            lozenge = prism(line, height * y, material)
            parts.append(lozenge.shifted(middle, (height - 1) * y / 2))
    tassel = box((fringe, 0.4 * y, 0.03), COTTON)
    knots = max(3, round(z / 0.06))
    for k in range(knots):
        across = (k - (knots - 1) / 2) * z / knots
        for side in (-1, 1):
            parts.append(tassel.shifted(side * (x - fringe) / 2, -0.3 * y, across))
    return join(parts).fitted(size)


def ceiling_lamp(size: Vector, look: Look, choose: Random) -> Mesh:
    """A drum or a globe that hangs from the ceiling and shines when on."""
    x, y, z = size
    globe = choose.random() < 0.4
    cloth, metal = choose.choice((COTTON, *LINENS[:2])), choose.choice((BRASS, IRON, CHROME))
    rose = cylinder(0.06, 0.02, metal, segments=14).shifted(y=y / 2 - 0.01)
    drop = 0.35 * y
    cord = cylinder(0.006, drop, metal, segments=6).shifted(y=y / 2 - drop / 2)
    tall = y - drop
    if globe:
        glass = _GLOWING_CLOTH if look.on else shade(GLASS, 1.1)
        bulb = ellipsoid((0.8 * x, tall, 0.8 * z), glass, rings=8, segments=16)
        return join([rose, cord, bulb.shifted(y=(tall - y) / 2)]).fitted(size)
    coat = _GLOWING_CLOTH if look.on else cloth
    profile = [(0.0, 0.0), (1.0, 0.0), (0.92, 1.0), (0.0, 1.0)]
    drum = lathe(profile, coat, segments=20).scaled(x / 2, tall, z / 2)
    return join([rose, cord, drum.shifted(y=-y / 2)]).fitted(size)


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


@facing
def light_switch(size: Vector, look: Look, choose: Random) -> Mesh:
    """A rocker in its plate; it stands up when on."""
    x, y, z = size
    plate = box((x, y, 0.4 * z), WHITE, bevel=0.15 * z).shifted(z=-0.3 * z)
    frame = box((0.46 * x, 0.5 * y, 0.1 * z), plain(0.80, 0.80, 0.79)).shifted(z=-0.06 * z)
    lever = box((0.2 * x, 0.3 * y, 0.6 * z), WHITE, bevel=0.05 * z)
    tilt = lever.turned("x", 25 if look.on else -25).shifted(
        0, (0.06 if look.on else -0.06) * y, 0.2 * z
    )
    return join([plate, frame, tilt]).fitted(size)


KINDS: Mapping[str, Form] = {
    "Door": Form(door, (0.95, 2.05, 0.12), OPEN),
    "Wardrobe": Form(wardrobe, (1.4, 2.0, 0.6), OPEN),
    "Rug": Form(rug, (2.0, 0.02, 1.4)),
    "CeilingLamp": Form(ceiling_lamp, (0.4, 0.25, 0.4), ON),
    "FloorLamp": Form(floor_lamp, (0.46, 1.8, 0.46), ON),
    "DeskLamp": Form(desk_lamp, (0.28, 0.46, 0.28), ON),
    "Candle": Form(candle, (0.06, 0.13, 0.06), ON),
    "LightSwitch": Form(light_switch, (0.11, 0.15, 0.04), ON),
}
