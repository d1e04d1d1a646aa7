"""How much light from all around reaches a place: corners and contacts are darker.

After "Scalable ambient obscurance" (McGuire, Mara and Luebke 2012): every second pixel looks around
with few taps, each in its own directions, and the result is averaged over 4 x 4 of them.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.render.camera import Projection
from inhabit.envs.simulators.render.fragments import Fragments
from inhabit.envs.simulators.render.kernel import LANES, Array, Scratch, kernel, single
from inhabit.envs.simulators.render.raster import VisibilityBuffer

REACH = np.float32(0.45)
"""Metres within which things keep light from one another."""
STRENGTH = np.float32(1.6)
FARTHEST = np.float32(60.0)
"""Pixels beyond which no tap looks."""
TAPS = 8
BLOCK = 256
"""Places in a row that are worked on together: a constant, for LLVM's vector instructions."""
SPIRAL = np.array(
    [
        [
            [
                [
                    (k + 0.5)
                    / TAPS
                    * wave(2 * np.pi * (k * 3 / TAPS + ((4 * i + j % 4) * 7 % 16) / 16))
                    for j in range(BLOCK)
                ]
                for k in range(TAPS)
            ]
            for i in range(4)
        ]
        for wave in (np.cos, np.sin)
    ],
    np.float32,
)
"""(2, 4, TAPS, BLOCK): columns and rows of a spiral over the unit disc, turned for each place of a
block of 4 x 4 by row and column."""


