"""Cookware, crockery and cutlery."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import numpy as np

from inhabit.envs.simulators.render.lathe import Point, box, ellipsoid, lathe
from inhabit.envs.simulators.render.mesh import Material, Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import (
    BLACK,
    BROKEN,
    CHARCOAL,
    DIRTY,
    FILLED,
    GLASS,
    GLAZES,
    IRON,
    OPEN,
    PLASTICS,
    PORCELAIN,
    STEEL,
    WALNUT,
    Form,
    Look,
    liquid,
    mixed,
    plain,
    shade,
)
from inhabit.envs.simulators.render.shapes.parts import along_longer, lying
from inhabit.envs.simulators.render.sweep import prism, tube

_WALL = 0.08
"""Thickness of a vessel's wall, as a share of its radius."""


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


@along_longer
def mug(size: Vector, look: Look, choose: Random) -> Mesh:
    """A straight mug with its ear on the longer side of the box."""
    glaze = choose.choice(GLAZES)
    outline = [(0.86, 0.0), (0.96, 0.06), (1.0, 0.25), (1.0, 1.0)]
    body = vessel(outline, glaze, shade(PORCELAIN, 0.97), liquid_name=look.filled, level=0.88)
    x, y, z = size
    ear = min(max(x - z, 0.18 * z), 0.35 * z)
    across = x - ear
    reach, thick = across / 2 - ear / 2 - 0.03 * across, 0.09 * y
    bend = [(0.0, 0.82), (0.55, 0.83), (0.88, 0.73), (1.0, 0.56), (0.9, 0.4), (0.6, 0.27)]
    bend.append((0.0, 0.22))
    path = [(reach + k * (ear - thick), h * y, 0.0) for k, h in bend]
    round_part = body.scaled(across / 2, y, z / 2).shifted(-ear / 2)
    return join([round_part, tube(path, thick, glaze, sides=6)]).fitted(size)


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


_BURNT = (0.25, 0.14, 0.05)


@along_longer
def pot(size: Vector, look: Look, choose: Random) -> Mesh:
    """A stewing pot with an ear on either side."""
    metal = choose.choice((STEEL, STEEL, GLAZES[1], GLAZES[2], IRON))
    inside = mixed(shade(STEEL, 0.85), _BURNT, 0.7 if look.dirty else 0.0)
    outline = [(0.9, 0.0), (1.0, 0.08), (1.0, 0.94), (1.05, 1.0)]
    body = vessel(outline, metal, inside, liquid_name=look.filled, level=0.7, segments=20)
    x, y, z = size
    ear = 0.12
    scale = min(x / (2.1 + 2 * ear), z / 2.1)
    reach, h = 0.98 * scale, 0.8 * y
    bend = [(reach, h, -0.3 * scale), (reach + ear * scale, h, -0.25 * scale)]
    bend += [(px, py, -pz) for px, py, pz in reversed(bend)]
    handle = tube(bend, 0.045 * scale, BLACK, sides=6)
    parts = [body.scaled(scale, y, scale), handle, handle.scaled(-1, 1, 1)]
    return join(parts).fitted(size)


@along_longer
def pan(size: Vector, look: Look, choose: Random) -> Mesh:
    """A frying pan; its handle lies along the longer side of the box."""
    outside = choose.choice((IRON, STEEL, GLAZES[1]))
    inside = mixed(CHARCOAL, _BURNT, 0.8 if look.dirty else 0.0)
    outline = [(0.82, 0.0), (0.86, 0.05), (1.0, 1.0)]
    x, y, z = size
    radius = min(z, 0.75 * x) / 2
    body = vessel(outline, outside, inside, floor=0.16, liquid_name=look.filled, segments=22)
    length = x - 1.95 * radius
    path = [(0.95 * radius + k * length, h * y, 0.0) for k, h in ((0, 0.55), (0.4, 0.7), (1, 0.85))]
    thick = min(0.08 * y + 0.004, 0.012)
    grip = tube(path, [0.8 * thick, thick, 1.2 * thick], BLACK, sides=6).scaled(1, 1, 1.6)
    return join([body.scaled(radius, 0.85 * y, radius), grip]).fitted(size)


