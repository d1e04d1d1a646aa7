"""Wood, tiles, cloth and stone, computed where they are seen.

A pattern is drawn in the object's own metres, so it stays with the object. It comes out as three
numbers: the share of the second colour, a factor for the brightness and one for the gloss. What is
finer than a pixel fades into its mean.
"""

from __future__ import annotations

from functools import cache
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.render.camera import Projection
from inhabit.envs.simulators.render.fragments import Fragments
from inhabit.envs.simulators.render.kernel import (
    LANES,
    Array,
    Real,
    Scratch,
    inlined,
    kernel,
    part,
    single,
)
from inhabit.envs.simulators.render.mesh import Pattern
from inhabit.envs.simulators.render.pack import Pack

WOOD, TILE, MARBLE, FABRIC, BRUSHED, SPECKLE, STRIPES, PAINT, PLANKS = (
    pattern.value
    for pattern in (
        *(Pattern.WOOD, Pattern.TILE, Pattern.MARBLE, Pattern.FABRIC, Pattern.BRUSHED),
        *(Pattern.SPECKLE, Pattern.STRIPES, Pattern.PAINT, Pattern.PLANKS),
    )
)
PERIOD = 256
CELL = 16
"""Side of the cloud texture, and of its coarsest cell, in texels."""
BLOCK = 256
"""Fragments that are worked on together: a constant, so that LLVM uses vector instructions."""
ALONG, ONE, TWO, FACE_ALONG, FACE_ONE, FACE_TWO, PIXEL = range(7)
"""Rows of a block: place and normal along the grain and the two other axes, and what a pixel
covers, in metres."""
UU, VV, U, V, CLOUD, KEPT, SHARE, TONE, DULL, ROWS = range(7, 17)
"""Places in the cloud texture and what is found there; the result."""


class Paint(NamedTuple):
    """What each fragment is made of."""

    color: NDArray[np.float32]
    """Linear colour, (3, K)."""
    finish: NDArray[np.float32]
    """Finish, (3, K): gloss 0..1, glow 0..1, metal 0..1."""


@cache
def clouds() -> NDArray[np.float32]:
    """A periodic texture of smooth noise in four octaves, 0..1 with mean 1/2.

    (PERIOD + 1, PERIOD + 1): the last row and column are the first ones again.
    """
    rng = np.random.default_rng(2024)
    total = np.zeros((PERIOD, PERIOD))
    for octave in range(4):
        cells = PERIOD // CELL * 2**octave
        lattice = rng.uniform(-1.0, 1.0, (cells, cells))
        place = np.arange(PERIOD) / PERIOD * cells
        low = place.astype(int)
        t = place - low
        t = t * t * (3 - 2 * t)
        high = (low + 1) % cells
        rows = lattice[low] * (1 - t)[:, None] + lattice[high] * t[:, None]
        total += (rows[:, low] * (1 - t) + rows[:, high] * t) * 0.55**octave
    total = 0.5 + 0.5 * (total - total.mean()) / np.abs(total - total.mean()).max()
    texture: NDArray[np.float32] = np.pad(total.astype(np.float32), (0, 1), mode="wrap")
    texture.setflags(write=False)
    return texture


def paint(fragments: Fragments, pack: Pack, view: Projection, scratch: Scratch) -> Paint:
    """Find the colour and the finish of every fragment. The result lies in `scratch`."""
    count = len(fragments.face)
    result = Paint(
        scratch.array("pattern.color", 3, count), scratch.array("pattern.finish", 3, count)
    )
    surfaces = pack.surfaces
    paint_fragments(
        *(fragments.face, fragments.point, fragments.normal, view.origin, view.focal),
        *(surfaces.owners, surfaces.materials, surfaces.rotations, surfaces.positions),
        *(surfaces.grains, surfaces.patterns, surfaces.paints, clouds()),
        *result,
    )
    return result


