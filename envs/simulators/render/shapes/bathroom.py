"""Toilets, sinks, tubs, taps and showers."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import numpy as np

from inhabit.envs.simulators.render.lathe import box, cylinder, lathe, torus
from inhabit.envs.simulators.render.mesh import Material, Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import (
    BRASS,
    BROKEN,
    CHROME,
    COTTON,
    FILLED,
    LINENS,
    ON,
    OPEN,
    PORCELAIN,
    STEEL,
    WATER,
    WHITE,
    Form,
    Look,
    cracks,
    plain,
    shade,
)
from inhabit.envs.simulators.render.shapes.parts import bar, block, drape, facing, squared, swing
from inhabit.envs.simulators.render.sweep import tube

_PANE = plain(0.72, 0.84, 0.86, gloss=0.9)
_ROOMY = 0.8
"""Width in metres from which on a toilet's box has room on all sides."""


def toilet(size: Vector, look: Look, choose: Random) -> Mesh:
    """A toilet with its tank at the back (-z); open, the lid leans on the tank."""
    x, y, z = size
    if x > _ROOMY:  # One of AI2-THOR's models: what lies on its tank tells where that is.
        return toilet((0.5 * x, y, 0.62 * z), look, choose).shifted(z=0.036 * z)
    floor, rim = -y / 2, 0.40 * y
    tank_z, bowl_z = 0.24 * z, 0.78 * z
    wide = 0.78 * x
    outline = [(0.0, 0.0), (0.58, 0.0), (0.55, 0.3), (0.72, 0.62), (1.0, 0.92), (1.0, 1.0)]
    hollow = [(0.78, 1.0), (0.62, 0.72), (0.3, 0.5), (0.0, 0.5)]
    bowl = lathe([*outline, *hollow], [PORCELAIN] * 8 + [WATER], segments=16)
    bowl = bowl.scaled(wide / 2, rim, bowl_z / 2).shifted(0, floor, (z - bowl_z) / 2)
    stand = block(
        (-0.3 * x, floor, -z / 2 + 0.02), (0.3 * x, floor + 0.97 * rim, -0.1 * z), PORCELAIN
    )
    tank = block(
        (-x / 2, floor + 0.98 * rim, -z / 2),
        (x / 2, 0.46 * y, tank_z - z / 2),
        PORCELAIN,
        bevel=0.03,
    )
    cover = block(
        (-x / 2, 0.455 * y, -z / 2), (x / 2, y / 2, tank_z - z / 2 + 0.01), PORCELAIN, bevel=0.012
    )
    lever = box((0.12 * x, 0.02 * y, 0.02 * z), CHROME).shifted(
        0.3 * x, 0.36 * y, tank_z - z / 2 + 0.01 * z
    )
    thick = 0.022 * y
    ring = [(1.0, 0.0), (1.0, 1.0), (0.7, 1.0), (0.7, 0.0), (1.0, 0.0)]
    seat = lathe(ring, WHITE, segments=16).scaled(wide / 2, thick, bowl_z / 2 * 0.97)
    lid = cylinder(1.0, 1.0, WHITE, bevel=0.3, segments=16)
    lid = lid.scaled(wide / 2, thick, bowl_z / 2 * 0.97).shifted(y=0.5 * thick)
    hinge_z = tank_z - z / 2 + 0.06 * z
    ahead = (z - bowl_z) / 2 - hinge_z
    lid = lid.shifted(0, 0, ahead).turned("x", -97 * look.openness)
    parts = [
        *(bowl, stand, tank, cover, lever),
        seat.shifted(0, floor + rim, (z - bowl_z) / 2),
        lid.shifted(0, floor + rim + thick, hinge_z),
    ]
    return join(parts)


def _basin(
    size: Vector, rim: float, material: Material, *, power: float, drain: bool = True
) -> Mesh:
    """A hollow with rounded corners in a box; `rim` is its border as a share of the half width."""
    inner = 1 - rim
    profile = [(0.0, 0.0), (inner, 0.0), (1.0, 0.9), (1.0, 1.0), (inner, 1.0)]
    # The floor is as low as the box: flat things lie on that, and have to be seen.
    profile += [(0.95 * inner, 0.35), (0.93 * inner, 0.15), (0.85 * inner, 0.015), (0.0, 0.005)]
    hollow = squared(lathe(profile, material, segments=24), power).fitted(size)
    if not drain:
        return hollow
    plug = cylinder(0.03, 0.006, CHROME, segments=10)
    return join([hollow, plug.shifted(y=0.005 * size[1] + 0.003 - size[1] / 2)])


def sink_basin(size: Vector, look: Look, choose: Random) -> Mesh:
    """The bowl of a sink: steel in most kitchens, porcelain elsewhere."""
    material = choose.choice((STEEL, PORCELAIN))
    return _with_water(_basin(size, 0.06, material, power=6), size, look)


