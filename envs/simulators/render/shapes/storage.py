"""What has doors or drawers, and what one throws things into."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from inhabit.envs.simulators.render.lathe import lathe
from inhabit.envs.simulators.render.material import Material
from inhabit.envs.simulators.render.mesh import Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import (
    BLACK,
    BRASS,
    CARDBOARD,
    CHARCOAL,
    CHROME,
    FRONTS,
    GREY,
    IRON,
    LINENS,
    PAPER,
    PLASTICS,
    STEEL,
    WHITE,
    plain,
    shade,
)
from inhabit.envs.simulators.render.shapes.look import OPEN, Form, Look
from inhabit.envs.simulators.render.shapes.parts import (
    bar,
    block,
    cabinet_box,
    hollow_box,
    knob,
    panel,
    swing,
)
from inhabit.envs.simulators.render.solids import box, terrace

_WIDEST = 105.0
"""Degrees that a door opens."""
_SLIDE = 0.8
"""Of its depth that a drawer comes out (measured on THOR's)."""


def cabinet(size: Vector, look: Look, choose: Random) -> Mesh:
    """A cupboard with a framed door, two if it is wide; open, one sees its shelf."""
    x, y, z = size
    front, pull = choose.choice(FRONTS), choose.choice((CHROME, BRASS, IRON))
    pull_depth = min(0.025, 0.15 * z)
    thick = min(0.02, 0.2 * z)
    depth = z - thick - pull_depth
    back = -z / 2
    inside = shade(front, 0.92)
    body: list[Mesh] = []
    if look.openness > 0:
        wall = min(0.018, 0.1 * min(x, y))
        body = [cabinet_box((x, y, depth), wall, inside).shifted(z=back + depth / 2)]
        if y > 0.5:
            shelf = box((x - 2 * wall, wall, 0.9 * depth), inside)
            body.append(shelf.shifted(0, 0.02 * y, back + 0.45 * depth))
    else:
        body = [block((-x / 2, -y / 2, back), (x / 2, y / 2, back + depth), inside)]
    leaves = 2 if x > max(0.62, 0.9 * y) or x > 0.9 else 1
    width = x / leaves
    for number in range(leaves):
        hinge = look.hinge or "right"
        if leaves == 2:
            hinge = "left" if number else "right"
        leaf = _door(width - 0.004, y, thick, pull_depth, front, pull)
        leaf = leaf if hinge == "right" else leaf.scaled(-1, 1, 1)
        middle = (number - (leaves - 1) / 2) * width
        leaf = leaf.shifted(middle, 0, back + depth + thick / 2)
        body.append(swing(leaf, hinge, _WIDEST * look.openness))
    return join(body)


def _door(
    width: float, height: float, thick: float, depth: float, front: Material, pull: Material
) -> Mesh:
    """A door that hangs on the right as one stands before it (at -x), its pull at the left."""
    leaf = panel(width, height, thick, front, 0.16 * min(width, height, 0.4))
    grip = bar(min(0.12, 0.4 * height), depth, pull)
    if width < 0.15 or height < 0.15:
        grip = knob(0.1 * min(width, height), depth, pull)
    side = 0.5 * width - min(0.035, 0.15 * width)
    return join([leaf, grip.shifted(side, 0, thick / 2)])


def drawer(size: Vector, look: Look, choose: Random) -> Mesh:
    """A drawer with its front at +z; it slides out 0.8 of its depth."""
    x, y, z = size
    front, pull = choose.choice(FRONTS), choose.choice((CHROME, BRASS, IRON))
    pull_depth, thick = min(0.025, 0.15 * z), min(0.02, 0.2 * z)
    depth = z - pull_depth - thick
    inner = (0.94 * x, 0.8 * y, depth)
    tray = hollow_box(inner, min(0.012, 0.12 * y), shade(front, 0.92))
    leaf = panel(x, y, thick, front, 0.16 * min(y, 0.25) if y > 0.12 else 0)
    grip = bar(min(0.14, 0.4 * x), pull_depth, pull).turned("z", 90)
    if x < 0.25:
        grip = knob(min(0.016, 0.2 * y), pull_depth, pull)
    parts = [
        tray.shifted(y=-0.05 * y, z=(depth - z) / 2),
        leaf.shifted(z=depth + thick / 2 - z / 2),
        grip.shifted(z=z / 2 - pull_depth),
    ]
    return join(parts).shifted(z=_SLIDE * z * look.openness)


def safe(size: Vector, look: Look, choose: Random) -> Mesh:
    """A steel box with thick walls, a dial and a lever."""
    x, y, z = size
    steel = choose.choice((CHARCOAL, plain(0.27, 0.33, 0.31), plain(0.36, 0.37, 0.40)))
    lever, thick = 0.06 * z, 0.12 * z
    depth = z - lever - thick
    wall = 0.1 * min(x, y)
    body = cabinet_box((x, y, depth), wall, steel).shifted(z=(depth - z) / 2)
    shelf = box((x - 2 * wall, 0.02 * y, 0.8 * depth), GREY).shifted(z=(depth - z) / 2 - 0.05 * z)
    leaf = panel(0.94 * x, 0.94 * y, thick, shade(steel, 1.15), 0.07 * min(x, y))
    face = thick / 2
    dial = knob(0.11 * min(x, y), lever, CHROME).shifted(0.05 * x, 0.1 * y, face)
    keys = box((0.22 * x, 0.09 * y, 0.3 * lever), BLACK).shifted(0.05 * x, 0.3 * y, face)
    grip = box((0.3 * x, 0.05 * y, 0.4 * lever), CHROME, bevel=0.01 * x)
    door = join([leaf, dial, keys, grip.shifted(0.12 * x, -0.2 * y, face + 0.3 * lever)])
    hinge = look.hinge or "right"
    door = door if hinge == "right" else door.scaled(-1, 1, 1)
    door = swing(door.shifted(z=z / 2 - lever - thick / 2), hinge, _WIDEST * look.openness)
    return join([body, shelf, door])


def carton(size: Vector, look: Look, choose: Random) -> Mesh:
    """A cardboard box. As in THOR's rooms, its size is that of the box with its flaps spread."""
    paper = shade(CARDBOARD, choose.uniform(0.9, 1.1))
    return _carton(size, paper, look.openness).fitted(size, like=_carton(size, paper, 1.0))


def _carton(size: Vector, paper: Material, openness: float) -> Mesh:
    x, y, z = 0.72 * size[0], 0.85 * size[1], 0.72 * size[2]
    wall = 0.006
    parts = [hollow_box((x, y, z), wall, paper)]
    for across, along, turn in ((z, x, 0), (x, z, 90)):
        flap = block((-along / 2, 0, 0), (along / 2, wall, 0.49 * across), shade(paper, 1.05))
        flap = flap.turned("x", -180 + 148 * openness)  # from lying inward to standing outward
        flap = flap.shifted(0, y / 2 + (0.5 if turn else 1.5) * wall, across / 2)
        parts += [flap.turned("y", turn), flap.turned("y", turn + 180)]
    if openness == 0:
        tape = box((0.12 * x, 0.002, z), shade(paper, 0.8))
        parts.append(tape.shifted(y=y / 2 + 1.5 * wall + 0.001))
    return join(parts)


def garbage_can(size: Vector, look: Look, choose: Random) -> Mesh:
    """An open bin, round or square, with a bag turned over its rim."""
    square = choose.random() < 0.4
    body, bag = choose.choice((STEEL, CHARCOAL, WHITE, PLASTICS[0])), choose.choice((PAPER, BLACK))
    if square:
        x, y, z = size
        rings = [
            *((0.9 * x, 0.9 * z, -0.5 * y), (0.94 * x, 0.94 * z, 0.38 * y)),
            *((0.97 * x, 0.97 * z, 0.38 * y), (x, z, 0.5 * y)),
            *((0.91 * x, 0.91 * z, 0.5 * y), (0.84 * x, 0.84 * z, -0.45 * y)),
        ]
        return terrace(rings, (body, bag, bag, bag, bag))
    profile = [(0.0, 0.0), (0.8, 0.0), (0.97, 0.9), (1.0, 0.9), (1.0, 1.0), (0.94, 1.0)]
    profile += [(0.75, 0.05), (0.0, 0.05)]
    surfaces = [body, body, bag, bag, bag, bag, bag]
    return lathe(profile, surfaces, segments=18).fitted(size)


def hamper(size: Vector, look: Look, choose: Random) -> Mesh:
    """A laundry basket of woven fabric with a lid that lifts."""
    x, y, z = size
    cloth = choose.choice(LINENS)
    lid_height = 0.06 * y
    body = hollow_box((x, y - lid_height, z), 0.03 * x, cloth).shifted(y=-lid_height / 2)
    lid = box((x, lid_height, z), shade(cloth, 0.85), bevel=0.3 * lid_height)
    lid = lid.shifted(0, lid_height / 2, z / 2).turned("x", -80 * look.openness)
    return join([body, lid.shifted(0, y / 2 - lid_height, -z / 2)])


KINDS: Mapping[str, Form] = {
    "Cabinet": Form(
        cabinet, (0.42, 0.7, 0.42), (*OPEN, ("open left", Look(openness=1.0, hinge="left")))
    ),
    "Drawer": Form(drawer, (0.48, 0.19, 0.45), OPEN),
    "Safe": Form(safe, (0.5, 0.5, 0.5), OPEN),
    "Box": Form(carton, (0.5, 0.32, 0.44), OPEN),
    "GarbageCan": Form(garbage_can, (0.39, 0.54, 0.39)),
    "LaundryHamper": Form(hamper, (0.49, 0.74, 0.5), OPEN[1:]),
}
