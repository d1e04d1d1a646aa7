"""What one puts things on: tables, desks, dressers, counters, shelves."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from inhabit.envs.simulators.render.lathe import box, cylinder
from inhabit.envs.simulators.render.mesh import Material, Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import (
    BRASS,
    CHARCOAL,
    CHROME,
    COUNTERS,
    FRONTS,
    FURNITURE,
    GLASS,
    IRON,
    OPEN,
    RUBBER,
    STEEL,
    Form,
    Look,
    shade,
)
from inhabit.envs.simulators.render.shapes.parts import (
    along_longer,
    bar,
    block,
    hollow_box,
    knob,
    legs,
    panel,
)
from inhabit.envs.simulators.render.sweep import tube

_TOP = 0.035
"""Thickness of a table's top, metres."""
_SET_BACK = 0.03
"""How far fitted fronts lie behind their frame, so that a scene's own drawers cover them."""
_OUT = 0.75
"""Share of its depth that an open drawer of a dresser comes out."""


def dining_table(size: Vector, look: Look, choose: Random) -> Mesh:
    """A table with four legs and an apron. Never a round one: things stand at its corners too."""
    wood = choose.choice(FURNITURE)
    return _table(size, wood, wood, apron=0.08)


def _table(size: Vector, top: Material, frame: Material, *, apron: float) -> Mesh:
    x, y, z = size
    thick = min(_TOP, 0.2 * y)
    leg = min(0.065, 0.12 * min(x, z))
    inner = (0.96 * x, y - thick, 0.96 * z)
    parts = [box((x, thick, z), top, bevel=0.25 * thick).shifted(y=(y - thick) / 2)]
    parts += [part.shifted(y=-thick / 2) for part in legs(inner, leg, frame)]
    apron = min(apron, 0.3 * y)
    rail = block((-inner[0] / 2, -apron, 0), (inner[0] / 2, 0, 0.4 * leg), frame)
    under = y / 2 - thick
    parts += [rail.shifted(0, under, k * (inner[2] - leg) / 2 - 0.2 * leg) for k in (-1, 1)]
    rail = block((0, -apron, -inner[2] / 2), (0.4 * leg, 0, inner[2] / 2), frame)
    parts += [rail.shifted(k * (inner[0] - leg) / 2 - 0.2 * leg, under) for k in (-1, 1)]
    return join(parts)


def coffee_table(size: Vector, look: Look, choose: Random) -> Mesh:
    """A low table with a shelf below its top, which is of wood or of glass."""
    x, y, z = size
    wood, glazed = choose.choice(FURNITURE), choose.random() < 0.25
    table = _table(size, shade(GLASS, 0.85) if glazed else wood, wood, apron=0.05)
    shelf = box((0.9 * x, 0.02, 0.9 * z), wood).shifted(y=-0.28 * y)
    return join([table, shelf])


def side_table(size: Vector, look: Look, choose: Random) -> Mesh:
    """A small table on legs with a shelf, or a night stand with drawers."""
    x, y, z = size
    wood, pull = choose.choice(FRONTS), choose.choice((CHROME, BRASS, IRON))
    if choose.random() < 0.5 or y < 0.3:
        return join(
            [
                _table(size, wood, wood, apron=0.1),
                box((0.92 * x, 0.02, 0.92 * z), wood).shifted(y=-0.25 * y),
            ]
        )
    return chest(size, wood, pull, rows=2 if y < 0.75 else 3, columns=1, foot=0.12 * y)


def chest(
    size: Vector,
    wood: Material,
    pull: Material,
    *,
    rows: int,
    columns: int,
    foot: float,
    openness: float = 0.0,
) -> Mesh:
    """A carcass with a top, short legs and rows of drawers, the highest of which slide out."""
    x, y, z = size
    top = min(0.025, 0.1 * y)
    tall = y - top - foot
    middle = foot - y / 2 + tall / 2
    inner = z - _SET_BACK
    wall = 0.02
    parts = [
        box((x, top, z), wood, bevel=0.25 * top).shifted(y=(y - top) / 2),
        box((0.97 * x, tall, inner), wood).shifted(0, middle, -_SET_BACK / 2),
    ]
    for side in (-1, 1):  # the frame that the fronts lie in
        post = block((-wall / 2, -tall / 2, 0), (wall / 2, tall / 2, 0.8 * _SET_BACK), wood)
        parts.append(post.shifted(side * (0.485 * x - wall / 2), middle, inner - z / 2))
    if foot > 0:
        corner = legs((0.94 * x, foot, 0.92 * z), min(0.05, 0.1 * min(x, z)), wood)
        parts += [leg.shifted(y=(foot - y) / 2) for leg in corner]
    width, height = (0.97 * x - 2 * wall) / columns, tall / rows
    thick = 0.4 * _SET_BACK
    front = panel(width - 0.012, height - 0.012, thick, shade(wood, 1.04), 0)
    grip = knob(0.014, 0.55 * _SET_BACK, pull).shifted(z=thick / 2)
    pulls = [grip] if width < 0.5 else [grip.shifted(-width / 4), grip.shifted(width / 4)]
    one = join([front, *pulls])
    out = _OUT * openness * inner
    if out > 0:
        tray = hollow_box((0.94 * width, 0.8 * height, out), 0.012, shade(wood, 0.92))
        pulled = join([one.shifted(z=out), tray.shifted(y=-0.05 * height, z=out / 2)])
    for row in range(rows):
        for column in range(columns):
            dx = (column - (columns - 1) / 2) * width
            dy = middle + (row - (rows - 1) / 2) * height
            drawer = pulled if out > 0 and row == rows - 1 else one
            parts.append(drawer.shifted(dx, dy, inner - z / 2 + thick / 2))
    return join(parts)


