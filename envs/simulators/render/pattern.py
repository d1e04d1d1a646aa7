"""Wood, tiles, cloth and stone, computed where they are seen.

A pattern is drawn in the object's own metres, so it stays with the object. It comes out as three
numbers: the share of the second colour, a factor for the brightness and one for the gloss. What is
finer than a pixel fades into its mean.
"""

from __future__ import annotations

from functools import cache
from math import floor, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.render.camera import Projection
from inhabit.envs.simulators.render.fragments import Fragments
from inhabit.envs.simulators.render.kernel import Array, Point, kernel
from inhabit.envs.simulators.render.material import Pattern
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


class Paint(NamedTuple):
    """What each fragment is made of."""

    color: NDArray[np.float32]
    """(K, 3), linear."""
    finish: NDArray[np.float32]
    """(K, 3): gloss 0..1, glow 0..1, metal 0..1."""


@cache
def clouds() -> NDArray[np.float32]:
    """A periodic texture (PERIOD, PERIOD) of smooth noise in four octaves, 0..1 with mean 1/2."""
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
    texture: NDArray[np.float32] = total.astype(np.float32)
    texture.setflags(write=False)
    return texture


def paint(fragments: Fragments, pack: Pack, view: Projection) -> Paint:
    """Find the colour and the finish of every fragment."""
    count = len(fragments.face)
    result = Paint(np.empty((count, 3), np.float32), np.empty((count, 3), np.float32))
    surfaces = pack.surfaces
    paint_fragments(
        *(fragments.face, fragments.point, fragments.normal, view.origin, view.focal),
        *(surfaces.owners, surfaces.materials, surfaces.rotations, surfaces.positions),
        *(surfaces.grains, surfaces.patterns, surfaces.paints, clouds()),
        *result,
    )
    return result


@kernel
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
    """Evaluate each fragment's pattern in its object's own frame."""
    for k in range(len(face)):
        material = materials[face[k]]
        share, tone, dull = 0.0, 1.0, 1.0
        pattern = patterns[material]
        if pattern > 0:
            body = owners[face[k]]
            x, y, z = point[k, 0] - origin[0], point[k, 1] - origin[1], point[k, 2] - origin[2]
            away = x * x + y * y + z * z + 1e-9
            slant = abs(x * normal[k, 0] + y * normal[k, 1] + z * normal[k, 2])
            pixel = away / focal / max(slant, 0.1 * sqrt(away))
            x, y, z = (
                point[k, 0] - positions[body, 0],
                point[k, 1] - positions[body, 1],
                point[k, 2] - positions[body, 2],
            )
            along, one, two = own_axes(rotations, body, grains[body], x, y, z)
            facing = own_axes(
                rotations, body, grains[body], normal[k, 0], normal[k, 1], normal[k, 2]
            )
            scale = max(paints[material, 6], 1e-4)
            share, tone, dull = evaluate(pattern, along, one, two, facing, scale, pixel, texture)
        for i in range(3):
            first, second = paints[material, i], paints[material, 3 + i]
            color[k, i] = (first + (second - first) * share) * tone
        finish[k, 0] = paints[material, 7] * dull
        finish[k, 1] = paints[material, 8]
        finish[k, 2] = 1.0 if pattern == BRUSHED else 0.0


@kernel
def own_axes(rotations: Array, body: int, grain: int, x: float, y: float, z: float) -> Point:
    """A vector along an object's grain and its two other axes."""
    one, two = (grain + 1) % 3, (grain + 2) % 3
    return (
        rotations[body, 0, grain] * x
        + rotations[body, 1, grain] * y
        + rotations[body, 2, grain] * z,
        rotations[body, 0, one] * x + rotations[body, 1, one] * y + rotations[body, 2, one] * z,
        rotations[body, 0, two] * x + rotations[body, 1, two] * y + rotations[body, 2, two] * z,
    )


