"""Pieces that many objects share: boards, doors, handles, legs, hollow boxes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import atan2, degrees, hypot

import numpy as np

from inhabit.envs.simulators.render.lathe import Point, cylinder
from inhabit.envs.simulators.render.material import Material
from inhabit.envs.simulators.render.mesh import Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.look import Side
from inhabit.envs.simulators.render.solids import box, terrace
from inhabit.envs.simulators.render.sweep import prism


def block(low: Vector, high: Vector, material: Material, *, bevel: float = 0.0) -> Mesh:
    """A box between its lowest and its highest corner."""
    size = (high[0] - low[0], high[1] - low[1], high[2] - low[2])
    return box(size, material, bevel=bevel).shifted(
        (low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2
    )


def hollow_box(
    size: Vector, wall: float, material: Material, *, inside: Material | None = None
) -> Mesh:
    """A box without a lid: open at +y."""
    x, y, z = size
    wall = min(wall, 0.4 * min(x, z), 0.8 * y)
    inner = (x - 2 * wall, z - 2 * wall)
    return terrace(
        [(x, z, -y / 2), (x, z, y / 2), (*inner, y / 2), (*inner, wall - y / 2)],
        (material, material, inside or material),
    )


def cabinet_box(
    size: Vector, wall: float, material: Material, *, inside: Material | None = None
) -> Mesh:
    """A box without a front: open at +z."""
    x, y, z = size
    return hollow_box((y, z, x), wall, material, inside=inside).along("z")


def panel(width: float, height: float, thickness: float, material: Material, frame: float) -> Mesh:
    """A door or drawer front that faces +z, its middle sunk behind a frame; 0 for a flat one."""
    t = thickness / 2
    rings = [(height, width, -t), (height, width, t)]
    if 0 < frame < 0.4 * min(width, height):
        sunk = min(0.45 * thickness, 0.3 * frame)
        h, w = height - 2 * frame, width - 2 * frame
        rings += [(h, w, t), (h - 2 * sunk, w - 2 * sunk, t - sunk)]
    return terrace(rings, material).along("z")


def bar(length: float, depth: float, material: Material) -> Mesh:
    """An upright handle; it stands `depth` off the plane z = 0, towards +z."""
    thick = 0.45 * depth
    grip = box((thick, length, thick), material, bevel=0.3 * thick).shifted(z=depth - thick / 2)
    foot = block((-thick / 3, -thick / 2, 0), (thick / 3, thick / 2, depth - thick), material)
    reach = 0.5 * length - thick
    return join([grip, foot.shifted(y=reach), foot.shifted(y=-reach)])


def knob(radius: float, depth: float, material: Material) -> Mesh:
    """A round knob on the plane z = 0, towards +z."""
    grip = cylinder(0.7 * radius, 0.6 * depth, material, top=radius, segments=8)
    stem = cylinder(0.4 * radius, 0.4 * depth, material, segments=6)
    upright = [stem.shifted(y=0.2 * depth), grip.shifted(y=0.7 * depth)]
    return join(upright).along("z")


def swing(leaf: Mesh, hinge: Side, angle: float) -> Mesh:
    """A door, closed where it is, swung open about its hinge by `angle` degrees towards +z."""
    low, high = leaf.bounds
    edge = float(high[0] if hinge == "left" else low[0])
    turn = angle if hinge == "left" else -angle
    z = float(low[2])
    return leaf.shifted(-edge, 0, -z).turned("y", turn).shifted(edge, 0, z)


def legs(size: Vector, thick: float, material: Material, *, round_: bool = False) -> list[Mesh]:
    """Four legs at the corners of a box."""
    x, y, z = size
    thick = min(thick, x / 3, z / 3)
    if round_:
        leg = cylinder(0.35 * thick, y, material, top=0.5 * thick, segments=10)
    else:
        leg = box((thick, y, thick), material)
    dx, dz = (x - thick) / 2, (z - thick) / 2
    return [leg.shifted(sx * dx, 0, sz * dz) for sx in (-1, 1) for sz in (-1, 1)]


def lying(size: Vector, ratio: float, build: Callable[[Vector], Mesh]) -> Mesh:
    """Something long and thin, laid into a box whichever way that box is long.

    Args:
        size: the box.
        ratio: the thing's width to its length. A box much wider than that holds it cornerwise.
        build: gets (length, thickness, width), and builds it along x, flat in y, handle at -x.
    """
    long, middle, thin = sorted(range(3), key=lambda axis: (-size[axis], axis))
    length, width = size[long], size[middle]
    if width > max(2.2 * ratio, 0.45) * length:
        diagonal = hypot(length, width)
        straight = build((diagonal, size[thin], ratio * diagonal))
        turned = straight.turned("y", -degrees(atan2(width, length)))
        mesh = turned.fitted((length, size[thin], width))
    else:
        mesh = build((length, size[thin], width))
    source = {long: 0, thin: 1, middle: 2}
    return mesh.reordered(source[0], source[1], source[2])


def facing(size: Vector, build: Callable[[Vector], Mesh]) -> Mesh:
    """Something flat with its face to +z, turned so that its thin side is the box's thin side."""
    thin = int(np.argmin(size))
    if thin == 0:
        return build((size[2], size[1], size[0])).turned("y", 90)
    if thin == 1:
        return build((size[0], size[2], size[1])).turned("x", -90)
    return build(size)


def cutout(
    outline: Sequence[Point], depth: float, material: Material, *, ends: Material | None = None
) -> Mesh:
    """A board of any outline, given as one sees it from the front: (x, y) corners; faces +z."""
    return prism(outline, depth, material, ends=ends).reordered(0, 2, 1)


def along_longer(size: Vector, build: Callable[[Vector], Mesh]) -> Mesh:
    """Something with its length along x, turned about y if the box is longer along z."""
    if size[0] >= size[2]:
        return build(size)
    return build((size[2], size[1], size[0])).turned("y", 90)