def dresser(size: Vector, look: Look, choose: Random) -> Mesh:
    """A chest of drawers, in two columns if it is wide."""
    x, y, _ = size
    wood, pull = choose.choice(FRONTS), choose.choice((CHROME, BRASS, IRON))
    return chest(
        size,
        wood,
        pull,
        rows=max(2, min(5, round(y / 0.24))),
        columns=2 if x > 0.8 else 1,
        foot=0.08 * y,
        openness=look.openness,
    )


def tv_stand(size: Vector, look: Look, choose: Random) -> Mesh:
    """A low board with an open middle and drawers at both ends."""
    x, y, z = size
    wood, pull = choose.choice(FRONTS), choose.choice((CHROME, BRASS, IRON))
    board, foot = 0.03, 0.06 * y
    end = chest((0.32 * x, y - board - foot, 0.97 * z), wood, pull, rows=2, columns=1, foot=0)
    parts = [box((x, board, z), wood, bevel=0.005).shifted(y=(y - board) / 2)]
    parts += [end.shifted(side * 0.33 * x, (foot - board) / 2) for side in (-1, 1)]
    parts.append(
        box((0.4 * x, y - foot - board, 0.02), shade(wood, 0.8)).shifted(
            0, (foot - board) / 2, 0.02 - z / 2
        )
    )
    for height in (-0.5 + 0.06, 0.0):
        parts.append(box((0.4 * x, 0.02, 0.9 * z), wood).shifted(y=height * y + 0.01))
    parts += [leg.shifted(y=(foot - y) / 2) for leg in legs((0.96 * x, foot, 0.9 * z), 0.05, wood)]
    return join(parts)


@along_longer
def desk(size: Vector, look: Look, choose: Random) -> Mesh:
    """A desk with a drawer unit at one end; what is taller than a desk gets shelves above."""
    wood, pull = choose.choice(FRONTS), choose.choice((CHROME, BRASS, IRON))
    x, y, z = size
    work = y if y < 1.05 else 0.76
    thick = min(_TOP, 0.2 * work)
    unit = min(0.3 * x, 0.45)
    floor = -y / 2
    parts = [box((x, thick, z), wood, bevel=0.006).shifted(y=floor + work - thick / 2)]
    drawers = chest((unit, work - thick, 0.96 * z), wood, pull, rows=3, columns=1, foot=0)
    parts.append(drawers.shifted((unit - x) / 2 + 0.01, floor + (work - thick) / 2))
    side = box((0.035, work - thick, 0.94 * z), wood)
    parts.append(side.shifted(x / 2 - 0.03, floor + (work - thick) / 2))
    modesty = box((x - unit - 0.03, 0.5 * work, 0.02), wood)
    parts.append(modesty.shifted(unit / 2, floor + 0.68 * work, 0.03 - z / 2))
    if y > work:
        rise = y - work
        hutch = [box((x, rise, 0.02), shade(wood, 0.9)).shifted(0, y / 2 - rise / 2, 0.01 - z / 2)]
        deep = 0.45 * z
        for k in (-1, 0, 1):
            post = box((0.025, rise, deep), wood)
            hutch.append(post.shifted(k * (x / 2 - 0.0125), y / 2 - rise / 2, (deep - z) / 2))
        for height in (0.5, 0.97):
            shelf = box((x, 0.025, deep), wood)
            hutch.append(shelf.shifted(0, floor + work + height * rise, (deep - z) / 2))
        parts += hutch
    return join(parts).fitted(size)


def counter_top(size: Vector, look: Look, choose: Random) -> Mesh:
    """A worktop. A tall one stands on a base of cupboards with a plinth."""
    x, y, z = size
    front, stone = choose.choice(FRONTS), choose.choice(COUNTERS)
    thick = min(0.04, y)
    slab = box((x, thick, z), stone, bevel=min(0.2 * thick, 0.006)).shifted(y=(y - thick) / 2)
    if y < 0.25:
        return box(size, stone, bevel=min(0.2 * y, 0.006))
    base = counter_base((x, y - thick, z), look, choose, front)
    return join([slab, base.shifted(y=-thick / 2)])


