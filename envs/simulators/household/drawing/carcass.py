"""The frame of furniture whose drawers, doors and boards are objects of their own."""

from __future__ import annotations

from inhabit.envs.simulators.render.material import Material
from inhabit.envs.simulators.render.mesh import Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import shade
from inhabit.envs.simulators.render.solids import box

_BOARD = 0.025
_POST = 0.04
"""Metres."""
_HUTCH_DEPTH = 0.35
"""Maximum depth in metres of a rack above a desk's top."""


def carcass(size: Vector, surface: float, wood: Material, *, panelled: bool) -> Mesh:
    """A frame that fills its box, with its front at +z.

    Args:
        size: of the box, metres.
        surface: height of the top over its bottom; what is above that is a rack at the back.
        wood: of all parts.
        panelled: with sides and a back, as a dresser has, instead of legs.
    """
    x, y, z = size
    board, post = min(_BOARD, 0.2 * y), min(_POST, 0.2 * x, 0.2 * z)
    surface = min(max(surface, 0.2 * y), y)
    inside = surface - board
    parts = [box((x, board, z), wood, bevel=0.004).shifted(y=surface - board / 2 - y / 2)]
    middle = inside / 2 - y / 2
    if panelled:
        parts += [
            box((board, inside, z), wood).shifted(k * (x - board) / 2, middle) for k in (-1, 1)
        ]
        parts.append(
            box((x - 2 * board, inside, 0.01), shade(wood, 0.8)).shifted(0, middle, 0.005 - z / 2)
        )
    else:
        parts += [
            box((post, inside, post), wood).shifted(i * (x - post) / 2, middle, k * (z - post) / 2)
            for i in (-1, 1)
            for k in (-1, 1)
        ]
    if y - surface > 0.1:
        parts += _hutch(size, surface, wood)
    return join(parts)


def _hutch(size: Vector, surface: float, wood: Material) -> list[Mesh]:
    x, y, z = size
    tall, deep = y - surface, min(_HUTCH_DEPTH, z)
    back = (deep - z) / 2
    sides = [
        box((_BOARD, tall, deep), wood).shifted(k * (x - _BOARD) / 2, (y - tall) / 2, back)
        for k in (-1, 1)
    ]
    top = box((x, _BOARD, deep), wood).shifted(0, (y - _BOARD) / 2, back)
    return [*sides, top]
