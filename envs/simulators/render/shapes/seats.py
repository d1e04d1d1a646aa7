"""What one sits and lies on. Seats are where THOR's are: about 0.47 of a sofa's height."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from inhabit.envs.simulators.render.lathe import cylinder, ellipsoid, torus
from inhabit.envs.simulators.render.material import Material
from inhabit.envs.simulators.render.mesh import Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import (
    CHROME,
    COTTON,
    FABRICS,
    FURNITURE,
    IRON,
    LINENS,
    WOODS,
    shade,
)
from inhabit.envs.simulators.render.shapes.look import DIRTY, Form, Look
from inhabit.envs.simulators.render.shapes.parts import block, legs
from inhabit.envs.simulators.render.shapes.soft import bumpy
from inhabit.envs.simulators.render.solids import box
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
    """The same for one person."""
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
        return _bed((size[2], size[1], size[0]), frame, blanket, look.dirty).turned("y", 90)
    return _bed(size, frame, blanket, look.dirty)


def _bed(size: Vector, frame: Material, blanket: Material, unmade: bool) -> Mesh:
    x, y, z = size
    low = min(y, 1.1)  # what is higher is a canopy's posts
    lying = 0.6 * low  # THOR's pillows lie at .58 to .61 of a bed's height
    floor, board, mattress = -y / 2, 0.05, 0.27 * low
    parts = [
        block((-x / 2, floor, z / 2 - board), (x / 2, floor + low, z / 2), frame, bevel=0.012),
        block(
            (-x / 2, floor, -z / 2), (x / 2, floor + 0.5 * low, board - z / 2), frame, bevel=0.012
        ),
        block(
            (-0.49 * x, floor + 0.18 * low, -z / 2), (0.49 * x, floor + 0.34 * low, z / 2), frame
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
    if unmade:
        made = bumpy(made, 0.18, 3.0, Random(5)).turned("y", 7).scaled(0.85, 1.02, 0.9)
    return join([*parts, made.shifted(y=floor)])


def dog_bed(size: Vector, look: Look, choose: Random) -> Mesh:
    """A soft ring with a cushion in it."""
    cloth = choose.choice(FABRICS)
    _, y, _ = size
    cushion = ellipsoid((0.8, 0.5 * y, 0.8), shade(cloth, 1.25), rings=5, segments=16)
    ring = torus(0.4, 0.2, cloth, segments=20, sides=8)
    return join([ring.scaled(1, y / 0.2, 1), cushion.shifted(y=-0.2 * y)]).fitted(size)


KINDS: Mapping[str, Form] = {
    "Chair": Form(chair, (0.48, 0.98, 0.52)),
    "Stool": Form(stool, (0.38, 0.76, 0.38)),
    "Sofa": Form(sofa, (2.1, 0.92, 0.95)),
    "ArmChair": Form(arm_chair, (0.9, 0.92, 0.9)),
    "Ottoman": Form(ottoman, (0.85, 0.43, 0.52)),
    "Footstool": Form(footstool, (0.32, 0.3, 0.28)),
    "Bed": Form(bed, (1.6, 0.92, 2.08), DIRTY),
    "DogBed": Form(dog_bed, (0.95, 0.18, 0.8)),
}
