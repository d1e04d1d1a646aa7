"""Belongings: books, clothes, bags; and what people play with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random

from inhabit.envs.simulators.render.lathe import box, cylinder, ellipsoid, lathe, torus
from inhabit.envs.simulators.render.mesh import Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import (
    BLACK,
    BRASS,
    CARDBOARD,
    CHARCOAL,
    CHROME,
    COTTON,
    DIRTY,
    FABRICS,
    GREY,
    LINENS,
    OAK,
    ON,
    OPEN,
    PAPER,
    PINE,
    PLASTICS,
    RUBBER,
    STEEL,
    WALNUT,
    WHITE,
    Form,
    Look,
    glowing,
    plain,
    shade,
)
from inhabit.envs.simulators.render.shapes.parts import block, bumpy, lying
from inhabit.envs.simulators.render.shapes.walls import painting
from inhabit.envs.simulators.render.sweep import tube

_INK = plain(0.28, 0.30, 0.38, gloss=0.0)
_BRISTLE = plain(0.93, 0.95, 0.97, gloss=0.0)
_DIAL = glowing(1.0, 0.82, 0.45, 0.8)
_MUD = plain(0.40, 0.31, 0.21, gloss=0.0)


def keyboard(size: Vector, look: Look, choose: Random) -> Mesh:
    """Rows of keys on a slab, the space bar at +z."""
    case, key = choose.choice(((CHARCOAL, GREY), (WHITE, shade(WHITE, 0.8)), (BLACK, CHARCOAL)))

    x, y, z = size
    parts = [box((x, 0.6 * y, z), case, bevel=0.1 * y).shifted(y=-0.2 * y)]
    columns, rows = 14, 4
    step_x, step_z = 0.96 * x / columns, 0.92 * z / (rows + 1)
    cap = box((0.82 * step_x, 0.4 * y, 0.8 * step_z), key)
    for row in range(rows):
        for column in range(columns):
            at = (column - (columns - 1) / 2) * step_x, 0.3 * y, (row - rows / 2) * step_z
            parts.append(cap.shifted(*at))
    space = box((0.42 * x, 0.4 * y, 0.8 * step_z), key)
    parts.append(space.shifted(0, 0.3 * y, rows / 2 * step_z))
    return join(parts)


def mouse(size: Vector, look: Look, choose: Random) -> Mesh:
    """A computer mouse with two buttons and a wheel at -z, its cable let out there."""
    coat = choose.choice((BLACK, CHARCOAL, WHITE, GREY))
    x, y, z = size
    shell = ellipsoid((x, 2 * y, z), coat, square=(0.2, 0.25), rings=8, segments=14)
    upper = shell.vertices.copy()
    upper[:, 1] = upper[:, 1].clip(-0.05 * y, None)
    body = replace(shell, vertices=upper).fitted(size)
    wheel = (
        cylinder(0.12 * z, 0.1 * x, GREY, segments=10).along("x").shifted(0, 0.36 * y, -0.25 * z)
    )
    seam = box((0.02 * x, 0.06 * y, 0.34 * z), shade(coat, 0.5)).shifted(0, 0.44 * y, -0.26 * z)
    return join([body, wheel, seam]).fitted(size)


@lying(0.7)
def notes(size: Vector, look: Look, choose: Random) -> Mesh:
    """Loose sheets with handwriting, not quite squared up."""
    lean = [choose.uniform(-7, 7) for _ in range(3)]
    x, y, z = size
    thin = y / 3
    parts = []
    for k, turn in enumerate(lean):
        sheet = box((0.94 * x, 0.8 * thin, 0.92 * z), shade(PAPER, 1 - 0.04 * (2 - k)))
        parts.append(sheet.turned("y", turn).shifted(y=(k - 1) * thin))
    for row in range(8):
        long = (0.7, 0.62, 0.74, 0.5, 0.7, 0.66, 0.72, 0.34)[row] * z
        line = box((0.02 * x, 0.002, long), _INK).shifted((row - 3.5) * 0.1 * x, 0, 0)
        line = line.shifted(z=(long - 0.74 * z) / 2)
        parts.append(line.turned("y", lean[2]).shifted(y=thin + 0.4 * thin))
    return join(parts).fitted(size)


@lying(0.76)
def folder(size: Vector, look: Look, choose: Random) -> Mesh:
    """A folder with sheets in it and a label; it opens like a book."""
    cover = choose.choice(PLASTICS)
    x, y, z = size
    board = min(0.003, 0.15 * y)
    lower = block((-x / 2, -y / 2, -z / 2), (x / 2, board - y / 2, z / 2), cover)
    sheets = block(
        (-0.47 * x, board - y / 2, -0.47 * z), (0.47 * x, y / 2 - board, 0.46 * z), PAPER
    )
    spine = block((-x / 2, -y / 2, -z / 2), (x / 2, y / 2, board - z / 2), cover)
    lid = block((-x / 2, y / 2 - board, -z / 2), (x / 2, y / 2, z / 2), cover)
    label = box((0.2 * x, 0.001, 0.5 * z), PAPER).shifted(-0.25 * x, y / 2)
    top = join([lid, label])
    closed = join([lower, sheets, spine, lid])
    hinge = top.shifted(0, -y / 2, z / 2).turned("x", -180 * look.openness)
    return join([lower, sheets, spine, hinge.shifted(0, y / 2, -z / 2)]).fitted(size, like=closed)


def radio(size: Vector, look: Look, choose: Random) -> Mesh:
    """A table radio: cloth before the speaker, a dial that is lit when on, two knobs, a handle."""
    x, y, z = size
    coat = choose.choice((WALNUT, OAK, *PLASTICS[:3], COTTON))
    grip = 0.14 * y
    tall = y - grip
    hull = box((x, tall, 0.92 * z), coat, bevel=0.06 * tall).shifted(0, -grip / 2, -0.04 * z)
    front = 0.42 * z
    cloth = box((0.5 * x, 0.7 * tall, 0.02 * z), shade(COTTON, 0.75))
    scale = box((0.32 * x, 0.26 * tall, 0.02 * z), _DIAL if look.on else shade(COTTON, 0.9))
    knob = cylinder(0.11 * tall, 0.08 * z, BRASS, segments=12).along("z")
    low = -grip / 2
    bow = tube(
        [(-0.3 * x, 0.32 * y, 0), (-0.28 * x, 0.47 * y, 0), (0.28 * x, 0.47 * y, 0),
         (0.3 * x, 0.32 * y, 0)], 0.03 * y, CHROME, sides=6,
    )  # fmt: skip
    parts = [
        hull,
        cloth.shifted(-0.2 * x, low, front),
        scale.shifted(0.26 * x, low + 0.2 * tall, front),
    ]
    parts += [knob.shifted(k * x, low - 0.2 * tall, front + 0.03 * z) for k in (0.18, 0.34)]
    return join([*parts, bow]).fitted(size)


def photo_frame(size: Vector, look: Look, choose: Random) -> Mesh:
    """A small picture that leans back on a strut."""
    x, y, z = size
    picture = painting((x, y, 0.3 * z), look, choose).turned("x", -8)
    strut = box((0.12 * x, 0.8 * y, 0.1 * z), BLACK).turned("x", 14).shifted(0, -0.1 * y, -0.3 * z)
    return join([picture, strut]).fitted(size)


def board_game(size: Vector, look: Look, choose: Random) -> Mesh:
    """A flat box of cards and counters, with a chequered board on its lid."""
    x, y, z = size
    ground, accent = choose.sample(PLASTICS, 2)
    lid = box((x, 0.7 * y, z), ground, bevel=0.004).shifted(y=0.15 * y)
    tray = box((0.97 * x, 0.3 * y, 0.97 * z), PAPER).shifted(y=-0.35 * y)
    parts = [lid, tray]
    side = 0.7 * min(x, z) / 4
    for i in range(4):
        for k in range(4):
            field = box((side, 0.001, side), accent if (i + k) % 2 else PAPER)
            parts.append(field.shifted((i - 1.5) * side, y / 2 + 0.0005, (k - 1.5) * side))
    name = box((0.6 * x, 0.4 * y, 0.001), PAPER).shifted(0, 0.12 * y, z / 2)
    return join([*parts, name, name.turned("y", 180)]).fitted(size)


@lying(0.1)
def toothbrush(size: Vector, look: Look, choose: Random) -> Mesh:
    """A toothbrush, its head at one end."""
    handle = choose.choice(PLASTICS)
    x, y, z = size
    grip = box((0.62 * x, 0.45 * y, z), handle, bevel=0.2 * y).shifted(-0.19 * x, -0.25 * y)
    neck = box((0.4 * x, 0.3 * y, 0.5 * z), WHITE, bevel=0.1 * y).shifted(0.25 * x, -0.3 * y)
    head = box((0.17 * x, 0.7 * y, 0.8 * z), _BRISTLE).shifted(0.4 * x, 0.15 * y)
    return join([grip, neck, head]).fitted(size)


@lying(0.24)
def toothpaste(size: Vector, look: Look, choose: Random) -> Mesh:
    """A tube, flat at its end, with its cap on."""
    band = choose.choice(PLASTICS[:3])
    x, y, z = size
    belly = ellipsoid((0.9 * x, y, z), WHITE, square=(0.3, 0.6), rings=8, segments=12)
    crimp = box((0.08 * x, 0.2 * y, z), WHITE).shifted(x=-0.45 * x)
    stripe = ellipsoid((0.5 * x, 1.04 * y, 0.7 * z), band, square=(0.3, 0.5), rings=6)
    cap = cylinder(0.36 * y, 0.14 * x, band, segments=12).along("x").shifted(x=0.44 * x)
    return join([belly, crimp, stripe, cap]).fitted(size)


def folded_shirt(size: Vector, look: Look, choose: Random) -> Mesh:
    """A shirt folded square, its collar at -z and buttons down the middle."""
    cloth = choose.choice((*LINENS, *FABRICS[:2]))
    x, y, z = size
    body = box((x, 0.6 * y, z), cloth, bevel=0.28 * y).shifted(y=-0.2 * y)
    upper = box((0.88 * x, 0.4 * y, 0.94 * z), shade(cloth, 1.04), bevel=0.15 * y)
    parts = [body, upper.shifted(y=0.2 * y, z=0.02 * z)]
    for side in (-1, 1):
        wing = box((0.26 * x, 0.16 * y, 0.12 * z), shade(cloth, 1.12), bevel=0.05 * y)
        parts.append(wing.turned("y", side * 28).shifted(side * 0.14 * x, 0.44 * y, -0.36 * z))
    button = cylinder(0.012 * x, 0.03 * y, PAPER, segments=8)
    parts += [button.shifted(0, 0.42 * y, (k - 1.2) * 0.17 * z) for k in range(4)]
    return join([*parts, *_stains(size, look, choose)]).fitted(size)


def folded_pants(size: Vector, look: Look, choose: Random) -> Mesh:
    """Trousers folded over twice, the belt loops at -z."""
    cloth = choose.choice((FABRICS[1], FABRICS[5], FABRICS[2], FABRICS[1]))
    x, y, z = size
    parts = []
    for k in range(3):
        layer = box((x * (1 - 0.02 * k), 0.34 * y, z * (1 - 0.03 * k)), shade(cloth, 1 + 0.05 * k),
                    bevel=0.14 * y)  # fmt: skip
        parts.append(layer.shifted(y=(k - 1) * 0.32 * y))
    waist = box((0.9 * x, 0.06 * y, 0.12 * z), shade(cloth, 0.75)).shifted(0, 0.48 * y, -0.38 * z)
    loop = box((0.03 * x, 0.1 * y, 0.13 * z), cloth)
    parts += [waist, *(loop.shifted(k * 0.28 * x, 0.5 * y, -0.38 * z) for k in (-1, 0, 1))]
    return join([*parts, *_stains(size, look, choose)]).fitted(size)


def _stains(size: Vector, look: Look, choose: Random) -> list[Mesh]:
    """Spots on the upper side of what is dirty."""
    x, y, z = size
    spots = [(choose.uniform(-0.35, 0.35) * x, choose.uniform(-0.3, 0.35) * z,
              choose.uniform(0.05, 0.11)) for _ in range(4)]  # fmt: skip
    if not look.dirty:
        return []
    return [
        cylinder(r * min(x, z), 0.06 * y, _MUD, segments=9).shifted(a, 0.42 * y, b)
        for a, b, r in spots
    ]


def basket_ball(size: Vector, look: Look, choose: Random) -> Mesh:
    """An orange ball with its black seams."""
    leather = plain(0.80, 0.42, 0.18)
    seam = [torus(0.488, 0.024, BLACK, segments=20, sides=3)]
    seam += [seam[0].along("x"), seam[0].along("z")]
    return join([ellipsoid((0.985, 0.985, 0.985), leather, rings=8, segments=16), *seam]).fitted(
        size
    )


@lying(0.09)
def baseball_bat(size: Vector, look: Look, choose: Random) -> Mesh:
    """A bat with a dark grip, standing or lying as its box does."""
    wood, grip = choose.choice((PINE, OAK, WALNUT)), choose.choice((BLACK, PLASTICS[1]))
    profile = [
        (0.0, 0.0),
        (0.5, 0.0),
        (0.5, 0.02),
        (0.34, 0.035),
        (0.36, 0.3),
        (0.55, 0.5),
        (1.0, 0.75),
    ]
    profile += [(1.0, 0.95), (0.8, 1.0), (0.0, 1.0)]
    surfaces = [grip] * 4 + [wood] * 5
    return lathe(profile, surfaces, segments=14).reordered(1, 0, 2).fitted(size)


@lying(0.42)
def tennis_racket(size: Vector, look: Look, choose: Random) -> Mesh:
    """A racket with strings."""
    frame = choose.choice(PLASTICS)
    ring = torus(0.5, 0.06, frame, segments=20, sides=5).scaled(0.52, 0.8, 0.43).shifted(0.23)
    parts = [ring]
    for k in (-2, -1, 0, 1, 2):
        half = (1 - (k / 2.9) ** 2) ** 0.5
        parts.append(box((0.5 * half, 0.008, 0.008), WHITE).shifted(0.23, 0, 0.074 * k))
        parts.append(box((0.008, 0.008, 0.42 * half), WHITE).shifted(0.23 + 0.09 * k, 0, 0))
    for side in (-1, 1):
        parts.append(tube([(-0.18, 0, 0.01 * side), (0.03, 0, 0.14 * side)], 0.016, frame, sides=5))
    parts.append(box((0.32, 0.05, 0.055), BLACK, bevel=0.012).shifted(-0.34))
    return join(parts).fitted(size)


@lying(0.42)
def dumbbell(size: Vector, look: Look, choose: Random) -> Mesh:
    """A bar with two hexagonal weights."""
    rubber = choose.choice((CHARCOAL, *PLASTICS[:3]))
    bar = cylinder(0.12, 0.7, STEEL, segments=10)
    weight = cylinder(0.5, 0.3, rubber, bevel=0.05, segments=6)
    whole = join([bar, weight.shifted(y=0.35), weight.shifted(y=-0.35)])
    return whole.along("x").fitted(size)


def boots(size: Vector, look: Look, choose: Random) -> Mesh:
    """A pair of tall boots that point to +z."""
    leather = choose.choice(
        (plain(0.42, 0.27, 0.17, gloss=0.3), BLACK, plain(0.60, 0.42, 0.25, gloss=0.3))
    )
    lined = shade(leather, 0.5)
    shaft = [(0.0, 0.0), (0.18, 0.0), (0.16, 0.5), (0.2, 1.25), (0.18, 1.25), (0.14, 0.5)]
    leg = lathe([*shaft, (0.0, 0.4)], [leather] * 4 + [lined] * 2, segments=12)
    foot = ellipsoid((0.34, 0.34, 0.8), leather, square=(0.3, 0.3), rings=6, segments=12)
    sole = box((0.34, 0.08, 0.76), RUBBER, bevel=0.03).shifted(0, 0.04, 0.05)
    leg, foot = leg.shifted(0, 0.15, -0.15), foot.shifted(0, 0.18, 0.05)
    one = join([leg, foot, sole])
    return join([one.shifted(-0.21), one.shifted(0.21)]).fitted(size)


def garbage_bag(size: Vector, look: Look, choose: Random) -> Mesh:
    """A full bag, tied at the top."""
    plastic = choose.choice(
        (plain(0.13, 0.13, 0.15, gloss=0.6), plain(0.85, 0.85, 0.84, gloss=0.5))
    )
    profile = [
        (0.0, 0.0),
        (0.7, 0.02),
        (0.95, 0.2),
        (1.0, 0.42),
        (0.8, 0.66),
        (0.4, 0.8),
        (0.12, 0.86),
    ]
    profile += [(0.3, 1.0), (0.0, 0.97)]
    body = lathe(profile, plastic, segments=16)
    return bumpy(body, 0.12, 2.6, Random(choose.randrange(1 << 30))).fitted(size)


def vacuum_cleaner(size: Vector, look: Look, choose: Random) -> Mesh:
    """An upright cleaner: a head on the floor (+z), a body and a handle that leans back."""
    color = choose.choice(PLASTICS)
    head = box((0.9, 0.12, 0.4), CHARCOAL, bevel=0.04).shifted(0, 0.06, 0.25)
    body = (
        ellipsoid((0.46, 0.56, 0.34), color, square=(0.4, 0.3), rings=7, segments=12)
        .turned("x", -18)
        .shifted(0, 0.4, 0.06)
    )
    jar = (
        cylinder(0.14, 0.28, plain(0.70, 0.78, 0.80, gloss=0.8), segments=12)
        .turned("x", -18)
        .shifted(0, 0.44, 0.2)
    )
    stick = tube(
        [(0, 0.6, 0), (0, 0.9, -0.18), (0, 1.0, -0.3)], [0.04, 0.03, 0.05], CHARCOAL, sides=8
    )
    return join([head, body, jar, stick]).fitted(size)


@lying(0.3)
def aluminum_foil(size: Vector, look: Look, choose: Random) -> Mesh:
    """A long carton of foil with a strip of it showing."""
    x, y, z = size
    card = choose.choice(PLASTICS)
    foil = plain(0.72, 0.74, 0.77, gloss=0.9)
    carton = box((x, 0.94 * y, 0.94 * z), card).shifted(y=-0.03 * y, z=-0.03 * z)
    strip = box((0.96 * x, 0.06 * y, 0.7 * z), foil).shifted(0, 0.47 * y, 0.15 * z)
    label = box((0.5 * x, 0.5 * y, 0.06 * z), CARDBOARD).shifted(0, 0, 0.47 * z)
    return join([carton, strip, label]).fitted(size)


KINDS: Mapping[str, Form] = {
    "Keyboard": Form(keyboard, (0.42, 0.03, 0.14)),
    "Mouse": Form(mouse, (0.06, 0.03, 0.1)),
    "Notes": Form(notes, (0.15, 0.02, 0.21)),
    "Folder": Form(folder, (0.24, 0.03, 0.31), OPEN[1:]),
    "Radio": Form(radio, (0.26, 0.16, 0.12), ON),
    "PhotoFrame": Form(photo_frame, (0.2, 0.24, 0.05)),
    "BoardGame": Form(board_game, (0.34, 0.06, 0.34)),
    "Toothbrush": Form(toothbrush, (0.02, 0.02, 0.18)),
    "Toothpaste": Form(toothpaste, (0.04, 0.03, 0.16)),
    "FoldedShirt": Form(folded_shirt, (0.32, 0.06, 0.26), DIRTY),
    "FoldedPants": Form(folded_pants, (0.3, 0.07, 0.24), DIRTY),
    "BasketBall": Form(basket_ball, (0.24, 0.24, 0.24)),
    "BaseballBat": Form(baseball_bat, (0.07, 0.9, 0.07)),
    "TennisRacket": Form(tennis_racket, (0.28, 0.03, 0.66)),
    "Dumbbell": Form(dumbbell, (0.34, 0.13, 0.15)),
    "Boots": Form(boots, (0.29, 0.52, 0.28)),
    "GarbageBag": Form(garbage_bag, (0.51, 0.56, 0.51)),
    "VacuumCleaner": Form(vacuum_cleaner, (0.4, 1.0, 0.44)),
    "AluminumFoil": Form(aluminum_foil, (0.3, 0.05, 0.06)),
}