def sink(size: Vector, look: Look, choose: Random) -> Mesh:
    """A sink to be let into a top; what is tall is a wash basin on its column."""
    x, y, z = size
    material = choose.choice((STEEL, PORCELAIN))
    if y < 0.5:
        return _with_water(_basin(size, 0.12, material, power=7), size, look)
    deep = min(0.22, 0.3 * y)
    bowl = _basin((x, deep, z), 0.14, PORCELAIN, power=4).shifted(y=(y - deep) / 2)
    profile = [
        (0.0, 0.0),
        (0.8, 0.0),
        (0.72, 0.08),
        (0.42, 0.3),
        (0.5, 0.8),
        (0.9, 1.0),
        (0.0, 1.0),
    ]
    column = lathe(profile, PORCELAIN, segments=16)
    # Its head touches the bowl from below, and does not show in it.
    column = column.scaled(0.25 * x, y - deep, 0.25 * z).shifted(0, -y / 2, -0.12 * z)
    return join([bowl, column])


def bathtub(size: Vector, look: Look, choose: Random) -> Mesh:
    """A built-in tub with a broad rim."""
    return _with_water(_basin(size, 0.14, PORCELAIN, power=7), size, look)


def bathtub_basin(size: Vector, look: Look, choose: Random) -> Mesh:
    """The hollow of a tub."""
    return _with_water(_basin(size, 0.05, PORCELAIN, power=5), size, look)


def _with_water(basin: Mesh, size: Vector, look: Look) -> Mesh:
    if look.filled is None:
        return basin
    x, y, z = size
    surface = squared(cylinder(1.0, 0.02, WATER, segments=24), 5).fitted((0.84 * x, 0.01, 0.84 * z))
    return join([basin, surface.shifted(y=0.2 * y)])


def faucet(size: Vector, look: Look, choose: Random) -> Mesh:
    """A tap whose spout points to +z, with a lever; it runs when on."""
    x, y, z = size
    metal = choose.choice((CHROME, CHROME, STEEL, BRASS))
    r = min(0.014, 0.11 * min(y, z))
    back, front, top, floor = -0.5 * z + 2.2 * r, 0.5 * z - r, 0.5 * y - r, -0.5 * y
    bend = np.linspace(0, np.pi, 6)
    middle, reach = (back + front) / 2, (front - back) / 2
    rise = min(reach, 0.45 * y)
    arch = [
        (0.0, top - rise + rise * float(np.sin(a)), middle - reach * float(np.cos(a))) for a in bend
    ]
    mouth = max(floor + 0.35 * y, top - rise - 0.2 * y)
    spout = tube([(0, floor, back), *arch, (0, mouth, front)], r, metal)
    foot = cylinder(2.2 * r, 0.08 * y, metal, top=1.7 * r, segments=12).shifted(
        0, floor + 0.04 * y, back
    )
    arm = [
        (0.0, floor + 0.25 * y, back),
        (0.3 * x, floor + 0.32 * y, back),
        (0.5 * x, floor + 0.5 * y, back),
    ]
    lever = tube(arm, [r, 0.8 * r, 0.6 * r], metal, sides=6)
    plate = box((x, 0.03 * y, 4.4 * r), metal, bevel=0.01 * y).shifted(0, floor + 0.015 * y, back)
    closed = join([spout, foot, lever, plate])
    if not look.on:
        return closed.fitted(size)
    length = mouth - floor + 0.12
    water = cylinder(0.75 * r, length, WATER, top=0.9 * r, segments=8)
    splash = cylinder(2.6 * r, 0.006, WATER, segments=12)
    flow = [water.shifted(0, mouth - length / 2, front), splash.shifted(0, mouth - length, front)]
    return join([closed, *flow]).fitted(size, like=closed)


def shower_head(size: Vector, look: Look, choose: Random) -> Mesh:
    """A head on an arm at the top, its pipe down the back; it rains when on."""
    x, y, z = size
    metal, r = choose.choice((CHROME, CHROME, STEEL)), 0.012
    back, wide = 0.02 - z / 2, 0.5 * min(x, z)
    pipe = tube(
        [(0, -y / 2, back), (0, 0.42 * y, back), (0, 0.5 * y - r, 0), (0, 0.45 * y, 0.1 * z)],
        r,
        metal,
        sides=6,
    )
    profile = [(0.0, 0.0), (1.0, 0.0), (1.0, 0.25), (0.3, 0.7), (0.2, 1.0), (0.0, 1.0)]
    head = lathe(profile, [STEEL, metal, metal, metal, metal], segments=14)
    head = head.scaled(wide, 0.06, wide).shifted(0, 0.45 * y - 0.06, z / 2 - wide)
    valve = cylinder(0.05, 0.03, metal, segments=12).along("z").shifted(0, -0.3 * y, back + 0.02)
    dry = join([pipe, head, valve])
    if not look.on:
        return dry.fitted(size)
    drops = []
    for ring, count in ((0.0, 1), (0.45, 6), (0.85, 9)):
        for k in range(count):
            angle, far = 2 * np.pi * k / count, ring * wide
            length = 1.2 + 0.15 * (k % 3)
            jet = cylinder(0.003, length, WATER, segments=4)
            at = (
                far * float(np.cos(angle)),
                0.45 * y - 0.06 - length / 2,
                far * float(np.sin(angle)),
            )
            drops.append(jet.shifted(*at).shifted(z=z / 2 - wide))
    return join([dry, *drops]).fitted(size, like=dry)


