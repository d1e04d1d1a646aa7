"""From what a pixel sees to its colour."""

from __future__ import annotations

from functools import cache
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from envs.render.camera import View
from envs.render.kernel import kernel
from envs.render.pack import Surfaces
from envs.render.raster import Surface, Triangles
from envs.render.shadow import ShadowMap, light_through

CURVE = 16384
BRIGHTEST = 4.0


class Lighting(NamedTuple):
    """The light in a room, in linear units in which 1 shows a white wall as white."""

    sky: NDArray[np.float64]
    """(3,), what comes from above everywhere."""
    ground: NDArray[np.float64]
    """(3,), what comes from below."""
    lamps: NDArray[np.float64]
    """(L, 8): position, colour times strength, radius, reach in metres. The first casts shadow."""


@cache
def tone_curve() -> NDArray[np.uint8]:
    """sRGB bytes for linear light 0..`BRIGHTEST` in `CURVE` steps.

    The film-like curve of Narkowicz (2015), "ACES filmic tone mapping curve"; then IEC 61966-2-1.
    """
    x = np.linspace(0.0, BRIGHTEST, CURVE)
    x = np.clip(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0)
    x = np.where(x <= 0.0031308, 12.92 * x, 1.055 * x ** (1 / 2.4) - 0.055)
    curve = np.round(x * 255).astype(np.uint8)
    curve.setflags(write=False)
    return curve


def shade(
    surface: Surface,
    triangles: Triangles,
    surfaces: Surfaces,
    lighting: Lighting,
    shadow: ShadowMap | None,
    view: View,
) -> NDArray[np.uint8]:
    """Colour every pixel; (H, W, 3) uint8."""
    picture = np.empty((view.height, view.width, 3), np.uint8)
    if shadow is None:
        shadow = ShadowMap(np.zeros((1, 1), np.float32), np.zeros(3), np.zeros((3, 3)), 1.0)
    shade_pixels(
        surface.nearness,
        surface.face,
        triangles.vertices,
        triangles.faces,
        surfaces,
        lighting,
        shadow,
        view.origin,
        view.axes,
        view.focal,
        tone_curve(),
        picture,
    )
    return picture


@kernel
def shade_pixels(
    nearness, face, vertices, faces, surfaces, lighting, shadow, origin, axes, focal, curve, picture
):  # type: ignore[no-untyped-def]
    height, width = nearness.shape
    color = np.empty(3)
    for row in range(height):
        for column in range(width):
            f = face[row, column]
            if f < 0:
                picture[row, column, 0] = 196
                picture[row, column, 1] = 208
                picture[row, column, 2] = 220
                continue
            z = 1.0 / nearness[row, column]
            sx = (column - 0.5 * (width - 1)) / focal
            sy = (0.5 * (height - 1) - row) / focal
            dx = axes[2, 0] + sx * axes[0, 0] + sy * axes[1, 0]
            dy = axes[2, 1] + sx * axes[0, 1] + sy * axes[1, 1]
            dz = axes[2, 2] + sx * axes[0, 2] + sy * axes[1, 2]
            shade_point(
                origin[0] + dx * z,
                origin[1] + dy * z,
                origin[2] + dz * z,
                dx,
                dy,
                dz,
                f,
                vertices,
                faces,
                surfaces,
                lighting,
                shadow,
                color,
            )
            for k in range(3):
                picture[row, column, k] = curve[min(int(color[k] * (CURVE / BRIGHTEST)), CURVE - 1)]


@kernel
def shade_point(px, py, pz, dx, dy, dz, f, vertices, faces, surfaces, lighting, shadow, color):  # type: ignore[no-untyped-def]
    nx, ny, nz = normal_at(px, py, pz, dx, dy, dz, f, vertices, faces, surfaces.normals)
    paint = surfaces.paints[surfaces.materials[f]]
    gloss, glow = paint[7], paint[8]
    up = 0.5 + 0.5 * ny
    for k in range(3):
        color[k] = paint[k] * (
            lighting.ground[k] + (lighting.sky[k] - lighting.ground[k]) * up + 1.5 * glow
        )
    length = sqrt(dx * dx + dy * dy + dz * dz)
    for i in range(lighting.lamps.shape[0]):
        lamp = lighting.lamps[i]
        lx, ly, lz = lamp[0] - px, lamp[1] - py, lamp[2] - pz
        far = sqrt(lx * lx + ly * ly + lz * lz) + 1e-9
        lx, ly, lz = lx / far, ly / far, lz / far
        facing = nx * lx + ny * ly + nz * lz
        if facing <= 0.0:
            continue
        strength = 1.0 / (1.0 + (far / lamp[7]) ** 2)
        if i == 0 and shadow.nearness.shape[0] > 1:
            strength *= light_through(
                shadow.nearness,
                shadow.origin,
                shadow.axes,
                shadow.focal,
                px,
                py,
                pz,
                nx,
                ny,
                nz,
                lamp[6],
            )
        hx, hy, hz = lx - dx / length, ly - dy / length, lz - dz / length
        half = max(0.0, (nx * hx + ny * hy + nz * hz) / sqrt(hx * hx + hy * hy + hz * hz + 1e-12))
        shine = gloss * half ** (6.0 + 120.0 * gloss)
        for k in range(3):
            color[k] += strength * lamp[3 + k] * (paint[k] * facing + shine)


@kernel
def normal_at(px, py, pz, dx, dy, dz, f, vertices, faces, normals):  # type: ignore[no-untyped-def]
    """The surface's direction at a point of a triangle, smooth, towards the viewer."""
    a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
    ux, uy, uz = (
        vertices[b, 0] - vertices[a, 0],
        vertices[b, 1] - vertices[a, 1],
        vertices[b, 2] - vertices[a, 2],
    )
    vx, vy, vz = (
        vertices[c, 0] - vertices[a, 0],
        vertices[c, 1] - vertices[a, 1],
        vertices[c, 2] - vertices[a, 2],
    )
    wx, wy, wz = px - vertices[a, 0], py - vertices[a, 1], pz - vertices[a, 2]
    gx, gy, gz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    area = gx * gx + gy * gy + gz * gz + 1e-30
    t = ((wy * vz - wz * vy) * gx + (wz * vx - wx * vz) * gy + (wx * vy - wy * vx) * gz) / area
    s = ((uy * wz - uz * wy) * gx + (uz * wx - ux * wz) * gy + (ux * wy - uy * wx) * gz) / area
    t = min(max(t, 0.0), 1.0)
    s = min(max(s, 0.0), 1.0 - t)
    r = 1.0 - t - s
    nx = normals[a, 0] * r + normals[b, 0] * t + normals[c, 0] * s
    ny = normals[a, 1] * r + normals[b, 1] * t + normals[c, 1] * s
    nz = normals[a, 2] * r + normals[b, 2] * t + normals[c, 2] * s
    if (gx * dx + gy * dy + gz * dz > 0.0) != (gx * nx + gy * ny + gz * nz < 0.0):
        nx, ny, nz = -nx, -ny, -nz
    length = sqrt(nx * nx + ny * ny + nz * nz + 1e-20)
    return nx / length, ny / length, nz / length
