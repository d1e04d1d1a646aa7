"""What hangs on walls and in windows."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from inhabit.envs.simulators.render.lathe import box, cylinder
from inhabit.envs.simulators.render.mesh import Material, Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import (
    BLACK,
    BRASS,
    BROKEN,
    CHROME,
    DIRTY,
    FURNITURE,
    LINENS,
    MIRROR,
    OAK,
    OPEN,
    PAPER,
    WALNUT,
    WHITE,
    WHITEWOOD,
    Form,
    Look,
    cracks,
    glowing,
    plain,
)
from inhabit.envs.simulators.render.shapes.parts import cutout, drape, facing

_SKY = glowing(0.70, 0.84, 0.95, 0.75)
_HAZE = glowing(0.86, 0.92, 0.96, 0.75)
_TREES = glowing(0.48, 0.63, 0.46, 0.6)
_GLEAM = plain(0.80, 0.86, 0.90, gloss=0.95)
_SMEAR = plain(0.50, 0.46, 0.38)
_PAINTS = tuple(
    plain(*color)
    for color in (
        (0.16, 0.30, 0.44),
        (0.85, 0.55, 0.28),
        (0.90, 0.80, 0.60),
        (0.32, 0.50, 0.45),
        (0.66, 0.26, 0.22),
        (0.55, 0.68, 0.76),
    )
)


def _frame(width: float, height: float, depth: float, border: float, material: Material) -> Mesh:
    """A picture frame: a rectangular ring that faces +z."""
    parts = []
    for side in (-1, 1):
        post = box((border, height, depth), material, bevel=0.2 * min(border, depth))
        rail = box((width - 2 * border, border, depth), material, bevel=0.2 * min(border, depth))
        parts += [
            post.shifted(side * (width - border) / 2),
            rail.shifted(y=side * (height - border) / 2),
        ]
    return join(parts)


@facing
def painting(size: Vector, look: Look, choose: Random) -> Mesh:
    """A framed picture: a landscape, or circles and bars. Both of its faces show it."""
    wood = choose.choice((BLACK, WALNUT, OAK, BRASS, WHITE))
    x, y, z = size
    border = min(0.05, 0.1 * min(x, y))
    w, h = x - 2 * border, y - 2 * border
    paint = Random(choose.randrange(1 << 30))
    image = _landscape(w, h, paint) if paint.random() < 0.6 else _abstract(w, h, paint)
    canvas = box((w, h, 0.4 * z), paint.choice(_PAINTS))
    side = image.shifted(z=0.2 * z)
    return join([_frame(x, y, z, border, wood), canvas, side, side.turned("y", 180)])


@facing
def poster(size: Vector, look: Look, choose: Random) -> Mesh:
    """A picture without a frame, on a white sheet."""
    x, y, _ = size
    paint = Random(choose.randrange(1 << 30))
    w, h = 0.9 * x, 0.88 * y
    image = _abstract(w, h, paint) if paint.random() < 0.6 else _landscape(w, h, paint)
    sheet = box((x, y, 0.001), PAPER)
    ground = box((w, h, 0.0005), paint.choice(_PAINTS)).shifted(z=0.0005)
    side = join([ground, image.shifted(z=0.0007)])
    return join([sheet, side, side.turned("y", 180)]).fitted(size)


def _landscape(width: float, height: float, paint: Random) -> Mesh:
    """Sun and hills, half a millimetre thick, on z = 0."""
    colors = paint.sample(_PAINTS, 4)
    thin = 0.0005
    sun = cylinder(0.12 * height, thin, colors[0], segments=14).along("z")
    parts = [sun.shifted(paint.uniform(-0.3, 0.3) * width, 0.22 * height, thin / 2)]
    for layer in range(3):
        top = 0.08 - 0.2 * layer
        ridge = [
            ((k / 5 - 0.5) * width, (top + paint.uniform(-0.08, 0.08)) * height) for k in range(6)
        ]
        outline = [(-width / 2, -height / 2), *ridge, (width / 2, -height / 2)]
        parts.append(cutout(outline, thin, colors[layer + 1]).shifted(z=thin * (layer + 1)))
    return join(parts)


def _abstract(width: float, height: float, paint: Random) -> Mesh:
    """Overlapping discs and bars."""
    thin, parts = 0.0005, []
    for layer in range(5):
        color = paint.choice(_PAINTS)
        if paint.random() < 0.6:
            radius = paint.uniform(0.1, 0.22) * min(width, height)
            piece = cylinder(radius, thin, color, segments=18).along("z")
            dx, dy = width / 2 - radius, height / 2 - radius
        else:
            w, h = paint.uniform(0.08, 0.3) * width, paint.uniform(0.2, 0.7) * height
            piece, dx, dy = box((w, h, thin), color), (width - w) / 2, (height - h) / 2
        parts.append(
            piece.shifted(
                paint.uniform(-dx, dx), paint.uniform(-dy, dy), thin * (0.6 + 0.4 * layer)
            )
        )
    return join(parts)


@facing
def mirror(size: Vector, look: Look, choose: Random) -> Mesh:
    """A mirror in a frame, with slanting gleams; dirt and cracks show on it."""
    metal = choose.choice((WHITEWOOD, BLACK, BRASS, WALNUT, CHROME))
    seed = choose.randrange(1 << 30)
    x, y, z = size
    border = min(0.04, 0.08 * min(x, y))
    w, h = x - 2 * border, y - 2 * border
    parts = [box((w, h, 0.5 * z), MIRROR)]
    lean = min(0.16 * h, 0.15 * w)
    for at, wide in ((-0.18, 0.07), (0.0, 0.03), (0.22, 0.1)):
        left, right = (at - wide / 2) * w, (at + wide / 2) * w
        outline = [(left - lean, -0.4 * h), (right - lean, -0.4 * h)]
        outline += [(right + lean, 0.4 * h), (left + lean, 0.4 * h)]
        parts.append(cutout(outline, 0.0006, _GLEAM).shifted(z=0.25 * z + 0.0003))
    if look.dirty:
        smears = Random(seed)
        for _ in range(9):
            spot = cylinder(1, 0.001, _SMEAR, segments=8).along("z").scaled(0.07 * w, 0.1 * h, 1)
            parts.append(
                spot.shifted(
                    smears.uniform(-0.4, 0.4) * w,
                    smears.uniform(-0.38, 0.38) * h,
                    0.25 * z + 0.001,
                )
            )
    if look.broken:
        parts.append(cracks(w, h, Random(seed)).shifted(z=0.25 * z + 0.002))
    glass = join(parts)
    both = [glass, join(parts[1:]).turned("y", 180)]
    return join([_frame(x, y, z, border, metal), *both])


@facing
def window(size: Vector, look: Look, choose: Random) -> Mesh:
    """A window full of daylight: sky, haze and trees behind four panes."""
    wood = choose.choice((WHITEWOOD, WHITEWOOD, WHITE, FURNITURE[0]))
    seed = choose.randrange(1 << 30)
    x, y, z = size
    border = min(0.07, 0.1 * min(x, y))
    deep = min(z, 0.12)
    w, h = x - 1.5 * border, y - 1.5 * border
    pane = [box((w, 0.6 * h, 0.3 * deep), _SKY).shifted(y=0.2 * h)]
    pane += [box((w, 0.4 * h, 0.28 * deep), _HAZE).shifted(y=-0.3 * h)]
    pane += [_trees(w, h, 0.3 * deep)]
    bars = [box((0.5 * border, h, 0.6 * deep), wood), box((w, 0.5 * border, 0.6 * deep), wood)]
    parts = [_frame(x, y, deep, border, wood), *pane, *bars]
    if look.broken:
        star = cracks(0.9 * w, 0.9 * h, Random(seed)).shifted(z=0.15 * deep + 0.001)
        parts += [star, star.turned("y", 180)]
    return join(parts).fitted((x, y, z))


def _trees(width: float, height: float, depth: float) -> Mesh:
    """The far tree line, which fills the lower part of a window."""
    tops = (-0.28, -0.2, -0.24, -0.14, -0.22, -0.26, -0.18, -0.25)
    line = [((k / 7 - 0.5) * width, top * height) for k, top in enumerate(tops)]
    outline = [(-width / 2, -height / 2), *line, (width / 2, -height / 2)]
    return cutout(outline, depth, _TREES)


@facing
def curtains(size: Vector, look: Look, choose: Random) -> Mesh:
    """Two curtains drawn aside on a rod, so that the window between them can be seen."""
    cloth, metal = choose.choice(LINENS), choose.choice((BRASS, BLACK, CHROME))
    x, y, z = size
    rod = cylinder(0.015, x, metal, segments=8).along("x").shifted(y=y / 2 - 0.02)
    wide = 0.3 * x
    hanging = drape(wide, y - 0.03, z, max(2.0, round(7 * wide)), cloth).shifted(y=-0.015)
    return join([rod, hanging.shifted((wide - x) / 2), hanging.shifted((x - wide) / 2)]).fitted(
        size
    )


@facing
def blinds(size: Vector, look: Look, choose: Random) -> Mesh:
    """Blinds in THOR's sense: closed is drawn up, open is let down.

    In a shallow box (THOR's own when closed) they fill it when drawn up and hang a metre below it
    when let down; in a tall one they fill it when let down.
    """
    slat = choose.choice((WHITE, PAPER, OAK))
    x, y, z = size
    shallow = y < 0.45 * x
    low, high = (y, y + 1.0) if shallow else (min(0.2, 0.3 * y), y)
    length = low + (high - low) * look.openness
    top = y / 2
    head = min(0.05, 0.3 * low)
    parts = [box((x, head, z), slat, bevel=0.1 * head).shifted(y=top - head / 2)]
    count = max(4, round((length - head) / 0.06)) if look.openness > 0 else 8
    step = (length - head) / count
    tilt = 55 if look.openness > 0.3 else 0
    thick = min(0.004, 0.6 * step)
    flat = box((0.98 * x, thick, 0.9 * z), slat).turned("x", tilt)
    parts += [flat.shifted(y=top - head - (k + 0.5) * step) for k in range(count)]
    rail = box((x, min(0.02, step), 0.9 * z), slat)
    parts.append(rail.shifted(y=top - length + min(0.02, step) / 2))
    for side in (-1, 1):
        cord = box((0.004, length - head, 0.004), WHITE)
        parts.append(cord.shifted(side * 0.3 * x, top - head - (length - head) / 2, 0))
    return join(parts)


KINDS: Mapping[str, Form] = {
    "Painting": Form(painting, (0.9, 0.65, 0.05)),
    "Poster": Form(poster, (0.55, 0.75, 0.01)),
    "Mirror": Form(mirror, (0.6, 0.9, 0.04), DIRTY + BROKEN),
    "Window": Form(window, (1.2, 1.4, 0.15), BROKEN),
    "Curtains": Form(curtains, (1.3, 2.17, 0.15)),
    "Blinds": Form(blinds, (1.1, 0.2, 0.06), OPEN),
}
