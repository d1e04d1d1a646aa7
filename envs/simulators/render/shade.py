"""From surfaces and light to an image."""

from __future__ import annotations

from functools import cache
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.render.camera import Projection
from inhabit.envs.simulators.render.fragments import Fragments
from inhabit.envs.simulators.render.kernel import Array, Scratch, inlined, kernel, part, single
from inhabit.envs.simulators.render.pattern import Paint

CELL = 4
"""Pixels per side of the cells in which glare is spread."""
WIDTH = 0.07
"""How far glare reaches, in parts of the image's height."""
STRENGTH = 0.5


def add_halo(
    fragments: Fragments, paint: Paint, view: Projection, color: NDArray[np.float32]
) -> None:
    """Add to the colours (3, K), linear, what shining things spill over their edges."""
    if not paint.finish[1].any():
        return
    rows, columns = -(-view.height // CELL) + 2, -(-view.width // CELL) + 2
    spill = np.zeros((rows, columns, 3), np.float32)
    collect(fragments.pixel, fragments.weight, *paint, view.width, spill)
    reach = max(1, round(WIDTH * view.height / CELL / 2))
    for _ in range(3):
        spill = mean_around(mean_around(spill, reach).transpose(1, 0, 2), reach).transpose(1, 0, 2)
    if fragments.every:
        spread_whole(view.width, np.ascontiguousarray(spill), color)
    else:
        spread(fragments.pixel, view.width, np.ascontiguousarray(spill), color)


def mean_around(rows: NDArray[np.float32], reach: int) -> NDArray[np.float32]:
    """The mean over 2 * reach + 1 rows; three times in turn is close to Gauss's curve."""
    edge = np.zeros((1 + reach, *rows.shape[1:]), np.float32)
    total = np.concatenate((edge, rows, edge[1:])).cumsum(axis=0, dtype=np.float64)
    length = 2 * reach + 1
    mean: NDArray[np.float32] = ((total[length:] - total[:-length]) / length).astype(np.float32)
    return mean


@kernel
def collect(
    pixel: Array, weight: Array, paint: Array, finish: Array, width: int, spill: Array
) -> None:
    """Sum the light that comes from within in each cell; the outermost cells stay empty."""
    for k in range(len(pixel)):
        if finish[1, k] > 0.0:
            i, j = pixel[k] // width // CELL + 1, pixel[k] % width // CELL + 1
            share = STRENGTH * weight[k] * finish[1, k] / (CELL * CELL)
            for d in range(3):
                spill[i, j, d] += share * paint[d, k]


@kernel
def spread(pixel: Array, width: int, spill: Array, color: Array) -> None:
    """Add to each fragment what the cells around it spill, linear between their middles."""
    for k in range(len(pixel)):
        y = (pixel[k] // width + 0.5) / CELL + 0.5
        x = (pixel[k] % width + 0.5) / CELL + 0.5
        i, j = int(y), int(x)
        s, t = y - i, x - j
        for d in range(3):
            above = spill[i, j, d] + (spill[i, j + 1, d] - spill[i, j, d]) * t
            below = spill[i + 1, j, d] + (spill[i + 1, j + 1, d] - spill[i + 1, j, d]) * t
            color[d, k] += above + (below - above) * s


@kernel
@single
def spread_whole(width: int, spill: Array, color: Array) -> None:
    """The same where there is one fragment for each pixel: four rows lie between the same cells."""
    lines = np.empty((6, width), np.float32)
    last = -1
    for row in range(color.shape[1] // width):
        y = (np.float32(row) + 0.5) / np.float32(CELL) + 0.5
        i = int(y)
        t = y - np.float32(i)
        if i != last:
            last = i
            for column in range(width):
                x = (np.float32(column) + 0.5) / np.float32(CELL) + 0.5
                j = int(x)
                s = x - np.float32(j)
                for d in range(3):
                    one, two = spill[i, j, d], spill[i, j + 1, d]
                    lines[d, column] = one + (two - one) * s
                    one, two = spill[i + 1, j, d], spill[i + 1, j + 1, d]
                    lines[3 + d, column] = one + (two - one) * s
        for d in range(3):
            above, below = lines[d], lines[3 + d]
            line = color[d, row * width : (row + 1) * width]
            for column in range(width):
                line[column] += above[column] + (below[column] - above[column]) * t


CURVE = 16384
BRIGHTEST = 4.0
LEVELS = np.float32(CURVE / BRIGHTEST)
"""Steps of the curve for each unit of light."""
BLOCK = 256
"""Fragments that are worked on together: a constant, so that LLVM uses vector instructions."""
SHOULDER = 0.45
BACKGROUND = (196, 208, 220)
"""The background: a pale sky, in sRGB bytes."""


class Lighting(NamedTuple):
    """The light in a room, in linear units."""

    sky: NDArray[np.float32]
    """Light from above, everywhere, (3,)."""
    ground: NDArray[np.float32]
    """Light from below, (3,)."""
    lamps: NDArray[np.float32]
    """Lamps, (L, 7): position, colour times strength, reach in metres. The first casts shadows."""


@cache
def tone_curve() -> NDArray[np.uint8]:
    """Bytes of sRGB for linear light 0..`BRIGHTEST` in `CURVE` steps.

    Light is shown as it is up to `SHOULDER`; above, it nears white ever more slowly, as on film.
    Then IEC 61966-2-1.
    """
    x = np.linspace(0.0, BRIGHTEST, CURVE)
    rest = 1.0 - SHOULDER
    x = np.where(x < SHOULDER, x, 1.0 - rest * np.exp(-(x - SHOULDER) / rest))
    x = np.where(x <= 0.0031308, 12.92 * x, 1.055 * x ** (1 / 2.4) - 0.055)
    curve = np.round(x * 255).astype(np.uint8)
    curve.setflags(write=False)
    return curve


def shade(
    fragments: Fragments,
    paint: Paint,
    lit: NDArray[np.float32],
    open_sky: NDArray[np.float32],
    lighting: Lighting,
    view: Projection,
    scratch: Scratch,
) -> NDArray[np.uint8]:
    """Colour every fragment and lay it into the image.

    Args:
        fragments: the surfaces that are seen.
        paint: what they are made of.
        lit: (K,), how much of the first lamp each sees, 0..1.
        open_sky: (K,), how much light from all around reaches each, 0..1.
        lighting: the light.
        view: where from.
        scratch: for what lies between.

    Returns:
        (H, W, 3) uint8.
    """
    color = scratch.array("shade.color", 3, len(fragments.face))
    light_fragments(
        *(fragments.point, fragments.normal, *paint, lit, open_sky, *lighting, view.origin, color)
    )
    add_halo(fragments, paint, view, color)
    if fragments.every:
        result: NDArray[np.uint8] = np.empty((view.height, view.width, 3), np.uint8)
        develop_whole(color, tone_curve(), result.reshape(-1, 3))
        return result
    picture = scratch.array("shade.picture", view.height * view.width, 3)
    picture[:] = BACKGROUND
    develop(fragments.pixel, fragments.weight, color, tone_curve(), picture)
    rounded: NDArray[np.uint8] = np.rint(picture).astype(np.uint8)
    return rounded.reshape(view.height, view.width, 3)


@kernel
@single
def light_fragments(
    point: Array,
    normal: Array,
    paint: Array,
    finish: Array,
    lit: Array,
    open_sky: Array,
    sky: Array,
    ground: Array,
    lamps: Array,
    origin: Array,
    color: Array,
) -> None:
    """Light from all around, mirrored or not, from within, and from each lamp."""
    given = np.empty((14, BLOCK), np.float32)
    block = np.empty((12, BLOCK), np.float32)
    light = np.empty((3, BLOCK), np.float32)
    ox, oy, oz = np.float32(origin[0]), np.float32(origin[1]), np.float32(origin[2])
    for start in range(0, len(lit), BLOCK):
        size = min(BLOCK, len(lit) - start)
        end = start + size
        for d in range(3):
            copy(point[d, start:end], given[d])
            copy(normal[d, start:end], given[3 + d])
            copy(paint[d, start:end], given[6 + d])
            copy(finish[d, start:end], given[9 + d])
        copy(lit[start:end], given[12])
        copy(open_sky[start:end], given[13])
        for k in range(size):
            nx, ny, nz = given[3, k], given[4, k], given[5, k]
            dx, dy, dz = ox - given[0, k], oy - given[1, k], oz - given[2, k]
            away = 1.0 / sqrt(dx * dx + dy * dy + dz * dz + 1e-9)
            dx, dy, dz = dx * away, dy * away, dz * away
            towards = max(0.0, nx * dx + ny * dy + nz * dz)
            gloss, glow, metal = given[9, k], given[10, k], given[11, k]
            block[0, k], block[1, k], block[2, k] = dx, dy, dz
            block[3, k] = mirrored(gloss, metal, towards)
            block[4, k] = 1.0 - 0.8 * glow
            block[5, k] = 0.5 + 0.5 * ny
            block[6, k] = min(max(2.0 * towards * ny - dy + 0.4, 0.0), 1.0)
            block[7, k] = max(metal, 0.5 * gloss * gloss)
        for i in range(3):
            below, above = ground[i], sky[i]
            for k in range(size):
                own = given[6 + i, k]
                around = below + (above - below) * block[5, k]
                image = below + (1.7 * above - below) * block[6, k]
                tint = 1.0 + (own - 1.0) * block[7, k]
                ambient = own * (1.0 - block[3, k]) * around + image * block[3, k] * tint
                light[i, k] = given[13, k] * block[4, k] * ambient + 1.4 * given[10, k] * own
        for j in range(lamps.shape[0]):
            add_lamp(lamps, j, given, block, light, size)
        for i in range(3):
            copy(light[i, :size], color[i, start:end])


@part
def copy(numbers: Array, to: Array) -> None:
    """Copy a row. Of a slice LLVM knows that no index is negative, and uses vector instructions."""
    for k in range(len(numbers)):
        to[k] = numbers[k]


@inlined
@single
def add_lamp(lamps: Array, j: int, given: Array, block: Array, light: Array, size: int) -> None:
    """Add what a lamp sends to a block of fragments: matt, and its highlight."""
    x, y, z, reach = lamps[j, 0], lamps[j, 1], lamps[j, 2], lamps[j, 6]
    reached = 0.0
    for k in range(size):
        nx, ny, nz = given[3, k], given[4, k], given[5, k]
        lx, ly, lz = x - given[0, k], y - given[1, k], z - given[2, k]
        facing = nx * lx + ny * ly + nz * lz
        strength = block[4, k] * given[12, k] if j == 0 else block[4, k]
        block[8, k] = 1.0 if (facing > 0.0) & (strength > 0.0) else 0.0
    for k in range(size):
        reached = max(reached, block[8, k])
    if reached == 0.0:
        return
    for k in range(size):
        nx, ny, nz = given[3, k], given[4, k], given[5, k]
        lx, ly, lz = x - given[0, k], y - given[1, k], z - given[2, k]
        facing = nx * lx + ny * ly + nz * lz
        strength = block[4, k] * given[12, k] if j == 0 else block[4, k]
        far = lx * lx + ly * ly + lz * lz + 1e-9
        near = 1.0 / sqrt(far)
        facing *= near
        block[9, k] = strength / (1.0 + far / (reach * reach))
        gloss = given[9, k]
        hx, hy, hz = lx * near + block[0, k], ly * near + block[1, k], lz * near + block[2, k]
        half = max(0.0, nx * hx + ny * hy + nz * hz)
        square = hx * hx + hy * hy + hz * hz + 1e-9
        shine = highlight(half * half / square, gloss) * min(1.0, 8.0 * facing)
        block[10, k] = shine if gloss > 0.05 else 0.0
        block[11, k] = (1.0 - block[3, k]) * facing
    for i in range(3):
        strong = lamps[j, 3 + i]
        for k in range(size):
            own = given[6 + i, k]
            tint = 1.0 + (own - 1.0) * given[11, k]
            more = block[9, k] * strong * (own * block[11, k] + block[10, k] * tint)
            light[i, k] = light[i, k] + more if block[8, k] > 0.0 else light[i, k]


@part
@single
def mirrored(gloss: float, metal: float, towards: float) -> float:
    """Which share of the light a surface mirrors: more at its edge (Schlick 1994)."""
    edge = (1.0 - towards) * (1.0 - towards)
    polish = 0.06 + 0.5 * max(0.0, gloss - 0.5) + 0.5 * edge * edge * (1.0 - towards)
    return max(gloss * gloss * polish, 0.45 * metal)


@part
@single
def highlight(square: float, gloss: float) -> float:
    """Blinn's (1977) from the squared cosine, with Schlick's (1994) quotient for the power."""
    exponent = 4.0 + 250.0 * gloss * gloss
    square = min(1.0, square)
    power = square / (exponent - exponent * square + square)
    return power * (gloss - 0.05) * (0.15 + 0.85 * gloss)


@kernel
def develop(pixel: Array, weight: Array, color: Array, curve: Array, picture: Array) -> None:
    """Lay the fragments' colours over the background, each by its part of the pixel."""
    for k in range(len(pixel)):
        for i in range(3):
            level = min(max(int(color[i, k] * (CURVE / BRIGHTEST)), 0), CURVE - 1)
            picture[pixel[k], i] += weight[k] * (curve[level] - np.float32(BACKGROUND[i]))


@kernel
@single
def develop_whole(color: Array, curve: Array, picture: Array) -> None:
    """`develop` where there is one fragment for each pixel."""
    places = np.empty((1, BLOCK), np.uint32)
    for start in range(0, len(picture), BLOCK):
        size = min(BLOCK, len(picture) - start)
        for i in range(3):
            line, bytes_ = color[i, start : start + size], picture[start : start + size, i]
            for k in range(size):
                level = max(np.int32(line[k] * LEVELS), np.int32(0))
                places[0, k] = np.uint32(min(level, np.int32(CURVE - 1)))
            for k in range(size):
                bytes_[k] = curve[places[0, k]]
