"""What one eats and drinks from: mugs, cups, bowls, plates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import numpy as np

from inhabit.envs.simulators.render.lathe import Point, ellipsoid, lathe
from inhabit.envs.simulators.render.material import Material
from inhabit.envs.simulators.render.mesh import Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import (
    GLASS,
    GLAZES,
    PLASTICS,
    PORCELAIN,
    liquid,
    plain,
    shade,
)
from inhabit.envs.simulators.render.shapes.look import BROKEN, DIRTY, FILLED, Form, Look
from inhabit.envs.simulators.render.shapes.parts import along_longer
from inhabit.envs.simulators.render.sweep import tube

_WALL = 0.08
"""Of a vessel's radius."""


def vessel(
    outline: Sequence[Point],
    material: Material,
    inside: Material,
    *,
    floor: float = 0.08,
    liquid_name: str | None = None,
    level: float = 0.75,
    segments: int = 18,
) -> Mesh:
    """A hollow vessel of radius 1 and height 1 standing on y = 0, with what fills it.

    Args:
        outline: the outside's (radius, height), from the foot up to the rim.
        material: of the outside.
        inside: of the cavity.
        floor: height of the cavity's bottom.
        liquid_name: what fills it, if anything does.
        level: height of the liquid.
        segments: corners of the circle.
    """
    wall = [(max(r - _WALL, 0.04), y) for r, y in reversed(outline) if y > floor + 0.01]
    profile = [(0.0, 0.0), *outline, *wall, (0.85 * wall[-1][0], floor), (0.0, floor)]
    outer = len(outline) + 1
    surfaces = [material] * outer + [inside] * (len(profile) - 1 - outer)
    body = lathe(profile, surfaces, segments=segments)
    if liquid_name is None:
        return body
    radii, heights = np.array(wall[::-1]).T
    radius = float(np.interp(level, heights, radii))
    disc = [(0.0, level - 0.02), (radius, level - 0.02), (radius, level), (0.0, level)]
    return join([body, lathe(disc, liquid(liquid_name), segments=segments)])


def mug(size: Vector, look: Look, choose: Random) -> Mesh:
    """A straight mug with its ear on the longer side of the box."""
    glaze = choose.choice(GLAZES)
    outline = [(0.86, 0.0), (0.96, 0.06), (1.0, 0.25), (1.0, 1.0)]
    body = vessel(outline, glaze, shade(PORCELAIN, 0.97), liquid_name=look.filled, level=0.88)

    def build(size: Vector) -> Mesh:
        x, y, z = size
        ear = min(max(x - z, 0.18 * z), 0.35 * z)
        across = x - ear
        reach, thick = across / 2 - ear / 2 - 0.03 * across, 0.09 * y
        bend = [(0.0, 0.82), (0.55, 0.83), (0.88, 0.73), (1.0, 0.56), (0.9, 0.4), (0.6, 0.27)]
        bend.append((0.0, 0.22))
        path = [(reach + k * (ear - thick), h * y, 0.0) for k, h in bend]
        round_part = body.scaled(across / 2, y, z / 2).shifted(-ear / 2)
        return join([round_part, tube(path, thick, glaze, sides=6)]).fitted(size)

    return along_longer(size, build)


def cup(size: Vector, look: Look, choose: Random) -> Mesh:
    """A tumbler, of glass or of coloured plastic."""
    material = choose.choice((GLASS, *PLASTICS[:4]))
    outline = [(0.74, 0.0), (0.78, 0.03), (1.0, 1.0)]
    inside = shade(material, 0.9)
    return vessel(outline, material, inside, liquid_name=look.filled, level=0.9).fitted(size)


def bowl(size: Vector, look: Look, choose: Random) -> Mesh:
    """A round bowl on a low foot."""
    glaze = choose.choice(GLAZES)
    outline = [(0.45, 0.0), (0.45, 0.08), (0.68, 0.22), (0.88, 0.52), (1.0, 1.0)]
    body = vessel(outline, glaze, shade(glaze, 1.1), floor=0.14, liquid_name=look.filled, level=0.7)
    return _with_crumbs(body, look, choose, 0.16, 0.4).fitted(size)


def plate(size: Vector, look: Look, choose: Random) -> Mesh:
    """A plate with a broad rim and a coloured line around it."""
    glaze, line = choose.choice(GLAZES[:1] * 3 + GLAZES[1:]), choose.choice(GLAZES[1:])
    profile = [(0.0, 0.0), (0.6, 0.0), (1.0, 0.85), (1.0, 1.0), (0.94, 0.98), (0.66, 0.42)]
    profile += [(0.6, 0.25), (0.0, 0.25)]
    surfaces = [glaze, glaze, line, line, glaze, glaze, glaze]
    body = lathe(profile, surfaces, segments=24)
    return _with_crumbs(body, look, choose, 0.25, 0.55).fitted(size)


def _with_crumbs(body: Mesh, look: Look, choose: Random, floor: float, reach: float) -> Mesh:
    """What a meal leaves behind, if it is dirty."""
    if not look.dirty:
        return body
    sauces = (plain(0.45, 0.22, 0.08), plain(0.62, 0.20, 0.10), plain(0.38, 0.30, 0.10))
    spots = []
    for _ in range(7):
        angle, far, wide = choose.uniform(0, 6.28), choose.random(), choose.uniform(0.15, 0.42)
        spot = ellipsoid((wide, 0.1, 0.8 * wide), choose.choice(sauces), rings=3, segments=8)
        x, z = reach * far * np.cos(angle), reach * far * np.sin(angle)
        spots.append(spot.shifted(float(x), floor + 0.01, float(z)))
    return join([body, *spots])


KINDS: Mapping[str, Form] = {
    "Mug": Form(mug, (0.12, 0.1, 0.09), FILLED + DIRTY + BROKEN),
    "Cup": Form(cup, (0.11, 0.15, 0.11), FILLED + DIRTY + BROKEN),
    "Bowl": Form(bowl, (0.19, 0.09, 0.19), FILLED + DIRTY + BROKEN),
    "Plate": Form(plate, (0.25, 0.022, 0.25), DIRTY + BROKEN),
}