def kettle(size: Vector, look: Look, choose: Random) -> Mesh:
    """A kettle with a spout, a bow and a lid, which stands aside when it is open."""
    metal = choose.choice((STEEL, GLAZES[1], GLAZES[2], GLAZES[5]))
    round_body = [(0.0, 0.0), (0.9, 0.0), (1.0, 0.1), (0.94, 0.3), (0.72, 0.5), (0.42, 0.62)]
    neck = [(0.36, 0.62), (0.36, 0.5), (0.0, 0.5)]
    body = lathe([*round_body, *neck], [metal] * 7 + [CHARCOAL], segments=18)
    spout = tube([(0.7, 0.25, 0), (1.05, 0.42, 0), (1.25, 0.62, 0)], [0.2, 0.13, 0.09], metal)
    bow = [(-0.72, 0.5, 0), (-0.66, 0.85, 0), (-0.3, 0.97, 0), (0.3, 0.97, 0), (0.6, 0.8, 0)]
    handle = tube([*bow, (0.62, 0.52, 0)], 0.065, BLACK, sides=6)
    profile = [(0.0, 0.0), (0.43, 0.0), (0.38, 0.05), (0.08, 0.09), (0.09, 0.17), (0.0, 0.18)]
    lid = lathe(profile, [metal] * 3 + [BLACK] * 2, segments=14).shifted(y=0.62)
    closed = join([body, spout, handle, lid])
    raised = lid.shifted(0.43, -0.62).turned("z", 55 * look.openness).shifted(-0.43, 0.62)
    parts = [body, spout, handle, raised]
    if look.filled is not None:  # a gauge in the wall shows how much there is
        gauge = box((0.14, 0.3, 0.03), liquid(look.filled), bevel=0.01).turned("x", -12)
        parts.append(gauge.shifted(0, 0.25, 0.93))
    return join(parts).fitted(size, like=closed)


_BLADE = plain(0.62, 0.64, 0.67, gloss=0.85)


@lying(0.16)
def knife(size: Vector, look: Look, choose: Random) -> Mesh:
    """A kitchen knife: a dark grip and a pointed blade."""
    grip = choose.choice((BLACK, BLACK, WALNUT))
    x, y, z = size
    blade = [
        (-0.12, -0.5),
        (-0.12, 0.32),
        (0.22, 0.34),
        (0.42, 0.12),
        (0.5, -0.42),
        (0.48, -0.5),
    ]
    handle = [(-0.5, 0.35), (-0.46, 0.5), (-0.1, 0.42), (-0.1, -0.15), (-0.42, -0.22)]
    steel = prism([(a * x, b * z) for a, b in blade], 0.35 * y, _BLADE)
    return join([steel, prism([(a * x, b * z) for a, b in handle], y, grip)]).fitted(size)


@lying(0.1)
def butter_knife(size: Vector, look: Look, choose: Random) -> Mesh:
    """A table knife of one piece of steel, with a round end."""
    outline = [(-0.5, -0.3), (-0.5, 0.3), (-0.05, 0.22), (0.1, 0.3), (0.42, 0.5), (0.5, 0.1)]
    outline += [(0.48, -0.35), (0.0, -0.3)]
    x, y, z = size
    return prism([(a * x, b * z) for a, b in outline], y, _BLADE).fitted(size)


def _stem(size: Vector, end: float, material: Material, width: float = 0.5) -> Mesh:
    """A flat handle from -x that narrows towards `end`, and arches a little."""
    x, y, z = size
    thick = max(0.45 * y, 0.0012)
    outline = [(-0.5, -0.3), (-0.5, 0.3), (end - 0.2, 0.14), (end, 0.2), (end, -0.2)]
    outline.append((end - 0.2, -0.14))
    return prism([(a * x, 2 * b * width * z) for a, b in outline], thick, material)