@kernel
@single
def paint_fragments(
    face: Array,
    point: Array,
    normal: Array,
    origin: Array,
    focal: float,
    owners: Array,
    materials: Array,
    rotations: Array,
    positions: Array,
    grains: Array,
    patterns: Array,
    paints: Array,
    texture: Array,
    color: Array,
    finish: Array,
) -> None:
    """Evaluate the patterns in the objects' own frames.

    Neighbours are mostly of one body and material: such a run is worked on together.
    """
    block = np.empty((ROWS, BLOCK), np.float32)
    end = 0
    while end < len(face):
        start, last = end, face[end]
        body, material = owners[last], materials[last]
        limit = min(start + BLOCK, len(face))
        while end < limit:
            f = face[end]
            if f != last:
                if owners[f] != body or materials[f] != material:
                    break
                last = f
            end += 1
        # What is written beyond the run belongs to later ones, which write over it.
        size, pattern = min((end - start + LANES - 1) & -LANES, BLOCK), patterns[material]
        if start + size > len(face):
            size = end - start
        if pattern > 0:
            turn, grain = rotations[body], grains[body]
            to_own_axes(point, start, size, turn, positions[body], grain, block)
            if pattern != PAINT:
                to_own_faces(point, normal, start, size, origin, focal, turn, grain, block)
            scale = max(paints[material, 6], 1e-4)
            evaluate(pattern, block, size, scale, texture)
        lay(pattern, paints, material, block, start, size, color, finish)


@inlined
@single
def to_own_axes(
    point: Array,
    start: int,
    size: int,
    rotation: Array,
    position: Array,
    grain: int,
    block: Array,
) -> None:
    """Places along an object's grain and its two other axes."""
    x, y, z = position[0], position[1], position[2]
    one, two = (grain + 1) % 3, (grain + 2) % 3
    ax, ay, az = rotation[0, grain], rotation[1, grain], rotation[2, grain]
    bx, by, bz = rotation[0, one], rotation[1, one], rotation[2, one]
    cx, cy, cz = rotation[0, two], rotation[1, two], rotation[2, two]
    end = start + size
    xs, ys, zs = point[0, start:end], point[1, start:end], point[2, start:end]
    for q in range(size):
        sx, sy, sz = xs[q] - x, ys[q] - y, zs[q] - z
        block[ALONG, q] = ax * sx + ay * sy + az * sz
        block[ONE, q] = bx * sx + by * sy + bz * sz
        block[TWO, q] = cx * sx + cy * sy + cz * sz


@inlined
@single
def to_own_faces(
    point: Array,
    normal: Array,
    start: int,
    size: int,
    origin: Array,
    focal: float,
    rotation: Array,
    grain: int,
    block: Array,
) -> None:
    """Normals along the same axes, and a pixel's size."""
    ox, oy, oz = np.float32(origin[0]), np.float32(origin[1]), np.float32(origin[2])
    one, two = (grain + 1) % 3, (grain + 2) % 3
    pixels = np.float32(focal)
    ax, ay, az = rotation[0, grain], rotation[1, grain], rotation[2, grain]
    bx, by, bz = rotation[0, one], rotation[1, one], rotation[2, one]
    cx, cy, cz = rotation[0, two], rotation[1, two], rotation[2, two]
    end = start + size
    xs, ys, zs = point[0, start:end], point[1, start:end], point[2, start:end]
    us, vs, ws = normal[0, start:end], normal[1, start:end], normal[2, start:end]
    for q in range(size):
        nx, ny, nz = us[q], vs[q], ws[q]
        block[FACE_ALONG, q] = ax * nx + ay * ny + az * nz
        block[FACE_ONE, q] = bx * nx + by * ny + bz * nz
        block[FACE_TWO, q] = cx * nx + cy * ny + cz * nz
        dx, dy, dz = xs[q] - ox, ys[q] - oy, zs[q] - oz
        away = dx * dx + dy * dy + dz * dz + 1e-9
        slant = abs(dx * nx + dy * ny + dz * nz)
        block[PIXEL, q] = away / pixels / max(slant, 0.1 * sqrt(away))