@kernel
def evaluate(
    pattern: int,
    along: float,
    one: float,
    two: float,
    facing: Point,
    scale: float,
    pixel: float,
    texture: Array,
) -> Point:
    """Share of the second colour, brightness and gloss at a place on a surface.

    Args:
        pattern: its number.
        along: metres along the grain.
        one: metres along the second axis.
        two: metres along the third.
        facing: the surface's normal along the same axes.
        scale: metres from one repetition to the next.
        pixel: metres that a pixel covers.
        texture: of clouds.
    """
    if pattern == WOOD:
        return wood((one + 0.6 * two) / scale, along / scale, pixel / scale, texture), 1.0, 1.0
    if pattern == BRUSHED:
        fade = max(0.0, 1.0 - pixel / 0.004)
        streak = cloud(texture, (one + 0.6 * two) / 0.004, along / 0.2) - 0.5
        return 0.0, 1.0 + 0.35 * fade * streak, 1.0
    if pattern == PAINT:
        mottle = cloud(texture, (along + 0.7 * two) / 0.6, (one + 0.4 * two) / 0.6) - 0.5
        return 0.0, 1.0 + 0.07 * mottle, 1.0
    u, v = one, along
    if abs(facing[1]) > abs(facing[2]) and abs(facing[1]) > abs(facing[0]):
        u = two
    elif abs(facing[0]) >= abs(facing[2]):
        v = two
    if pattern == MARBLE:
        return marble(u / scale, v / scale, texture), 1.0, 1.0
    if pattern == SPECKLE:
        return speckle(u / scale, v / scale, pixel / scale, texture)
    if pattern == TILE:
        return tile(u / scale, v / scale, pixel / scale, texture)
    if pattern == STRIPES:
        return band(v / scale, 0.5, pixel / scale), 1.0, 1.0
    if pattern == FABRIC:
        return fabric(u / scale, v / scale, pixel / scale, texture)
    return planks(u / scale, v / scale, pixel / scale, texture)


@kernel
def wood(across: float, along: float, pixel: float, texture: Array) -> float:
    """Wavy growth rings and fine fibres along the grain."""
    bend = cloud(texture, across * 0.7, along * 0.12)
    ring = wave(across * 1.6 + 3.0 * bend)
    share = 0.5 + max(0.0, 1.0 - 4.0 * pixel) * 0.7 * (ring - 0.5)
    fine = max(0.0, 1.0 - 16.0 * pixel)
    if fine > 0.0:
        share += fine * 0.8 * (cloud(texture, across * 14.0, along * 0.7) - 0.5)
    return share


@kernel
def marble(u: float, v: float, texture: Array) -> float:
    """Thin veins along the middle heights of bent clouds."""
    bend = cloud(texture, u * 0.5 + 7.3, v * 0.5 + 1.7)
    height = cloud(texture, u * 0.6 + 1.6 * bend, v * 0.6 - 1.2 * bend)
    vein = max(0.0, 1.0 - abs(height - 0.5) * 9.0)
    soft = cloud(texture, u * 0.3 + 3.1, v * 0.3) - 0.35
    return min(1.0, 0.8 * vein * vein + 0.4 * max(0.0, soft))


@kernel
def speckle(u: float, v: float, pixel: float, texture: Array) -> Point:
    """Grains of the second colour and dark flecks between them, as in granite."""
    fade = max(0.0, 1.0 - pixel)
    grain = cloud(texture, 1.4 * u, 1.4 * v) + cloud(texture, 4.6 * u, 4.6 * v) - 0.5
    fleck = cloud(texture, 3.7 * u + 5.3, 3.7 * v + 1.9)
    share = 0.4 + fade * (0.2 + 0.7 * step(0.36, 0.64, grain) - 0.4)
    return share, 1.0 - 0.3 * fade * step(0.60, 0.72, fleck), 1.0


