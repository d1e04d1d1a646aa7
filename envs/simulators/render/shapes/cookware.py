"""What one cooks with: pots, pans, kettles."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from inhabit.envs.simulators.render.lathe import lathe
from inhabit.envs.simulators.render.mesh import Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.crockery import vessel
from inhabit.envs.simulators.render.shapes.finishes import (
    BLACK,
    CHARCOAL,
    GLAZES,
    IRON,
    STEEL,
    liquid,
    mixed,
    shade,
)
from inhabit.envs.simulators.render.shapes.look import DIRTY, FILLED, OPEN, Form, Look
from inhabit.envs.simulators.render.shapes.parts import along_longer
from inhabit.envs.simulators.render.solids import box
from inhabit.envs.simulators.render.sweep import tube

_BURNT = (0.25, 0.14, 0.05)


def pot(size: Vector, look: Look, choose: Random) -> Mesh:
    """A stewing pot with an ear on either side."""
    metal = choose.choice((STEEL, STEEL, GLAZES[1], GLAZES[2], IRON))
    inside = mixed(shade(STEEL, 0.85), _BURNT, 0.7 if look.dirty else 0.0)
    outline = [(0.9, 0.0), (1.0, 0.08), (1.0, 0.94), (1.05, 1.0)]
    body = vessel(outline, metal, inside, liquid_name=look.filled, level=0.7, segments=20)

    def build(size: Vector) -> Mesh:
        x, y, z = size
        ear = 0.12
        scale = min(x / (2.1 + 2 * ear), z / 2.1)
        reach, h = 0.98 * scale, 0.8 * y
        bend = [(reach, h, -0.3 * scale), (reach + ear * scale, h, -0.25 * scale)]
        bend += [(px, py, -pz) for px, py, pz in reversed(bend)]
        handle = tube(bend, 0.045 * scale, BLACK, sides=6)
        parts = [body.scaled(scale, y, scale), handle, handle.scaled(-1, 1, 1)]
        return join(parts).fitted(size)

    return along_longer(size, build)


def pan(size: Vector, look: Look, choose: Random) -> Mesh:
    """A frying pan; its handle lies along the longer side of the box."""
    outside = choose.choice((IRON, STEEL, GLAZES[1]))
    inside = mixed(CHARCOAL, _BURNT, 0.8 if look.dirty else 0.0)
    outline = [(0.82, 0.0), (0.86, 0.05), (1.0, 1.0)]

    def build(size: Vector) -> Mesh:
        x, y, z = size
        radius = min(z, 0.75 * x) / 2
        body = vessel(outline, outside, inside, floor=0.16, liquid_name=look.filled, segments=22)
        length = x - 1.95 * radius
        path = [
            (0.95 * radius + k * length, h * y, 0.0) for k, h in ((0, 0.55), (0.4, 0.7), (1, 0.85))
        ]
        thick = min(0.08 * y + 0.004, 0.012)
        grip = tube(path, [0.8 * thick, thick, 1.2 * thick], BLACK, sides=6).scaled(1, 1, 1.6)
        return join([body.scaled(radius, 0.85 * y, radius), grip]).fitted(size)

    return along_longer(size, build)


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


KINDS: Mapping[str, Form] = {
    "Pot": Form(pot, (0.33, 0.16, 0.27), FILLED[:1] + DIRTY),
    "Pan": Form(pan, (0.28, 0.05, 0.46), DIRTY),
    "Kettle": Form(kettle, (0.21, 0.19, 0.19), OPEN[1:] + FILLED[:1]),
}