@inlined
@single
def lay(
    pattern: int,
    paints: Array,
    material: int,
    block: Array,
    start: int,
    size: int,
    color: Array,
    finish: Array,
) -> None:
    """Write the colours and the finish of a run."""
    a, b, c = paints[material, 0], paints[material, 1], paints[material, 2]
    gloss, glow = paints[material, 7], paints[material, 8]
    metal = 1.0 if pattern == BRUSHED else 0.0
    if pattern == 0:
        color[0, start : start + size] = a
        color[1, start : start + size] = b
        color[2, start : start + size] = c
        finish[0, start : start + size] = gloss
        finish[1, start : start + size] = glow
        finish[2, start : start + size] = metal
        return
    to_a, to_b, to_c = paints[material, 3] - a, paints[material, 4] - b, paints[material, 5] - c
    end = start + size
    red, green, blue = color[0, start:end], color[1, start:end], color[2, start:end]
    for q in range(size):
        red[q] = (a + to_a * block[SHARE, q]) * block[TONE, q]
    for q in range(size):
        green[q] = (b + to_b * block[SHARE, q]) * block[TONE, q]
    for q in range(size):
        blue[q] = (c + to_c * block[SHARE, q]) * block[TONE, q]
    polish = finish[0, start:end]
    for q in range(size):
        polish[q] = gloss * block[DULL, q]
    finish[1, start : start + size] = glow
    finish[2, start : start + size] = metal


@inlined
@single
def evaluate(pattern: int, block: Array, size: int, scale: float, texture: Array) -> None:
    """Write share of the second colour, brightness and gloss of a run.

    Up to three times places in the cloud texture are chosen, looked up and mixed in.
    """
    for q in range(size):
        block[TONE, q] = 1.0
        block[DULL, q] = 1.0
    lay_out(pattern, block, size, scale)
    turns = 1
    if pattern in (MARBLE, SPECKLE):
        turns = 3
    elif pattern == STRIPES:
        turns = 0
    elif pattern in (WOOD, PLANKS):
        for q in range(size):
            turns = max(turns, 2 if 1.0 - 16.0 * block[PIXEL, q] > 0.0 else 1)
    for turn in range(turns):
        aim(pattern, turn, block, size)
        find_clouds(block, size, texture)
        mix(pattern, turn, block, size)
    if pattern == PLANKS:
        for q in range(size):
            block[SHARE, q] = 0.75 * block[SHARE, q] + 0.1


@part
@single
def lay_out(pattern: int, block: Array, size: int, scale: float) -> None:
    """Write where each fragment lies on its surface (UU, VV), in the pattern's own units."""
    if pattern == WOOD:
        for q in range(size):
            block[UU, q] = (block[ONE, q] + 0.6 * block[TWO, q]) / scale
            block[VV, q] = block[ALONG, q] / scale
            block[PIXEL, q] = block[PIXEL, q] / scale
    elif pattern == BRUSHED:
        for q in range(size):
            block[UU, q] = (block[ONE, q] + 0.6 * block[TWO, q]) / 0.004
            block[VV, q] = block[ALONG, q] / 0.2
    elif pattern == PAINT:
        for q in range(size):
            block[UU, q] = (block[ALONG, q] + 0.7 * block[TWO, q]) / 0.6
            block[VV, q] = (block[ONE, q] + 0.4 * block[TWO, q]) / 0.6
    else:
        for q in range(size):
            along, one, two = block[ALONG, q], block[ONE, q], block[TWO, q]
            first, second = abs(block[FACE_ALONG, q]), abs(block[FACE_ONE, q])
            third = abs(block[FACE_TWO, q])
            ends = (second > third) & (second > first)
            sides = (first >= third) & (not ends)
            block[UU, q] = (two if ends else one) / scale
            block[VV, q] = (two if sides else along) / scale
            block[PIXEL, q] = block[PIXEL, q] / scale
    if pattern == STRIPES:
        for q in range(size):
            block[SHARE, q] = band(block[VV, q], 0.5, block[PIXEL, q])
    elif pattern == FABRIC:
        for q in range(size):
            block[UU, q], block[VV, q] = 2.0 * block[UU, q], 2.0 * block[VV, q]
    elif pattern == PLANKS:
        # Boards one wide and nine long, shifted from row to row, each with a grain of its own.
        for q in range(size):
            u, v, pixel = block[UU, q], block[VV, q], block[PIXEL, q]
            i = np.floor(u)
            shifted = v / 9.0 + scatter(i, 0.0)
            j = np.floor(shifted)
            gap = max(line(u - i, 0.012, pixel), line(shifted - j, 0.0013, pixel / 9.0))
            block[TONE, q] = (0.80 + 0.40 * scatter(i, j + 0.5)) * (1.0 - 0.55 * gap)
            block[DULL, q] = 1.0 - 0.5 * gap
            block[UU, q] = 1.25 * u + 13.7 * j
            block[VV, q] = 1.25 * v + 29.3 * i
            block[PIXEL, q] = 1.25 * pixel


