"""From surfaces and light to a picture."""

from __future__ import annotations

from functools import cache
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.render.camera import Projection
from inhabit.envs.simulators.render.fragments import Fragments
from inhabit.envs.simulators.render.kernel import Array, kernel
from inhabit.envs.simulators.render.pattern import Paint

CELL = 4
"""Pixels per side of the cells in which glare is spread."""
WIDTH = 0.07
"""How far it reaches, in parts of the picture's height."""
STRENGTH = 0.5


def add_halo(
    fragments: Fragments, paint: Paint, view: Projection, color: NDArray[np.float32]
) -> None:
    """Add to the colours (K, 3), linear, what shining things spill over their edges."""
    if not paint.finish[:, 1].any():
        return
    rows, columns = -(-view.height // CELL) + 2, -(-view.width // CELL) + 2
    spill = np.zeros((rows, columns, 3), np.float32)
    collect(fragments.pixel, fragments.weight, *paint, view.width, spill)
    reach = max(1, round(WIDTH * view.height / CELL / 2))
    for _ in range(3):
        spill = mean_around(mean_around(spill, reach).transpose(1, 0, 2), reach).transpose(1, 0, 2)
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
        if finish[k, 1] > 0.0:
            i, j = pixel[k] // width // CELL + 1, pixel[k] % width // CELL + 1
            share = STRENGTH * weight[k] * finish[k, 1] / (CELL * CELL)
            for d in range(3):
                spill[i, j, d] += share * paint[k, d]


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
            color[k, d] += above + (below - above) * s


CURVE = 16384
BRIGHTEST = 4.0
SHOULDER = 0.45
BACKGROUND = (196, 208, 220)
"""The background: a pale sky, in sRGB bytes."""


class Lighting(NamedTuple):
    """The light in a room, in linear units."""

    sky: NDArray[np.float64]
    """(3,), what comes from above everywhere."""
    ground: NDArray[np.float64]
    """(3,), what comes from below."""
    lamps: NDArray[np.float64]
    """(L, 7): position, colour times strength, reach in metres. The first casts the shadows."""


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
) -> NDArray[np.uint8]:
    """Colour every fragment and lay it into the picture.

    Args:
        fragments: the surfaces that are seen.
        paint: what they are made of.
        lit: (K,), how much of the first lamp each sees, 0..1.
        open_sky: (K,), how much light from all around reaches each, 0..1.
        lighting: the light.
        view: where from.

    Returns:
        (H, W, 3) uint8.
    """
    color = np.empty_like(fragments.point)
    light_fragments(
        *(fragments.point, fragments.normal, *paint, lit, open_sky, *lighting, view.origin, color)
    )
    add_halo(fragments, paint, view, color)
    picture = np.empty((view.height * view.width, 3), np.float32)
    picture[:] = BACKGROUND
    develop(fragments.pixel, fragments.weight, color, tone_curve(), picture)
    return np.rint(picture).astype(np.uint8).reshape(view.height, view.width, 3)


@kernel
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
    for k in range(len(point)):
        nx, ny, nz = normal[k, 0], normal[k, 1], normal[k, 2]
        dx, dy, dz = origin[0] - point[k, 0], origin[1] - point[k, 1], origin[2] - point[k, 2]
        away = 1.0 / sqrt(dx * dx + dy * dy + dz * dz + 1e-9)
        dx, dy, dz = dx * away, dy * away, dz * away
        towards = max(0.0, nx * dx + ny * dy + nz * dz)
        gloss, glow, metal = finish[k, 0], finish[k, 1], finish[k, 2]
        mirror = mirrored(gloss, metal, towards)
        dim = 1.0 - 0.8 * glow
        up = 0.5 + 0.5 * ny
        above = min(max(2.0 * towards * ny - dy + 0.4, 0.0), 1.0)
        tinted = max(metal, 0.5 * gloss * gloss)
        for i in range(3):
            around = ground[i] + (sky[i] - ground[i]) * up
            image = ground[i] + (1.7 * sky[i] - ground[i]) * above
            tint = 1.0 + (paint[k, i] - 1.0) * tinted
            light = paint[k, i] * (1.0 - mirror) * around + image * mirror * tint
            color[k, i] = open_sky[k] * dim * light + 1.4 * glow * paint[k, i]
        for j in range(lamps.shape[0]):
            lx, ly, lz = (
                lamps[j, 0] - point[k, 0],
                lamps[j, 1] - point[k, 1],
                lamps[j, 2] - point[k, 2],
            )
            facing = nx * lx + ny * ly + nz * lz
            strength = dim * lit[k] if j == 0 else dim
            if facing <= 0.0 or strength <= 0.0:
                continue
            far = lx * lx + ly * ly + lz * lz + 1e-9
            near = 1.0 / sqrt(far)
            facing *= near
            strength /= 1.0 + far / (lamps[j, 6] * lamps[j, 6])
            shine = 0.0
            if gloss > 0.05:
                hx, hy, hz = lx * near + dx, ly * near + dy, lz * near + dz
                half = max(0.0, nx * hx + ny * hy + nz * hz)
                square = hx * hx + hy * hy + hz * hz + 1e-9
                shine = highlight(half * half / square, gloss) * min(1.0, 8.0 * facing)
            matt = (1.0 - mirror) * facing
            for i in range(3):
                tint = 1.0 + (paint[k, i] - 1.0) * metal
                color[k, i] += strength * lamps[j, 3 + i] * (paint[k, i] * matt + shine * tint)


@kernel
def mirrored(gloss: float, metal: float, towards: float) -> float:
    """Which share of the light a surface mirrors: more at its edge (Schlick 1994)."""
    edge = (1.0 - towards) * (1.0 - towards)
    polish = 0.06 + 0.5 * max(0.0, gloss - 0.5) + 0.5 * edge * edge * (1.0 - towards)
    return max(gloss * gloss * polish, 0.45 * metal)


@kernel
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
            level = min(int(color[k, i] * (CURVE / BRIGHTEST)), CURVE - 1)
            picture[pixel[k], i] += weight[k] * (curve[level] - np.float32(BACKGROUND[i]))
