"""From surfaces and light to a picture."""

from __future__ import annotations

from functools import cache
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from envs.render.camera import View
from envs.render.fragments import Fragments
from envs.render.kernel import kernel
from envs.render.pattern import Paint

CURVE = 16384
BRIGHTEST = 4.0
BACKGROUND = (196, 208, 220)
"""What is seen where there is nothing: a pale sky, in bytes of sRGB."""


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

    The film-like curve of Narkowicz (2015), "ACES filmic tone mapping curve"; then IEC 61966-2-1.
    """
    x = np.linspace(0.0, BRIGHTEST, CURVE)
    x = np.clip(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0)
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
    view: View,
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
    places = (fragments.point, fragments.normal, *paint)
    color = np.empty_like(fragments.point)
    light_from_around(
        *places, open_sky, lighting.sky, lighting.ground, view.origin, color
    )
    for index, lamp in enumerate(lighting.lamps):
        reached = lit if index == 0 else np.ones_like(lit)
        light_from_lamp(*places, reached, lamp, view.origin, color)
    picture = np.empty((view.height * view.width, 3), np.float32)
    picture[:] = BACKGROUND
    develop(fragments.pixel, fragments.weight, color, tone_curve(), picture)
    return np.rint(picture).astype(np.uint8).reshape(view.height, view.width, 3)


@kernel
def light_from_around(point, normal, paint, finish, open_sky, sky, ground, origin, color):  # type: ignore[no-untyped-def]
    """Light from above and below, light mirrored from there, and light from within."""
    for k in range(len(point)):
        nx, ny, nz = normal[k, 0], normal[k, 1], normal[k, 2]
        dx, dy, dz = origin[0] - point[k, 0], origin[1] - point[k, 1], origin[2] - point[k, 2]
        away = 1.0 / sqrt(dx * dx + dy * dy + dz * dz + 1e-9)
        towards = max(0.0, nx * dx + ny * dy + nz * dz) * away
        gloss, glow, metal = finish[k, 0], finish[k, 1], finish[k, 2]
        mirror = mirrored(gloss, metal, towards)
        up = 0.5 + 0.5 * ny
        above = min(max(2.0 * towards * ny - dy * away + 0.4, 0.0), 1.0)
        tinted = max(metal, 0.5 * gloss * gloss)
        for i in range(3):
            around = ground[i] + (sky[i] - ground[i]) * up
            image = 0.8 * ground[i] + (1.25 * sky[i] - 0.8 * ground[i]) * above
            tint = 1.0 + (paint[k, i] - 1.0) * tinted
            light = paint[k, i] * (1.0 - mirror) * around + image * mirror * tint
            color[k, i] = open_sky[k] * light + 1.6 * glow * paint[k, i]


@kernel
def light_from_lamp(point, normal, paint, finish, lit, lamp, origin, color):  # type: ignore[no-untyped-def]
    """Matt light after Lambert and a highlight after Blinn (1977), fading with the distance."""
    for k in range(len(point)):
        nx, ny, nz = normal[k, 0], normal[k, 1], normal[k, 2]
        dx, dy, dz = origin[0] - point[k, 0], origin[1] - point[k, 1], origin[2] - point[k, 2]
        lx, ly, lz = lamp[0] - point[k, 0], lamp[1] - point[k, 1], lamp[2] - point[k, 2]
        away = 1.0 / sqrt(dx * dx + dy * dy + dz * dz + 1e-9)
        far = lx * lx + ly * ly + lz * lz + 1e-9
        near = 1.0 / sqrt(far)
        facing = max(0.0, nx * lx + ny * ly + nz * lz) * near
        strength = lit[k] / (1.0 + far / (lamp[6] * lamp[6]))
        hx, hy, hz = lx * near + dx * away, ly * near + dy * away, lz * near + dz * away
        half = max(0.0, nx * hx + ny * hy + nz * hz)
        power = min(1.0, half * half / (hx * hx + hy * hy + hz * hz + 1e-9))
        gloss, metal = finish[k, 0], finish[k, 2]
        power *= power
        for i in range(6):
            power += (power * power - power) * min(max(6.0 * gloss - i, 0.0), 1.0)
        shine = power * gloss * (0.15 + 0.85 * gloss) * min(1.0, 8.0 * facing)
        towards = max(0.0, nx * dx + ny * dy + nz * dz) * away
        matt = (1.0 - mirrored(gloss, metal, towards)) * facing
        for i in range(3):
            tint = 1.0 + (paint[k, i] - 1.0) * metal
            color[k, i] += strength * lamp[3 + i] * (paint[k, i] * matt + shine * tint)


@kernel
def mirrored(gloss, metal, towards):  # type: ignore[no-untyped-def]
    """Which share of the light a surface mirrors: more at its edge (Schlick 1994)."""
    edge = (1.0 - towards) * (1.0 - towards)
    polish = 0.06 + 0.5 * max(0.0, gloss - 0.5) + 0.5 * edge * edge * (1.0 - towards)
    return max(gloss * gloss * polish, 0.45 * metal)


@kernel
def develop(pixel, weight, color, curve, picture):  # type: ignore[no-untyped-def]
    """Lay the fragments' colours over the background, each by its part of the pixel."""
    for k in range(len(pixel)):
        for i in range(3):
            level = min(int(color[k, i] * (CURVE / BRIGHTEST)), CURVE - 1)
            picture[pixel[k], i] += weight[k] * (curve[level] - np.float32(BACKGROUND[i]))