@part
@single
def aim(pattern: int, turn: int, block: Array, size: int) -> None:
    """Choose where to look in the cloud texture (U, V)."""
    if pattern == TILE:
        for q in range(size):
            u, v = block[UU, q], block[VV, q]
            block[U, q] = u * 2.0 + np.floor(u) * 1.3
            block[V, q] = v * 2.0 + np.floor(v) * 2.9
        return
    a, b, u, v, bend = 1.0, 1.0, 0.0, 0.0, 0.0
    if pattern in (WOOD, PLANKS):
        a, b = (0.7, 0.12) if turn == 0 else (14.0, 0.7)
    elif pattern == FABRIC:
        a, b = 0.2, 0.2
    elif pattern == SPECKLE:
        a = 1.4 if turn == 0 else (4.6 if turn == 1 else 3.7)
        b = a
        u, v = (5.3, 1.9) if turn == 2 else (0.0, 0.0)
    elif pattern == MARBLE:
        a = 0.5 if turn == 0 else (0.6 if turn == 1 else 0.3)
        b = a
        u = 7.3 if turn == 0 else (0.0 if turn == 1 else 3.1)
        v = 1.7 if turn == 0 else 0.0
        bend = 1.0 if turn == 1 else 0.0
    if bend > 0.0:
        for q in range(size):
            block[U, q] = block[UU, q] * a + 1.6 * block[CLOUD, q]
            block[V, q] = block[VV, q] * b - 1.2 * block[CLOUD, q]
    else:
        for q in range(size):
            block[U, q] = block[UU, q] * a + u
            block[V, q] = block[VV, q] * b + v


@part
@single
def find_clouds(block: Array, size: int, texture: Array) -> None:
    """Write the cloud texture's values at (U, V), counted in its coarsest cells.

    They are linear between the texels. The texture has its first row and column once more at the
    end, so that a texel's neighbours are at fixed distances from it.
    """
    flat = texture.reshape(-1)
    places, texels = np.empty((1, BLOCK), np.uint32), np.empty((4, BLOCK), np.float32)
    texel, last, row = np.float32(CELL), np.int32(PERIOD - 1), np.int32(PERIOD + 1)
    for q in range(size):
        x, y = block[U, q] * texel, block[V, q] * texel
        i, j = np.floor(x), np.floor(y)
        block[U, q], block[V, q] = x - i, y - j
        places[0, q] = np.uint32((np.int32(i) & last) * row + (np.int32(j) & last))
    for q in range(size):
        spot = places[0, q]
        texels[0, q], texels[1, q] = flat[spot], flat[spot + np.uint32(PERIOD + 1)]
        texels[2, q], texels[3, q] = flat[spot + np.uint32(1)], flat[spot + np.uint32(PERIOD + 2)]
    for q in range(size):
        low = texels[0, q] + (texels[1, q] - texels[0, q]) * block[U, q]
        high = texels[2, q] + (texels[3, q] - texels[2, q]) * block[U, q]
        block[CLOUD, q] = low + (high - low) * block[V, q]


