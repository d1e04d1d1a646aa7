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
from inhabit.envs.simulators.render.kernel import Array, kernel
from inhabit.envs.simulators.render.raster import VisibilityBuffer
from inhabit.envs.simulators.render.scratch import Scratch

REACH = 0.45
"""Metres within which things keep light from one another."""
STRENGTH = 1.6
FARTHEST = 60.0
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
    ]
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
        view: of the picture.
        scratch: the result lies in it.
    """
    rows, columns = (view.height + 1) // 2, (view.width + 1) // 2
    rough = scratch.array("occlusion.rough", rows + 3, columns + 3)
    near = scratch.array("occlusion.near", rows + 3, columns + 3)
    smooth = scratch.array("occlusion.smooth", rows, columns)
    far = scratch.array("occlusion.far", view.height * view.width, dtype=np.float64)
    whole = scratch.array("occlusion.whole", view.height, view.width)
    look_around(*surface, planes, view.axes, view.focal, rough, near, far)
    blur(near, rough, smooth)
    spread(surface.nearness, smooth, whole)
    flat = whole.reshape(-1)
    return flat if fragments.every else flat[fragments.pixel]


@kernel
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

    `rough` and `near` have two places more before each row and column, and one behind; `near` is
    not a number there, so that `blur` takes nothing from beyond the picture. `far` is for the
    pixels' depths.
    """
    height, width = nearness.shape
    rows, columns = rough.shape[0] - 3, rough.shape[1] - 3
    middle_x, middle_y = 0.5 * (width - 1), 0.5 * (height - 1)
    bottom, edge, across = np.int32(height - 1), np.int32(width - 1), np.int32(width)
    near[:] = np.nan
    rough[:] = 1.0
    block, tap = np.empty((11, BLOCK)), np.empty((3, BLOCK), np.float32)
    places = np.empty((3, BLOCK), np.int32)
    xs, ys = np.empty(width), np.empty(height)
    for column in range(width):
        xs[column] = (column - middle_x) / focal
    for row in range(height):
        ys[row] = (middle_y - row) / focal
    flat = nearness.reshape(-1)
    for k in range(len(flat)):
        far[k] = 1.0 / flat[k]
    ax, ay, az = axes[0, 0], axes[0, 1], axes[0, 2]
    bx, by, bz = axes[1, 0], axes[1, 1], axes[1, 2]
    cx, cy, cz = axes[2, 0], axes[2, 1], axes[2, 2]
    for i in range(rows):
        row = 2 * i
        for start in range(0, columns, BLOCK):
            size = min(BLOCK, columns - start)
            for q in range(size):
                column = 2 * (start + q)
                f = max(face[row, column], 0)
                block[0, q], block[1, q], block[2, q] = planes[f, 0], planes[f, 1], planes[f, 2]
                tap[2, q] = nearness[row, column]
            for q in range(size):
                z = 1.0 / tap[2, q]
                x = (2 * (start + q) - middle_x) / focal * z
                y = (middle_y - row) / focal * z
                a, b, c = np.float32(block[0, q]), np.float32(block[1, q]), np.float32(block[2, q])
                nx = a * ax + b * ay + c * az
                ny = a * bx + b * by + c * bz
                nz = a * cx + b * cy + c * cz
                turned = nx * x + ny * y + nz * z > 0.0
                block[0, q] = -nx if turned else nx
                block[1, q] = -ny if turned else ny
                block[2, q] = -nz if turned else nz
                block[3, q], block[4, q], block[5, q] = x, y, z
                block[6, q] = min(REACH * focal / z, FARTHEST)
                block[7, q] = 0.0
            for k in range(TAPS):
                for q in range(size):
                    r = np.int32(row + np.int32(SPIRAL[1, i & 3, k, q] * block[6, q]))
                    s = np.int32(2 * (start + q) + np.int32(SPIRAL[0, i & 3, k, q] * block[6, q]))
                    r = min(max(r, np.int32(0)), bottom)
                    s = min(max(s, np.int32(0)), edge)
                    places[0, q], places[1, q], places[2, q] = np.int32(r * across + s), s, r
                for q in range(size):
                    block[10, q] = far[places[0, q]]
                    block[9, q] = xs[places[1, q]]
                    block[8, q] = ys[places[2, q]]
                for q in range(size):
                    x, y, z, tz = block[3, q], block[4, q], block[5, q], block[10, q]
                    vx, vy, vz = block[9, q] * tz - x, block[8, q] * tz - y, tz - z
                    square = vx * vx + vy * vy + vz * vz
                    rise = vx * block[0, q] + vy * block[1, q] + vz * block[2, q] - 0.01 * z
                    inside = max(0.0, 1.0 - square / (REACH * REACH))
                    block[7, q] += inside * max(0.0, rise) / (sqrt(square) + 0.02)
            for q in range(size):
                near[i + 2, start + q + 2] = tap[2, q]
                openness = max(0.0, 1.0 - STRENGTH * 2.0 * block[7, q] / TAPS)
                if face[row, 2 * (start + q)] >= 0:
                    rough[i + 2, start + q + 2] = openness


@kernel
def blur(near: Array, rough: Array, smooth: Array) -> None:
    """Mean over 4 x 4 places at about the same depth."""
    rows, columns = smooth.shape
    block = np.empty((2, BLOCK))
    lines = np.empty((1, BLOCK), np.float32)
    for i in range(rows):
        for start in range(0, columns, BLOCK):
            size = min(BLOCK, columns - start)
            for q in range(size):
                lines[0, q] = near[i + 2, start + q + 2]
                block[0, q] = 0.0
                block[1, q] = 0.0
            for r in range(i, i + 4):
                for s in range(start, start + 4):
                    for q in range(size):
                        here = lines[0, q]
                        alike = abs(near[r, s + q] - here) < 0.06 * here
                        block[0, q] += rough[r, s + q] if alike else np.float32(0.0)
                        block[1, q] += 1.0 if alike else 0.0
            for q in range(size):
                smooth[i, start + q] = block[0, q] / max(block[1, q], 1.0)


@kernel
def spread(nearness: Array, smooth: Array, whole: Array) -> None:
    """From every second pixel to all, without crossing from near to far."""
    rows, columns = smooth.shape
    height, width = nearness.shape
    block = np.empty((11, BLOCK + 1), np.float32)
    for row in range(height):
        i = row // 2
        r = min(i + (row & 1), rows - 1)
        for start in range(0, columns, BLOCK):
            size = min(BLOCK, columns - start)
            for q in range(size + 1):
                j = min(start + q, columns - 1)
                block[0, q], block[1, q] = nearness[2 * i, 2 * j], nearness[2 * r, 2 * j]
                block[2, q], block[3, q] = smooth[i, j], smooth[r, j]
                block[4, q] = nearness[row, 2 * j]
                block[5, q] = nearness[row, min(2 * j + 1, width - 1)]
            for q in range(size):
                here = block[4, q]
                sharp = 12.0 / here
                a = 1e-4 + max(0.0, 1.0 - sharp * abs(block[0, q] - here))
                c = 1e-4 + max(0.0, 1.0 - sharp * abs(block[1, q] - here))
                total = a * block[2, q] + a * block[2, q] + c * block[3, q] + c * block[3, q]
                block[6, q] = total / (a + a + c + c)
            for q in range(size):
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
            for q in range(size):
                whole[row, 2 * (start + q)] = block[6, q]
                if 2 * (start + q) + 1 < width:
                    whole[row, 2 * (start + q) + 1] = block[7, q]
