"""Seats, beds and storage."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from inhabit.envs.simulators.render.lathe import box, cylinder, ellipsoid, lathe, terrace, torus
from inhabit.envs.simulators.render.mesh import Material, Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import (
    BLACK,
    BRASS,
    CARDBOARD,
    CHARCOAL,
    CHROME,
    COTTON,
    DIRTY,
    FABRICS,
    FRONTS,
    FURNITURE,
    GREY,
    IRON,
    LINENS,
    OPEN,
    PAPER,
    PLASTICS,
    STEEL,
    WHITE,
    WOODS,
    Form,
    Look,
    plain,
    shade,
)
from inhabit.envs.simulators.render.shapes.parts import (
    bar,
    block,
    bumpy,
    cabinet_box,
    hollow_box,
    knob,
    legs,
    panel,
    swing,
)
from inhabit.envs.simulators.render.sweep import tube


def chair(size: Vector, look: Look, choose: Random) -> Mesh:
    """A wooden chair with a slatted or an upholstered back."""
    x, y, z = size
    wood, slatted = choose.choice(FURNITURE), choose.random() < 0.5
    cloth = choose.choice(FABRICS)
    seat = 0.48 * y if y > 0.6 else 0.62 * y
    thick, post = 0.045 * y, 0.075 * min(x, z)
    floor = -y / 2
    parts = [
        leg.shifted(y=floor + (seat - thick) / 2)
        for leg in legs((0.94 * x, seat - thick, 0.94 * z), post, wood)
    ]
    parts.append(
        box((x, thick, z), wood if slatted else cloth, bevel=0.3 * thick).shifted(
            y=floor + seat - thick / 2
        )
    )
    rise = y - seat
    back = -z / 2
    for side in (-1, 1):
        upright = block((-post / 2, floor + seat, back), (post / 2, y / 2, back + post), wood)
        parts.append(upright.shifted(side * (0.94 * x - post) / 2))
    if slatted:
        for k in range(3):
            slat = box((0.84 * x, 0.16 * rise, 0.4 * post), wood, bevel=0.1 * post)
            parts.append(slat.shifted(0, y / 2 - (0.12 + 0.3 * k) * rise, back + post / 2))
    else:
        rest = box((0.84 * x, 0.72 * rise, 0.9 * post), cloth, bevel=0.3 * post)
        parts.append(rest.shifted(0, y / 2 - 0.4 * rise, back + post / 2))
    return join(parts).fitted(size)


def stool(size: Vector, look: Look, choose: Random) -> Mesh:
    """A bar stool: a round seat, four spread legs, a ring for the feet."""
    _, y, _ = size
    wood, cushion = choose.choice(FURNITURE), choose.choice((*FABRICS, *WOODS))
    metal = choose.choice((CHROME, IRON))
    seat = cylinder(0.4, 0.07, cushion, bevel=0.02, segments=18)
    parts = [seat.shifted(y=y - 0.035)]
    corners = [(sx, sz) for sx in (-1, 1) for sz in (-1, 1)]
    for sx, sz in corners:
        path = [(0.48 * sx, 0.0, 0.48 * sz), (0.22 * sx, y - 0.06, 0.22 * sz)]
        parts.append(tube(path, 0.03, wood, sides=6))
    rung = [(0.4 * sx, 0.28 * y, 0.4 * sz) for sx, sz in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    parts += [tube([rung[k], rung[(k + 1) % 4]], 0.016, metal, sides=5) for k in range(4)]
    return join(parts).fitted(size)


def sofa(size: Vector, look: Look, choose: Random) -> Mesh:
    """An upholstered sofa: a base, cushions side by side, a back and two arms."""
    cloth = choose.choice(FABRICS)
    return _upholstered(size, cloth, choose, seats=max(1, min(4, round(size[0] / 0.75))))


def arm_chair(size: Vector, look: Look, choose: Random) -> Mesh:
    """An armchair: a sofa with one seat."""
    return _upholstered(size, choose.choice(FABRICS), choose, seats=1)


def _upholstered(size: Vector, cloth: Material, choose: Random, *, seats: int) -> Mesh:
    x, y, z = size
    foot, wood = 0.08 * y, choose.choice(WOODS)
    seat, arm_top = 0.48 * y, 0.68 * y
    arm = min(0.2, 0.16 * x)
    deep = 0.24 * z
    floor = -y / 2
    plump = shade(cloth, 1.08)
    parts = [
        part.shifted(y=floor + foot / 2) for part in legs((0.94 * x, foot, 0.92 * z), 0.06, wood)
    ]
    base = block(
        (-x / 2 + arm / 2, floor + foot, -z / 2),
        (x / 2 - arm / 2, floor + 0.3 * y, 0.48 * z),
        cloth,
    )
    back = block(
        (-x / 2 + arm / 2, floor + foot, -z / 2),
        (x / 2 - arm / 2, y / 2, -z / 2 + 0.8 * deep),
        cloth,
        bevel=0.06,
    )
    parts += [base, back]
    for side in (-1, 1):
        rest = block(
            (-arm / 2, floor + foot, -z / 2),
            (arm / 2, floor + arm_top, z / 2),
            cloth,
            bevel=0.3 * arm,
        )
        parts.append(rest.shifted(side * (x - arm) / 2))
    width = (x - 2 * arm) / seats
    for k in range(seats):
        across = (k - (seats - 1) / 2) * width
        pad_y, pad_z = seat - 0.28 * y, z - 0.75 * deep
        pad = box((width - 0.008, pad_y, pad_z), plump, bevel=0.22 * pad_y)
        parts.append(pad.shifted(across, floor + seat - pad_y / 2, (z - pad_z) / 2 - 0.01 * z))
        lean = box((width - 0.012, 0.98 * y - seat, 0.7 * deep), plump, bevel=0.25 * deep)
        lean = lean.turned("x", -8).shifted(
            across, floor + seat + (0.96 * y - seat) / 2, -z / 2 + deep
        )
        parts.append(lean)
    return join(parts).fitted(size)


def ottoman(size: Vector, look: Look, choose: Random) -> Mesh:
    """A padded block on short feet."""
    x, y, z = size
    cloth, wood = choose.choice(FABRICS), choose.choice(WOODS)
    foot = 0.15 * y
    parts = [
        leg.shifted(y=(foot - y) / 2)
        for leg in legs((0.9 * x, foot, 0.9 * z), 0.05, wood, round_=True)
    ]
    parts.append(box((0.98 * x, 0.5 * y, 0.98 * z), cloth, bevel=0.04 * y).shifted(y=-0.1 * y))
    pad = box((x, 0.4 * y, z), shade(cloth, 1.08), bevel=0.12 * y).shifted(y=0.3 * y)
    return join([*parts, pad]).fitted(size)


def footstool(size: Vector, look: Look, choose: Random) -> Mesh:
    """A low stool of wood."""
    x, y, z = size
    wood = choose.choice(WOODS)
    parts = [
        leg.shifted(y=-0.04 * y)
        for leg in legs((0.9 * x, 0.92 * y, 0.9 * z), 0.12 * min(x, z), wood)
    ]
    return join([*parts, box((x, 0.12 * y, z), wood, bevel=0.03 * y).shifted(y=0.44 * y)])


def bed(size: Vector, look: Look, choose: Random) -> Mesh:
    """A bed with its head at +z, as THOR's: frame, mattress, a blanket with its sheet turned back.

    Its pillows are objects of their own. A dirty bed is unmade.
    """
    frame, blanket = choose.choice(FURNITURE), choose.choice(LINENS)
    if size[0] > 1.4 * size[2]:
        return _bed((size[2], size[1], size[0]), frame, blanket, look).turned("y", 90)
    return _bed(size, frame, blanket, look)


def _bed(size: Vector, frame: Material, blanket: Material, look: Look) -> Mesh:
    x, y, z = size
    thick = min(y, 1.1)
    # THOR's pillows lie at .58 to .61 of the height of half of the beds, at up to .94 of others.
    lying = look.levels[0] if look.levels else 0.6 * thick
    low = min(y, max(1.1, lying + 0.08))  # what is higher is a canopy's posts
    floor, board, mattress = -y / 2, 0.05, 0.27 * thick
    below = lying - 0.26 * thick
    parts = [
        block((-x / 2, floor, z / 2 - board), (x / 2, floor + low, z / 2), frame, bevel=0.012),
        block(
            (-x / 2, floor, -z / 2),
            (x / 2, floor + max(0.5 * thick, below), board - z / 2),
            frame,
            bevel=0.012,
        ),
        block(
            (-0.49 * x, floor + below - 0.16 * thick, -z / 2),
            (0.49 * x, floor + below, z / 2),
            frame,
        ),
    ]
    if y > low:
        parts += legs((x, y, z), 0.05, frame)
    inner = z - 2 * board
    pad = box((0.95 * x, mattress, inner), COTTON, bevel=0.06)
    parts.append(pad.shifted(y=floor + lying - mattress / 2))
    cover = 0.66 * inner
    quilt = box((0.985 * x, 0.75 * mattress, cover), blanket, bevel=0.05)
    quilt = quilt.shifted(0, lying - 0.34 * mattress, (cover - inner) / 2)
    fold = box((0.99 * x, 0.035, 0.13 * inner), COTTON, bevel=0.015)
    fold = fold.shifted(0, lying + 0.035, cover - 0.58 * inner)
    made = join([quilt, fold])
    if look.dirty:
        made = bumpy(made, 0.18, 3.0, Random(5)).turned("y", 7).scaled(0.85, 1.02, 0.9)
    return join([*parts, made.shifted(y=floor)])


def dog_bed(size: Vector, look: Look, choose: Random) -> Mesh:
    """A soft ring with a cushion in it."""
    cloth = choose.choice(FABRICS)
    _, y, _ = size
    cushion = ellipsoid((0.8, 0.5 * y, 0.8), shade(cloth, 1.25), rings=5, segments=16)
    ring = torus(0.4, 0.2, cloth, segments=20, sides=8)
    return join([ring.scaled(1, y / 0.2, 1), cushion.shifted(y=-0.2 * y)]).fitted(size)


_WIDEST = 105.0
"""Degrees that a door opens."""
_SLIDE = 0.8
"""Share of its depth that a drawer comes out (measured on THOR's)."""


def cabinet(size: Vector, look: Look, choose: Random) -> Mesh:
    """A cupboard with a framed door, or two if it is wide and no hinge is known.

    Open, it shows its shelf; AI2-THOR's have none.
    """
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
        if y > 0.5 and not look.measured:
            shelf = box((x - 2 * wall, wall, 0.9 * depth), inside)
            body.append(shelf.shifted(0, 0.02 * y, back + 0.45 * depth))
    else:
        body = [block((-x / 2, -y / 2, back), (x / 2, y / 2, back + depth), inside)]
    leaves = 2 if look.hinge is None and (x > max(0.62, 0.9 * y) or x > 0.9) else 1
    width = x / leaves
    for number in range(leaves):
        hinge = look.hinge or "right"
        if leaves == 2:
            hinge = "left" if number else "right"
        leaf = _door(max(width - 0.004, 0.5 * width), y, thick, pull_depth, front, pull)
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
    "Chair": Form(chair, (0.48, 0.98, 0.52)),
    "Stool": Form(stool, (0.38, 0.76, 0.38)),
    "Sofa": Form(sofa, (2.1, 0.92, 0.95)),
    "ArmChair": Form(arm_chair, (0.9, 0.92, 0.9)),
    "Ottoman": Form(ottoman, (0.85, 0.43, 0.52)),
    "Footstool": Form(footstool, (0.32, 0.3, 0.28)),
    "Bed": Form(bed, (1.6, 0.92, 2.08), DIRTY),
    "DogBed": Form(dog_bed, (0.95, 0.18, 0.8)),
    "Cabinet": Form(
        cabinet, (0.42, 0.7, 0.42), (*OPEN, ("open left", Look(openness=1.0, hinge="left")))
    ),
    "Drawer": Form(drawer, (0.48, 0.19, 0.45), OPEN),
    "Safe": Form(safe, (0.5, 0.5, 0.5), OPEN),
    "Box": Form(carton, (0.5, 0.32, 0.44), OPEN),
    "GarbageCan": Form(garbage_can, (0.39, 0.54, 0.39)),
    "LaundryHamper": Form(hamper, (0.49, 0.74, 0.5), OPEN[1:]),
}