@lying(0.13)
def fork(size: Vector, look: Look, choose: Random) -> Mesh:
    """A fork with four tines."""
    x, y, z = size
    palm = [(0.15, -0.2), (0.15, 0.2), (0.26, 0.5), (0.32, 0.5), (0.32, -0.5), (0.26, -0.5)]
    thick = max(0.5 * y, 0.0012)
    parts = [_stem(size, 0.17, _BLADE), prism([(a * x, b * z) for a, b in palm], thick, _BLADE)]
    for k in range(4):
        tine = box((0.2 * x, thick, 0.14 * z), _BLADE)
        parts.append(tine.shifted(0.4 * x, 0.2 * y, (k - 1.5) * 0.285 * z))
    return join(parts).fitted(size)


@lying(0.2)
def spoon(size: Vector, look: Look, choose: Random) -> Mesh:
    """A spoon with a hollow bowl."""
    x, y, z = size
    bowl = _bowl((0.3 * x, 0.9 * y, z), _BLADE).shifted(0.35 * x)
    return join([_stem(size, 0.22, _BLADE, 0.35).shifted(y=0.05 * y), bowl]).fitted(size)


def _bowl(size: Vector, material: Material) -> Mesh:
    """An oval hollow that fills a box."""
    profile = [(0.0, 0.0), (0.5, 0.08), (0.82, 0.4), (1.0, 1.0), (0.92, 1.0), (0.74, 0.48)]
    return lathe([*profile, (0.45, 0.22), (0.0, 0.16)], material, segments=12).fitted(size)


@lying(0.3)
def ladle(size: Vector, look: Look, choose: Random) -> Mesh:
    """A deep round bowl on a long handle that rises."""
    metal = choose.choice((STEEL, BLACK))
    x, y, z = size
    bowl = _bowl((0.34 * x, y, z), metal).shifted(0.33 * x)
    path = [(-0.5 * x, 0.42 * y, 0.0), (-0.05 * x, 0.42 * y, 0.0), (0.18 * x, 0.4 * y, 0.0)]
    arm = tube(path, [0.09 * z, 0.06 * z, 0.06 * z], metal, sides=6)
    return join([bowl, arm]).fitted(size)


@lying(0.28)
def spatula(size: Vector, look: Look, choose: Random) -> Mesh:
    """A turner: a slotted blade on a long handle."""
    blade = choose.choice((STEEL, BLACK, PLASTICS[1]))
    x, y, z = size
    parts = [_stem(size, 0.2, BLACK, 0.3).shifted(y=0.15 * y)]
    thick = max(0.2 * y, 0.0015)
    for k in range(4):
        parts.append(
            box((0.3 * x, thick, 0.19 * z), blade).shifted(0.35 * x, 0, (k - 1.5) * 0.27 * z)
        )
    for end in (0.21, 0.49):
        parts.append(box((0.05 * x, thick, z), blade).shifted(end * x - 0.01 * x))
    return join(parts).fitted(size)


KINDS: Mapping[str, Form] = {
    "Pot": Form(pot, (0.33, 0.16, 0.27), FILLED[:1] + DIRTY),
    "Pan": Form(pan, (0.28, 0.05, 0.46), DIRTY),
    "Kettle": Form(kettle, (0.21, 0.19, 0.19), OPEN[1:] + FILLED[:1]),
    "Mug": Form(mug, (0.12, 0.1, 0.09), FILLED + DIRTY + BROKEN),
    "Cup": Form(cup, (0.11, 0.15, 0.11), FILLED + DIRTY + BROKEN),
    "Bowl": Form(bowl, (0.19, 0.09, 0.19), FILLED + DIRTY + BROKEN),
    "Plate": Form(plate, (0.25, 0.022, 0.25), DIRTY + BROKEN),
    "Knife": Form(knife, (0.04, 0.015, 0.32)),
    "ButterKnife": Form(butter_knife, (0.02, 0.006, 0.24)),
    "Fork": Form(fork, (0.03, 0.02, 0.25)),
    "Spoon": Form(spoon, (0.04, 0.02, 0.21)),
    "Ladle": Form(ladle, (0.1, 0.06, 0.33)),
    "Spatula": Form(spatula, (0.08, 0.03, 0.32)),
}