def _glazed(size: Vector, look: Look, choose: Random, handle: bool) -> Mesh:
    """A pane in a metal frame that faces +z."""
    x, y, z = size
    frame = min(0.04, 0.1 * min(x, y))
    deep = min(z, 0.05)
    parts = [box((x - frame, y - frame, 0.3 * deep), _PANE)]
    for k in (-1, 1):
        parts.append(box((frame, y, deep), CHROME).shifted(k * (x - frame) / 2))
        parts.append(box((x - 2 * frame, frame, deep), CHROME).shifted(y=k * (y - frame) / 2))
    for k in range(3):  # a gleam, so that it reads as glass
        gleam = box((0.035 * x, 0.5 * y, 0.001), shade(_PANE, 1.15)).turned("z", -18)
        parts.append(gleam.shifted((0.1 * k - 0.15) * x, 0.05 * y, 0.15 * deep))
    if handle:
        parts.append(bar(0.3, min(0.05, 0.5 * deep), CHROME).shifted(0.42 * x, 0, 0.15 * deep))
    if look.broken:
        parts.append(cracks(0.8 * x, 0.8 * y, choose).shifted(z=0.16 * deep))
    return join(parts)


@facing
def shower_door(size: Vector, look: Look, choose: Random) -> Mesh:
    """A glass door in a frame, on a hinge."""
    leaf = _glazed(size, look, choose, True).fitted(size)
    return swing(leaf, look.hinge or "right", 90 * look.openness)


@facing
def _pane(size: Vector, look: Look, choose: Random) -> Mesh:
    return _glazed(size, look, choose, False).fitted(size)


def shower_glass(size: Vector, look: Look, choose: Random) -> Mesh:
    """A fixed screen; one that is deep as well as wide has two panes at a corner."""
    x, y, z = size
    if min(x, z) < 0.35 * max(x, z):
        return _pane(size, look, choose)
    thin = 0.04
    across = _glazed((x, y, thin), look, choose, False).shifted(z=(z - thin) / 2)
    along = _glazed((z - thin, y, thin), look, choose, False).turned("y", 90)
    return join([across, along.shifted((x - thin) / 2, 0, -thin / 2)]).fitted(size)


@facing
def shower_curtain(size: Vector, look: Look, choose: Random) -> Mesh:
    """A curtain on a rod; open, it is drawn to one side."""
    cloth = choose.choice((COTTON, *LINENS))
    x, y, z = size
    rod = cylinder(0.012, x, CHROME, segments=8).along("x").shifted(y=y / 2 - 0.012)
    drawn = x * (1 - 0.72 * look.openness)
    side = -1 if look.hinge == "right" else 1
    hanging = drape(0.99 * drawn, y - 0.05, z, max(3.0, round(3.5 * x)), cloth)
    parts = [rod, hanging.shifted(side * (x - drawn) / 2, -0.025)]
    for k in range(6):
        ring = torus(0.018, 0.006, CHROME, segments=8, sides=4).along("x")
        parts.append(
            ring.shifted(side * (x - drawn) / 2 + ((k + 0.5) / 6 - 0.5) * drawn, y / 2 - 0.025)
        )
    return join(parts)


KINDS: Mapping[str, Form] = {
    "Toilet": Form(toilet, (0.53, 1.04, 0.78), OPEN),
    "Sink": Form(sink, (0.6, 0.2, 0.5)),
    "SinkBasin": Form(sink_basin, (0.45, 0.17, 0.38), FILLED[:1]),
    "Bathtub": Form(bathtub, (0.85, 0.6, 1.78)),
    "BathtubBasin": Form(bathtub_basin, (0.67, 0.42, 1.5)),
    "Faucet": Form(faucet, (0.2, 0.3, 0.22), ON),
    "ShowerHead": Form(shower_head, (0.25, 1.0, 0.25), ON),
    "ShowerDoor": Form(shower_door, (0.8, 1.96, 0.06), OPEN + BROKEN),
    "ShowerGlass": Form(shower_glass, (1.2, 1.96, 1.0), BROKEN),
    "ShowerCurtain": Form(shower_curtain, (1.5, 1.94, 0.12), OPEN),
}
