"""Parts that several shapes are made of: knobs, legs, soft and worn things."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import atan2, degrees, hypot
from random import Random

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.render.lathe import Point, box, cylinder, sheet, terrace
from inhabit.envs.simulators.render.mesh import Material, Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import Builder, Look, Side
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


def lying(ratio: float) -> Callable[[Builder], Builder]:
    """For the builder of something long and thin, laid into a box whichever way that box is long.

    Its size is (length, thickness, width): it builds along x, flat in y, handle at -x.

    Args:
        ratio: the thing's width to its length. A box much wider than that holds it cornerwise.
    """

    def laid(build: Builder) -> Builder:
        def built(size: Vector, look: Look, choose: Random) -> Mesh:
            long, middle, thin = sorted(range(3), key=lambda axis: (-size[axis], axis))
            length, width = size[long], size[middle]
            if width > max(2.2 * ratio, 0.45) * length:
                diagonal = hypot(length, width)
                straight = build((diagonal, size[thin], ratio * diagonal), look, choose)
                turned = straight.turned("y", -degrees(atan2(width, length)))
                mesh = turned.fitted((length, size[thin], width))
            else:
                mesh = build((length, size[thin], width), look, choose)
            source = {long: 0, thin: 1, middle: 2}
            return mesh.reordered(source[0], source[1], source[2])

        return built

    return laid


def facing(build: Builder) -> Builder:
    """For the builder of something flat with its face to +z: turned so that its thin side is the
    box's thin side.
    """

    def built(size: Vector, look: Look, choose: Random) -> Mesh:
        thin = int(np.argmin(size))
        if thin == 0:
            return build((size[2], size[1], size[0]), look, choose).turned("y", 90)
        if thin == 1:
            return build((size[0], size[2], size[1]), look, choose).turned("x", -90)
        return build(size, look, choose)

    return built


def cutout(
    outline: Sequence[Point], depth: float, material: Material, *, ends: Material | None = None
) -> Mesh:
    """A board of any outline, given as one sees it from the front: (x, y) corners; faces +z."""
    return prism(outline, depth, material, ends=ends).reordered(0, 2, 1)


def along_longer(build: Builder) -> Builder:
    """For the builder of something with its length along x: turned about y if the box is longer
    along z.
    """

    def built(size: Vector, look: Look, choose: Random) -> Mesh:
        if size[0] >= size[2]:
            return build(size, look, choose)
        return build((size[2], size[1], size[0]), look, choose).turned("y", 90)

    return built


def bumpy(mesh: Mesh, depth: float, waves: float, choose: Random) -> Mesh:
    """Pushed in and out along its normals by a few random waves.

    Args:
        mesh: any closed body; vertices at the same place move together.
        depth: of the bumps, as a share of the body's least side.
        waves: about how many bumps go around it.
        choose: source of the waves.
    """
    mesh = smoothed(mesh)
    low, high = mesh.bounds
    extent = (high - low).astype(np.float64)
    place = (mesh.vertices - low) / extent * 2 - 1
    push = np.zeros(len(place))
    for _ in range(5):
        direction = np.array([choose.gauss(0, 1) for _ in range(3)])
        direction *= waves / np.linalg.norm(direction)
        push += np.sin(place @ direction * 2 + choose.uniform(0, 6.28)) / 2.5
    moved = mesh.vertices + (mesh.normals * push[:, None] * depth * extent.min() / 2)
    return smoothed(replace(mesh, vertices=moved.astype(np.float32)))


def squared(mesh: Mesh, power: float) -> Mesh:
    """A body of revolution pressed towards a square as seen from above; 2 leaves it round.

    The circle x^2 + z^2 = r^2 becomes the superellipse |x|^p + |z|^p = r^p.
    """
    x, z = np.abs(mesh.vertices[:, 0].astype(np.float64)), np.abs(mesh.vertices[:, 2])
    radius, norm = np.hypot(x, z), (x**power + z**power) ** (1 / power)
    factor = np.divide(radius, norm, out=np.ones_like(radius), where=norm > 1e-12)
    moved = mesh.vertices * np.stack([factor, np.ones_like(factor), factor], axis=1)
    return smoothed(replace(mesh, vertices=moved.astype(np.float32)), weld=False)


def waving(mesh: Mesh, depth: float, waves: float) -> Mesh:
    """A thin upright slab bent into folds: pushed along z by a sine of x over its width."""
    low, high = mesh.bounds
    phase = (mesh.vertices[:, 0] - low[0]) / (high[0] - low[0]) * 2 * np.pi * waves
    moved = mesh.vertices.astype(np.float64)
    moved[:, 2] += depth / 2 * np.sin(phase)
    return smoothed(replace(mesh, vertices=moved.astype(np.float32)), weld=False)


def tapered(mesh: Mesh, top: float) -> Mesh:
    """Narrowed towards its upper end, where it is `top` times as wide and deep."""
    low, high = mesh.bounds
    share = (mesh.vertices[:, 1:2] - low[1]) / (high[1] - low[1])
    moved = mesh.vertices * np.concatenate(
        [1 + (top - 1) * share, np.ones_like(share), 1 + (top - 1) * share], axis=1
    )
    return smoothed(replace(mesh, vertices=moved.astype(np.float32)), weld=False)


def drape(width: float, height: float, depth: float, folds: float, material: Material) -> Mesh:
    """Cloth that hangs in folds across z, of that width, height and depth."""
    flat = sheet(np.ones((2, round(8 * folds) + 1)), (width, 0.02 * width, height), material)
    return waving(flat.turned("x", -90), depth, folds).fitted((width, height, depth))


def smoothed(mesh: Mesh, *, weld: bool = True) -> Mesh:
    """The mesh with normals that follow the surface.

    Args:
        mesh: any body.
        weld: smooth over hard edges too, where vertices lie at the same place.
    """
    if weld:
        place = np.round(mesh.vertices * 1e6).astype(np.int64)
        index = np.unique(place, axis=0, return_inverse=True)[1].reshape(-1)
    else:
        index = np.arange(len(mesh.vertices))
    a, b, c = (mesh.vertices[mesh.faces[:, i]].astype(np.float64) for i in range(3))
    across = np.cross(c - a, b - a)
    total: NDArray[np.float64] = np.zeros((index.max() + 1, 3))
    for corner in range(3):
        np.add.at(total, index[mesh.faces[:, corner]], across)
    length = np.linalg.norm(total, axis=1)
    spread = length > 1e-15
    normals = mesh.normals.astype(np.float64)
    normals[spread[index]] = (total / np.where(spread, length, 1.0)[:, None])[index][spread[index]]
    return replace(mesh, normals=normals.astype(np.float32))
