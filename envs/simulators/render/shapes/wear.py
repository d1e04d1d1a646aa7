"""What use does to things: dirt, shards and cracks."""

from __future__ import annotations

from dataclasses import replace
from math import cos, pi, sin
from random import Random

from inhabit.envs.simulators.render.material import Color, Material, Pattern
from inhabit.envs.simulators.render.mesh import Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import CRACK, mixed
from inhabit.envs.simulators.render.solids import box
from inhabit.envs.simulators.render.sweep import prism

_GRIME: Color = (0.42, 0.33, 0.20)


def soiled(mesh: Mesh) -> Mesh:
    """The same mesh with stained, dull surfaces."""
    return replace(mesh, palette=tuple(_stained(material) for material in mesh.palette))


def _stained(material: Material) -> Material:
    if material.glow > 0:
        return material
    dull = mixed(material, _GRIME, 0.15)
    stain = mixed(material, _GRIME, 0.6).color
    return replace(
        dull, pattern=Pattern.SPECKLE, second=stain, scale=0.03, gloss=0.3 * material.gloss
    )


def shards(whole: Mesh, size: Vector, choose: Random) -> Mesh:
    """What is left of something that fell apart: pieces of its materials on the box's ground."""
    x, y, z = size
    thick = min(0.04 * min(x, z), 0.3 * y)
    pieces = []
    for k in range(9):
        reach = choose.uniform(0.12, 0.24) * min(x, z)
        start = choose.uniform(0, 2 * pi)
        turns = (0.0, choose.uniform(1.2, 2.2), choose.uniform(2.8, 4.2), choose.uniform(4.6, 5.6))
        outline = [(reach * cos(start + t), reach * sin(start + t)) for t in turns]
        material = whole.palette[int(whole.materials[k * 37 % len(whole.materials)])]
        piece = prism(outline, thick, material).turned("x", choose.uniform(-22, 22))
        far = 0.0 if k == 0 else choose.uniform(0.2, 0.36)
        around = k * 2.4
        piece = piece.shifted(far * x * cos(around), 0, far * z * sin(around))
        pieces.append(piece.shifted(y=-float(piece.bounds[0][1]) + thick * (k % 3) * 0.4))
    heap = join(pieces)
    low, high = heap.bounds
    tall = min(float(high[1] - low[1]), y)
    return heap.fitted((x, tall, z)).shifted(y=(tall - y) / 2)


def cracks(width: float, height: float, choose: Random) -> Mesh:
    """A star of cracks to lay on a pane that faces +z at z = 0; it is half a millimetre thick."""
    x, y = choose.uniform(-0.2, 0.2) * width, choose.uniform(-0.2, 0.2) * height
    thick = max(0.008 * min(width, height), 0.0008)
    rays = []
    for k in range(8):
        angle = k * pi / 4 + choose.uniform(-0.3, 0.3)
        reach = choose.uniform(0.25, 0.42) * min(width, height)
        ray = box((reach, thick * choose.uniform(0.7, 1.4), 0.0005), CRACK).shifted(reach / 2)
        bend = box((0.5 * reach, 0.7 * thick, 0.0005), CRACK).shifted(0.25 * reach)
        kink = bend.turned("z", choose.choice((-35, 35))).shifted(0.55 * reach)
        rays += [part.turned("z", angle * 180 / pi) for part in (ray, kink)]
    star = join(rays)
    low, high = star.bounds
    dx = min(max(x, -width / 2 - float(low[0])), width / 2 - float(high[0]))
    dy = min(max(y, -height / 2 - float(low[1])), height / 2 - float(high[1]))
    return star.shifted(dx, dy, 0.00025)