@kernel
def tile(u: float, v: float, pixel: float, texture: Array) -> Point:
    """Square tiles, each a little different, with matt joints in the second colour."""
    i, j = floor(u), floor(v)
    joint = 1.0 - (1.0 - line(u - i, 0.016, pixel)) * (1.0 - line(v - j, 0.016, pixel))
    own = scatter(i, j) - 0.5
    mottle = cloud(texture, u * 2.0 + i * 1.3, v * 2.0 + j * 2.9) - 0.5
    return joint, 1.0 + (0.10 * own + 0.06 * mottle) * (1.0 - joint), 1.0 - 0.8 * joint


@kernel
def planks(u: float, v: float, pixel: float, texture: Array) -> Point:
    """Boards one wide and nine long, shifted from row to row, each with a grain of its own."""
    i = floor(u)
    shifted = v / 9.0 + scatter(i, 0.0)
    j = floor(shifted)
    gap = max(line(u - i, 0.012, pixel), line(shifted - j, 0.0013, pixel / 9.0))
    grain = wood(1.25 * u + 13.7 * j, 1.25 * v + 29.3 * i, 1.25 * pixel, texture)
    tone = (0.80 + 0.40 * scatter(i, j + 0.5)) * (1.0 - 0.55 * gap)
    return 0.75 * grain + 0.1, tone, 1.0 - 0.5 * gap


@kernel
def fabric(u: float, v: float, pixel: float, texture: Array) -> Point:
    """A plain weave: threads over and under each other, slightly uneven."""
    u, v = 2.0 * u, 2.0 * v
    over = (floor(u) + floor(v)) % 2.0
    thread = wave(u) if over < 1.0 else wave(v)
    fade = max(0.0, 1.0 - 2.0 * pixel)
    uneven = cloud(texture, u * 0.2, v * 0.2) - 0.5
    return 0.25 + fade * 0.5 * (thread - 0.5), 1.0 + 0.12 * uneven, 1.0


@kernel
def scatter(i: int, j: float) -> float:
    """A number 0..1 of its own for each pair of numbers."""
    x = i * 0.7548776662 + j * 0.5698402910
    x = (x - floor(x)) * 61.7
    return x - floor(x)


@kernel
def cloud(texture: Array, u: float, v: float) -> float:
    """The cloud texture at (u, v), counted in its coarsest cells; linear between its texels."""
    x, y = u * CELL, v * CELL
    i, j = floor(x), floor(y)
    s, t = x - i, y - j
    i, j = i & (PERIOD - 1), j & (PERIOD - 1)
    k, n = (i + 1) & (PERIOD - 1), (j + 1) & (PERIOD - 1)
    low: float = texture[i, j] + (texture[k, j] - texture[i, j]) * s
    high: float = texture[i, n] + (texture[k, n] - texture[i, n]) * s
    return low + (high - low) * t


@kernel
def wave(x: float) -> float:
    """A smooth wave 0..1 with period 1."""
    t = abs(2.0 * (x - floor(x)) - 1.0)
    return t * t * (3.0 - 2.0 * t)


@kernel
def step(low: float, high: float, x: float) -> float:
    """A smooth rise from 0 to 1."""
    t = min(max((x - low) / (high - low), 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)


@kernel
def line(x: float, half: float, pixel: float) -> float:
    """How much of a pixel around `x` in 0..1 a line of that half width about 0 covers."""
    off = min(x, 1.0 - x)
    reach = 0.5 * pixel
    if reach >= 0.5:
        return 2.0 * half
    covered = min(off + reach, half) - max(off - reach, -half)
    return max(0.0, covered) / (2.0 * reach + 1e-9)


@kernel
def band(x: float, part: float, pixel: float) -> float:
    """How much of a pixel around `x` lies in bands that fill `part` of every unit."""
    reach = 0.5 * pixel + 1e-6
    low, high = x - reach, x + reach
    filled = floor(high) * part + min(high - floor(high), part)
    filled -= floor(low) * part + min(low - floor(low), part)
    return filled / (2.0 * reach)