def counter_base(size: Vector, look: Look, choose: Random, front: Material | None = None) -> Mesh:
    """The cupboards under a worktop, closed for good: doors of about 0.45 m side by side."""
    x, y, z = size
    front = front or choose.choice(FRONTS)
    plinth = min(0.1, 0.15 * y)
    thick = min(0.018, 0.2 * z)
    parts = [
        block((-x / 2, -y / 2, -z / 2), (x / 2, plinth - y / 2, 0.42 * z), CHARCOAL),
        block(
            (-x / 2, plinth - y / 2, -z / 2),
            (x / 2, y / 2, z / 2 - thick - 0.02),
            shade(front, 0.92),
        ),
    ]
    count = max(1, round(x / 0.45))
    width, tall = x / count, y - plinth
    leaf = panel(width - 0.006, tall - 0.006, thick, front, 0.06)
    grip = bar(0.12, 0.02, CHROME).shifted(0.5 * width - 0.045, 0.28 * tall, thick / 2)
    for k in range(count):
        door = join([leaf, grip if k % 2 == 0 else grip.shifted(0.09 - width)])
        parts.append(
            door.shifted((k - (count - 1) / 2) * width, plinth / 2, z / 2 - 0.02 - thick / 2)
        )
    return join(parts)


def shelf(size: Vector, look: Look, choose: Random) -> Mesh:
    """A board at the bottom of its box: what is above it is the room for things."""
    x, y, z = size
    wood = choose.choice(FRONTS)
    if min(x, z) < 0.05:  # upright: a side of a rack
        return box(size, wood)
    thick = min(0.018, y)
    return box((x, thick, z), wood, bevel=0.1 * thick).shifted(y=(thick - y) / 2)


@along_longer
def shelving_unit(size: Vector, look: Look, choose: Random) -> Mesh:
    """An open rack with a back and boards."""
    wood = choose.choice(FRONTS)
    x, y, z = size
    wall = 0.022
    parts = [box((x - 2 * wall, y, 0.01), shade(wood, 0.85)).shifted(z=0.005 - z / 2)]
    parts += [box((wall, y, z), wood).shifted(k * (x - wall) / 2) for k in (-1, 1)]
    count = max(2, round(y / 0.36))
    for k in range(count + 1):
        height = wall / 2 + k * (y - wall) / count
        parts.append(box((x - 2 * wall, wall, z), wood).shifted(y=height - y / 2))
    return join(parts)


def cart(size: Vector, look: Look, choose: Random) -> Mesh:
    """A serving trolley: trays between four posts on castors, a handle at one end."""
    x, y, z = size
    frame, tray = choose.choice((STEEL, CHROME, IRON)), choose.choice(FURNITURE)
    wheel = min(0.07, 0.1 * y)
    posts = legs((0.96 * x, y - wheel, 0.96 * z), 0.025, frame, round_=True)
    parts = [post.shifted(y=wheel / 2) for post in posts]
    castor = cylinder(wheel / 2, 0.02, RUBBER, segments=10).along("x")
    parts += [
        castor.shifted(i * 0.465 * x, (wheel - y) / 2, k * 0.465 * z)
        for i in (-1, 1)
        for k in (-1, 1)
    ]
    for height in (0.12, 0.5, 0.9):
        parts.append(box((x, 0.025, z), tray, bevel=0.006).shifted(y=(height - 0.5) * y))
    bow = [(0.44 * x, 0.42 * y, -0.46 * z), (0.47 * x, 0.48 * y, -0.42 * z)]
    bow += [(px, py, -pz) for px, py, pz in reversed(bow)]
    return join([*parts, tube(bow, 0.012, frame, sides=6)]).fitted(size)


KINDS: Mapping[str, Form] = {
    "DiningTable": Form(dining_table, (1.6, 0.8, 0.95)),
    "CoffeeTable": Form(coffee_table, (1.1, 0.44, 0.65)),
    "SideTable": Form(side_table, (0.5, 0.66, 0.45)),
    "Dresser": Form(dresser, (1.05, 0.97, 0.5), OPEN),
    "TVStand": Form(tv_stand, (1.4, 0.55, 0.45)),
    "Desk": Form(desk, (1.35, 0.78, 0.65)),
    "CounterTop": Form(counter_top, (1.4, 0.91, 0.65)),
    "CounterBase": Form(counter_base, (1.4, 0.87, 0.62)),
    "Shelf": Form(shelf, (0.8, 0.25, 0.25)),
    "ShelvingUnit": Form(shelving_unit, (0.95, 1.48, 0.4)),
    "Cart": Form(cart, (0.75, 0.85, 0.45)),
}