def open_sky(
    surface: VisibilityBuffer,
    planes: NDArray[np.float32],
    fragments: Fragments,
    view: Projection,
    scratch: Scratch,
) -> NDArray[np.float32]:
    """Light from all around that reaches each fragment, (K,), 0..1.

    Args:
        surface: what the pixels' centres see.
        planes: (F, 3), the faces' normals.
        fragments: where it is wanted.
        view: of the image.
        scratch: the result lies in it.
    """
    rows, columns = (view.height + 1) // 2, (view.width + 1) // 2
    wide = -(-columns // LANES) * LANES
    rough = scratch.array("occlusion.rough", rows + 3, wide + 3)
    near = scratch.array("occlusion.near", rows + 3, wide + 3)
    smooth = scratch.array("occlusion.smooth", rows, wide)
    far = scratch.array("occlusion.far", view.height * view.width)
    whole = scratch.array("occlusion.whole", view.height, view.width)
    look_around(*surface, planes, view.axes, view.focal, rough, near, far)
    blur(near, rough, smooth)
    spread(surface.nearness, smooth, whole)
    flat = whole.reshape(-1)
    return flat if fragments.every else flat[fragments.pixel]


@kernel
@single
def look_around(
    nearness: Array,
    face: Array,
    planes: Array,
    axes: Array,
    focal: float,
    rough: Array,
    near: Array,
    far: Array,
) -> None:
    """The openness of every second pixel of every second row, from a few taps.

    `rough` and `near` have two places more before each row and column, and one or more behind;
    `near` is not a number there, so that `blur` takes nothing from beyond the image. `far` is
    for the pixels' depths.
    """
    height, width = nearness.shape
    rows, columns = (height + 1) // 2, (width + 1) // 2
    middle_x, middle_y = 0.5 * np.float32(width - 1), 0.5 * np.float32(height - 1)
    pixels, pixel, taps = np.float32(focal), np.float32(1.0 / focal), np.float32(TAPS)
    bottom, edge, across = np.int32(height - 1), np.int32(width - 1), np.int32(width)
    near[:] = np.nan
    rough[:] = 1.0
    block = np.zeros((12, BLOCK), np.float32)
    places = np.empty((1, BLOCK), np.uint32)
    flat = nearness.reshape(-1)
    for k in range(len(flat)):
        far[k] = 1.0 / flat[k]
    ax, ay, az = np.float32(axes[0, 0]), np.float32(axes[0, 1]), np.float32(axes[0, 2])
    bx, by, bz = np.float32(axes[1, 0]), np.float32(axes[1, 1]), np.float32(axes[1, 2])
    cx, cy, cz = np.float32(axes[2, 0]), np.float32(axes[2, 1]), np.float32(axes[2, 2])
    for i in range(rows):
        row = 2 * i
        for start in range(0, columns, BLOCK):
            size = min(BLOCK, columns - start)
            wide = (size + LANES - 1) & -LANES
            for q in range(size):
                column = 2 * (start + q)
                f = np.uint32(max(face[row, column], 0))
                block[0, q], block[1, q], block[2, q] = planes[f, 0], planes[f, 1], planes[f, 2]
                block[11, q] = nearness[row, column]
            for q in range(wide):
                z = 1.0 / block[11, q]
                x = (np.float32(2 * (start + q)) - middle_x) * pixel * z
                y = (middle_y - np.float32(row)) * pixel * z
                a, b, c = block[0, q], block[1, q], block[2, q]
                nx = a * ax + b * ay + c * az
                ny = a * bx + b * by + c * bz
                nz = a * cx + b * cy + c * cz
                turned = nx * x + ny * y + nz * z > 0.0
                block[0, q] = -nx if turned else nx
                block[1, q] = -ny if turned else ny
                block[2, q] = -nz if turned else nz
                block[3, q], block[4, q], block[5, q] = x, y, z
                block[6, q] = min(REACH * pixels / z, FARTHEST)
                block[7, q] = 0.0
            for k in range(TAPS):
                for q in range(wide):
                    r = np.int32(row + np.int32(SPIRAL[1, i & 3, k, q] * block[6, q]))
                    s = np.int32(2 * (start + q) + np.int32(SPIRAL[0, i & 3, k, q] * block[6, q]))
                    r = min(max(r, np.int32(0)), bottom)
                    s = min(max(s, np.int32(0)), edge)
                    places[0, q] = np.uint32(r * across + s)
                    block[9, q] = (np.float32(s) - middle_x) * pixel
                    block[8, q] = (middle_y - np.float32(r)) * pixel
                for q in range(wide):
                    block[10, q] = far[places[0, q]]
                for q in range(wide):
                    x, y, z, tz = block[3, q], block[4, q], block[5, q], block[10, q]
                    vx, vy, vz = block[9, q] * tz - x, block[8, q] * tz - y, tz - z
                    square = vx * vx + vy * vy + vz * vz
                    rise = vx * block[0, q] + vy * block[1, q] + vz * block[2, q] - 0.01 * z
                    inside = max(0.0, 1.0 - square / (REACH * REACH))
                    block[7, q] += inside * max(0.0, rise) / (sqrt(square) + 0.02)
            for q in range(size):
                near[i + 2, start + q + 2] = block[11, q]
                openness = max(0.0, 1.0 - STRENGTH * 2.0 * block[7, q] / taps)
                if face[row, 2 * (start + q)] >= 0:
                    rough[i + 2, start + q + 2] = openness


@kernel
@single
def blur(near: Array, rough: Array, smooth: Array) -> None:
    """Mean over 4 x 4 places at about the same depth."""
    rows, columns = smooth.shape  # whole vectors, and more than the image has
    block = np.empty((3, BLOCK), np.float32)
    for i in range(rows):
        for start in range(0, columns, BLOCK):
            size = min(BLOCK, columns - start)
            block[2, :size] = near[i + 2, start + 2 : start + 2 + size]
            block[:2] = 0.0
            for r in range(i, i + 4):
                for s in range(start, start + 4):
                    other, open_ = near[r, s : s + size], rough[r, s : s + size]
                    for q in range(size):
                        here = block[2, q]
                        alike = abs(other[q] - here) < 0.06 * here
                        block[0, q] += open_[q] if alike else 0.0
                        block[1, q] += 1.0 if alike else 0.0
            line = smooth[i, start : start + size]
            for q in range(size):
                line[q] = block[0, q] / max(block[1, q], 1.0)


@kernel
@single
def spread(nearness: Array, smooth: Array, whole: Array) -> None:
    """From every second pixel to all, without crossing from near to far."""
    height, width = nearness.shape
    rows, columns = (height + 1) // 2, (width + 1) // 2
    block = np.ones((8, BLOCK + 1), np.float32)
    for row in range(height):
        i = row // 2
        r = min(i + (row & 1), rows - 1)
        for start in range(0, columns, BLOCK):
            size = min(BLOCK, columns - start)
            wide = (size + LANES - 1) & -LANES
            for q in range(size + 1):
                j = min(start + q, columns - 1)
                block[0, q], block[1, q] = nearness[2 * i, 2 * j], nearness[2 * r, 2 * j]
                block[2, q], block[3, q] = smooth[i, j], smooth[r, j]
                block[4, q] = nearness[row, 2 * j]
                block[5, q] = nearness[row, min(2 * j + 1, width - 1)]
            for q in range(wide):
                here = block[4, q]
                sharp = 12.0 / here
                a = 1e-4 + max(0.0, 1.0 - sharp * abs(block[0, q] - here))
                c = 1e-4 + max(0.0, 1.0 - sharp * abs(block[1, q] - here))
                total = a * block[2, q] + a * block[2, q] + c * block[3, q] + c * block[3, q]
                block[6, q] = total / (a + a + c + c)
            for q in range(wide):
                here = block[5, q]
                sharp = 12.0 / here
                a = 1e-4 + max(0.0, 1.0 - sharp * abs(block[0, q] - here))
                b = 1e-4 + max(0.0, 1.0 - sharp * abs(block[0, q + 1] - here))
                c = 1e-4 + max(0.0, 1.0 - sharp * abs(block[1, q] - here))
                d = 1e-4 + max(0.0, 1.0 - sharp * abs(block[1, q + 1] - here))
                total = (
                    a * block[2, q] + b * block[2, q + 1] + c * block[3, q] + d * block[3, q + 1]
                )
                block[7, q] = total / (a + b + c + d)
            line = whole[row, 2 * start :]
            for q in range(size):
                line[2 * q] = block[6, q]
            for q in range(min(size, width // 2 - start)):
                line[2 * q + 1] = block[7, q]