@part
@single
def mix(pattern: int, turn: int, block: Array, size: int) -> None:
    """Work the clouds that were found into the result."""
    if pattern in (WOOD, PLANKS):
        # Wavy growth rings, and fine fibres along the grain.
        if turn == 0:
            for q in range(size):
                ring = wave(block[UU, q] * 1.6 + 3.0 * block[CLOUD, q])
                block[SHARE, q] = 0.5 + max(0.0, 1.0 - 4.0 * block[PIXEL, q]) * 0.7 * (ring - 0.5)
        else:
            for q in range(size):
                fine = max(0.0, 1.0 - 16.0 * block[PIXEL, q])
                block[SHARE, q] += fine * 0.8 * (block[CLOUD, q] - 0.5)
    elif pattern == BRUSHED:
        # Fine streaks along the grain of metal.
        for q in range(size):
            fade = max(0.0, 1.0 - block[PIXEL, q] / 0.004)
            block[SHARE, q] = 0.0
            block[TONE, q] = 1.0 + 0.35 * fade * (block[CLOUD, q] - 0.5)
    elif pattern == PAINT:
        for q in range(size):
            block[SHARE, q] = 0.0
            block[TONE, q] = 1.0 + 0.07 * (block[CLOUD, q] - 0.5)
    elif pattern == MARBLE:
        # Thin veins along the middle heights of bent clouds.
        if turn < 2:
            for q in range(size):
                block[KEPT, q] = block[CLOUD, q]
        else:
            for q in range(size):
                vein = max(0.0, 1.0 - abs(block[KEPT, q] - 0.5) * 9.0)
                soft = block[CLOUD, q] - 0.35
                block[SHARE, q] = min(1.0, 0.8 * vein * vein + 0.4 * max(0.0, soft))
    elif pattern == SPECKLE:
        # Grains of the second colour and dark flecks between them, as in granite.
        if turn == 0:
            for q in range(size):
                block[KEPT, q] = block[CLOUD, q]
        elif turn == 1:
            for q in range(size):
                block[KEPT, q] = block[KEPT, q] + block[CLOUD, q] - 0.5
        else:
            for q in range(size):
                fade = max(0.0, 1.0 - block[PIXEL, q])
                grain = step(0.36, 0.64, block[KEPT, q])
                block[SHARE, q] = 0.4 + fade * (0.2 + 0.7 * grain - 0.4)
                block[TONE, q] = 1.0 - 0.3 * fade * step(0.60, 0.72, block[CLOUD, q])
    elif pattern == TILE:
        # Square tiles, each a little different, with matt joints in the second colour.
        for q in range(size):
            u, v, pixel = block[UU, q], block[VV, q], block[PIXEL, q]
            i, j = np.floor(u), np.floor(v)
            joint = 1.0 - (1.0 - line(u - i, 0.016, pixel)) * (1.0 - line(v - j, 0.016, pixel))
            own, mottle = scatter(i, j) - 0.5, block[CLOUD, q] - 0.5
            block[SHARE, q] = joint
            block[TONE, q] = 1.0 + (0.10 * own + 0.06 * mottle) * (1.0 - joint)
            block[DULL, q] = 1.0 - 0.8 * joint
    else:
        # A plain weave: threads over and under each other, slightly uneven.
        for q in range(size):
            u, v = block[UU, q], block[VV, q]
            over = (np.floor(u) + np.floor(v)) % 2.0
            thread = wave(u) if over < 1.0 else wave(v)
            fade = max(0.0, 1.0 - 2.0 * block[PIXEL, q])
            block[SHARE, q] = 0.25 + fade * 0.5 * (thread - 0.5)
            block[TONE, q] = 1.0 + 0.12 * (block[CLOUD, q] - 0.5)


@part
def scatter(i: Real, j: Real) -> Real:
    """A number 0..1 of its own for each pair of numbers.

    In float64: it jumps from 1 to 0, and whole boards and tiles take their tone from it.
    """
    x = np.float64(i) * 0.7548776662 + np.float64(j) * 0.5698402910
    x = (x - np.floor(x)) * 61.7
    return np.float32(x - np.floor(x))


@part
@single
def wave(x: Real) -> Real:
    """A smooth wave 0..1 with period 1."""
    t: Real = abs(2.0 * (x - np.floor(x)) - 1.0)
    return t * t * (3.0 - 2.0 * t)


@part
@single
def step(low: Real, high: Real, x: Real) -> Real:
    """A smooth rise from 0 to 1."""
    t = min(max((x - low) / (high - low), 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)


@part
@single
def line(x: Real, half: Real, pixel: Real) -> Real:
    """How much of a pixel around `x` in 0..1 a line of that half width about 0 covers."""
    off = min(x, 1.0 - x)
    reach = 0.5 * pixel
    if reach >= 0.5:
        return 2.0 * half
    covered = min(off + reach, half) - max(off - reach, -half)
    return max(0.0, covered) / (2.0 * reach + 1e-9)


@part
@single
def band(x: Real, part: Real, pixel: Real) -> Real:
    """How much of a pixel around `x` lies in bands that fill `part` of every unit."""
    reach = 0.5 * pixel + 1e-6
    low, high = x - reach, x + reach
    low, high = low - np.floor(low), high - np.floor(low)
    filled: Real = np.floor(high) * part + min(high - np.floor(high), part)
    filled -= min(low, part)
    return filled / (2.0 * reach)
