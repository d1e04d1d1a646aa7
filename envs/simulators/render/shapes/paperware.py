"""What one reads and writes with."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from inhabit.envs.simulators.render.lathe import lathe
from inhabit.envs.simulators.render.mesh import Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import (
    BLACK,
    BRASS,
    CHROME,
    PAPER,
    PLASTICS,
    plain,
    shade,
)
from inhabit.envs.simulators.render.shapes.look import OPEN, Form, Look
from inhabit.envs.simulators.render.shapes.parts import block, lying
from inhabit.envs.simulators.render.solids import box

_INK = plain(0.30, 0.30, 0.33, gloss=0.0)
_LEAD = plain(0.20, 0.20, 0.20)
_CUT_WOOD = plain(0.86, 0.70, 0.50)
_ERASER = plain(0.88, 0.55, 0.55)


def book(size: Vector, look: Look, choose: Random) -> Mesh:
    """A book whose spine is a long edge. Its upper half turns over about the spine."""
    cover, title = choose.choice(PLASTICS), choose.choice((BRASS, PAPER))

    def build(size: Vector) -> Mesh:
        x, y, z = size
        board = min(0.12 * y, 0.004)
        pages = (-0.48 * x, 0.0, -0.49 * z), (0.48 * x, y / 2 - board, 0.48 * z)
        half = [
            block((-x / 2, y / 2 - board, -z / 2), (x / 2, y / 2, z / 2), cover),
            block((-x / 2, 0.0, -z / 2), (x / 2, y / 2, board - z / 2), cover),
            block(*pages, PAPER),
        ]
        lower = join(half).scaled(1, -1, 1)
        mark = min(0.0008, 0.2 * board)
        for width, at in ((0.14, 0.2), (0.06, -0.22)):
            half.append(
                box((0.66 * x, mark, width * z), title).shifted(0, y / 2 + mark / 2, at * z)
            )
        upper = join(half)
        closed = join([lower, upper])
        if look.openness == 0:
            return closed.fitted(size)
        text = [_print(0.8 * x, 0.8 * z).shifted(y=0.0004)]
        upper = join([upper, *(t.turned("x", 180) for t in text)])
        hinge = upper.shifted(z=z / 2).turned("x", -180 * look.openness).shifted(z=-z / 2)
        return join([lower, *text, hinge]).fitted(size, like=closed)

    return lying(size, 0.75, build)


def _print(width: float, depth: float) -> Mesh:
    """Lines of print across z on the plane y = 0."""
    lines = [box((0.022 * width, 0.0006, depth), _INK) for _ in range(9)]
    return join(line.shifted((k - 4) / 9 * width) for k, line in enumerate(lines))


def newspaper(size: Vector, look: Look, choose: Random) -> Mesh:
    """A folded newspaper with a headline, a picture and columns."""
    photo = choose.choice(PLASTICS)

    def build(size: Vector) -> Mesh:
        x, y, z = size
        fold = box((x, y - 0.001, z), PAPER, bevel=0.3 * y).shifted(y=-0.0005)
        top = y / 2 - 0.0005
        parts = [fold, box((0.07 * x, 0.001, 0.86 * z), _INK).shifted(-0.4 * x, top)]
        parts.append(box((0.3 * x, 0.001, 0.42 * z), photo).shifted(-0.15 * x, top, 0.22 * z))
        for column in range(4):
            line = box((0.4 * x if column > 1 else 0.74 * x, 0.001, 0.025 * z), shade(PAPER, 0.6))
            for k in range(3):
                at = (column - 1.5) * 0.23 * z + (k - 1) * 0.05 * z
                parts.append(line.shifted((0.24 if column > 1 else 0.06) * x, top, at))
        return join(parts).fitted(size)

    return lying(size, 0.68, build)


def pen(size: Vector, look: Look, choose: Random) -> Mesh:
    """A ball pen: a coloured barrel, a metal tip and a clip."""
    barrel = choose.choice((*PLASTICS, BLACK))

    def build(size: Vector) -> Mesh:
        profile = [(0.0, 0.0), (0.8, 0.0), (1.0, 0.03), (1.0, 0.85), (0.3, 0.99), (0.0, 1.0)]
        body = lathe(profile, [CHROME, CHROME, barrel, CHROME, CHROME], segments=10)
        clip = box((0.5, 0.3, 0.3), CHROME).shifted(0.9, 0.17)
        return join([body, clip]).reordered(1, 0, 2).fitted(size)

    return lying(size, 0.08, build)


def pencil(size: Vector, look: Look, choose: Random) -> Mesh:
    """A six-sided pencil with an eraser."""
    paint = choose.choice((plain(0.94, 0.72, 0.20), *PLASTICS))

    def build(size: Vector) -> Mesh:
        profile = [(0.0, 0.0), (0.95, 0.0), (0.95, 0.05), (1.0, 0.05), (1.0, 0.10), (1.0, 0.88)]
        profile += [(0.25, 0.97), (0.0, 1.0)]
        surfaces = [_ERASER, _ERASER, CHROME, CHROME, paint, _CUT_WOOD, _LEAD]
        return lathe(profile, surfaces, segments=6).reordered(1, 0, 2).fitted(size)

    return lying(size, 0.06, build)


KINDS: Mapping[str, Form] = {
    "Book": Form(book, (0.2, 0.03, 0.28), OPEN),
    "Newspaper": Form(newspaper, (0.24, 0.03, 0.36)),
    "Pen": Form(pen, (0.015, 0.014, 0.16)),
    "Pencil": Form(pencil, (0.01, 0.01, 0.18)),
}
