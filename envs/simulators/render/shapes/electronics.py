"""Screens and what one presses buttons on."""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, radians, sin
from random import Random

from inhabit.envs.simulators.render.lathe import cylinder
from inhabit.envs.simulators.render.material import Material
from inhabit.envs.simulators.render.mesh import Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import (
    BLACK,
    CHARCOAL,
    GREY,
    SCREEN,
    STEEL,
    WHITE,
    glowing,
    shade,
)
from inhabit.envs.simulators.render.shapes.look import BROKEN, ON, OPEN, Form, Look
from inhabit.envs.simulators.render.shapes.parts import cutout
from inhabit.envs.simulators.render.shapes.soft import squared
from inhabit.envs.simulators.render.shapes.wear import cracks
from inhabit.envs.simulators.render.solids import box

_SKY = glowing(0.36, 0.62, 0.92)
_SUN = glowing(1.0, 0.87, 0.45)
_HILL = glowing(0.28, 0.60, 0.33)
_MEADOW = glowing(0.50, 0.76, 0.36)
_BAR = glowing(0.93, 0.95, 0.97)


def screen(width: float, height: float, look: Look, choose: Random) -> Mesh:
    """A display on the plane z = 0 that faces +z: dark, or a landscape; perhaps cracked."""
    thin = 0.001
    seed = choose.randrange(1 << 30)
    parts = [box((width, height, thin), _SKY if look.on else SCREEN).shifted(z=thin / 2)]
    if look.on:
        sun = cylinder(0.12 * height, thin, _SUN, segments=14).along("z")
        parts.append(sun.shifted(0.25 * width, 0.22 * height, 1.5 * thin))
        for material, top, z in (
            (_HILL, (0.05, 0.2, -0.02, 0.12), 1.6),
            (_MEADOW, (-0.2, -0.05, -0.15, -0.02), 2.0),
        ):
            ridge = [((k / 3 - 0.5) * width, t * height) for k, t in enumerate(top)]
            outline = [(-width / 2, -height / 2), *ridge, (width / 2, -height / 2)]
            parts.append(cutout(outline, thin, material).shifted(z=z * thin))
        task = box((width, 0.06 * height, thin), _BAR).shifted(0, -0.47 * height, 2.6 * thin)
        parts.append(task)
    if look.broken:
        parts.append(cracks(0.95 * width, 0.95 * height, Random(seed)).shifted(z=3.2 * thin))
    return join(parts)


def television(size: Vector, look: Look, choose: Random) -> Mesh:
    """A flat television, on a foot if its box is deep enough for one."""
    x, y, z = size
    standing = z > 0.13
    foot = 0.09 * y if standing else 0.0
    deep = min(z, 0.06)
    tall = y - foot
    set_ = box((x, tall, deep), BLACK, bevel=0.006).shifted(y=foot / 2)
    picture = screen(0.95 * x, tall - 0.05 * x, look, choose).shifted(y=foot / 2, z=deep / 2)
    if not standing:
        return join([set_, picture]).fitted(size)
    neck = box((0.12 * x, 2 * foot, 0.5 * deep), CHARCOAL).shifted(y=foot - y / 2)
    base = squared(cylinder(0.5, 0.02, CHARCOAL, bevel=0.006, segments=20), 4).scaled(0.5 * x, 1, z)
    return join([set_, picture, neck, base.shifted(y=0.01 - y / 2)])


def desktop(size: Vector, look: Look, choose: Random) -> Mesh:
    """A computer: a monitor on a foot, its case beside it, a keyboard in front."""
    x, y, z = size
    monitor = television((0.7 * x, 0.75 * y, 0.3 * z), look, choose)
    case = box((0.2 * x, y, 0.8 * z), CHARCOAL, bevel=0.006)
    light = cylinder(0.01, 0.004, glowing(0.3, 0.9, 0.5) if look.on else GREY, segments=8).along(
        "z"
    )
    keys = _keyboard(0.62 * x, 0.26 * z, 0.02, BLACK)
    parts = [
        monitor.shifted(-0.15 * x, -0.125 * y, -0.2 * z),
        case.shifted(0.4 * x, 0, -0.1 * z),
        light.shifted(0.4 * x, 0.35 * y, 0.302 * z),
        keys.shifted(-0.17 * x, 0.01 - y / 2, 0.35 * z),
    ]
    return join(parts).fitted(size)


def _keyboard(width: float, depth: float, thick: float, case: Material) -> Mesh:
    """A slab with rows of keys, its front to +z."""
    parts = [box((width, 0.6 * thick, depth), case).shifted(y=-0.2 * thick)]
    key = shade(case, 0.6) if case != BLACK else shade(BLACK, 1.9)
    for row in range(4):
        strip = box((0.94 * width, 0.4 * thick, 0.17 * depth), key)
        parts.append(strip.shifted(0, 0.3 * thick, (row - 1.5) * 0.235 * depth))
    return join(parts)


def laptop(size: Vector, look: Look, choose: Random) -> Mesh:
    """A laptop whose screen looks to +z. A tall box is that of the opened one, as in THOR."""
    case = choose.choice((STEEL, CHARCOAL, GREY, WHITE))
    seed = choose.randrange(1 << 30)
    x, y, z = size
    thick = 0.018
    if y < 0.25 * z:
        closed = _laptop((x, min(thick, y / 2), z, z), 0.0, case, Look(), Random(seed))
        parts = _laptop((x, min(thick, y / 2), z, z), look.openness * 110, case, look, Random(seed))
        return parts.fitted(size, like=closed)
    # The opened lid leans back: rising y, it reaches back as far as the base is short of z.
    widest = 105.0
    lid = (y - thick) / sin(radians(widest))
    base = max(z + lid * cos(radians(widest)), 0.6 * lid)
    form = (x, thick, base, min(lid, base))
    opened = _laptop(form, widest, case, Look(), Random(seed))
    return _laptop(form, widest * look.openness, case, look, Random(seed)).fitted(size, like=opened)


def _laptop(
    form: tuple[float, float, float, float],
    angle: float,
    case: Material,
    look: Look,
    choose: Random,
) -> Mesh:
    """(width, thickness, depth of the base, length of the lid), opened by `angle` degrees."""
    x, thick, depth, lid_length = form
    parts = [box((x, thick, depth), case, bevel=0.2 * thick)]
    keys = _keyboard(0.86 * x, 0.46 * depth, 0.1 * thick, BLACK)
    parts.append(keys.shifted(0, 0.55 * thick, -0.13 * depth))
    pad = box((0.3 * x, 0.05 * thick, 0.26 * depth), shade(case, 0.85))
    parts.append(pad.shifted(0, 0.525 * thick, 0.31 * depth))
    lid = box((x, 0.6 * thick, lid_length), case, bevel=0.15 * thick)
    picture = screen(0.92 * x, 0.88 * lid_length, look, choose).turned("x", 90)
    leaf = join([lid, picture.shifted(y=-0.3 * thick)]).shifted(
        y=0.3 * thick + 0.003, z=lid_length / 2
    )
    leaf = leaf.turned("x", -angle).shifted(y=thick / 2, z=-depth / 2)
    return join([*parts, leaf])


KINDS: Mapping[str, Form] = {
    "Television": Form(television, (1.08, 0.72, 0.25), ON + BROKEN),
    "Desktop": Form(desktop, (0.75, 0.57, 0.46), ON),
    "Laptop": Form(
        laptop,
        (0.38, 0.27, 0.33),
        (
            *OPEN,
            ("on", Look(openness=1.0, on=True)),
            ("broken", Look(openness=1.0, broken=True)),
        ),
    ),
}
