"""How much light from all around reaches a place: corners and contacts are darker.

After "Scalable ambient obscurance" (McGuire, Mara and Luebke 2012): every second pixel looks around
with few taps, each in its own directions, and the result is averaged over 4 x 4 of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.render.camera import Projection
from inhabit.envs.simulators.render.fragments import Fragments
from inhabit.envs.simulators.render.kernel import Array, kernel
from inhabit.envs.simulators.render.raster import VisibilityBuffer

REACH = 0.45
"""Metres within which things keep light from one another."""
STRENGTH = 1.6
FARTHEST = 60.0
"""Pixels beyond which no tap looks."""
TAPS = 8
SPIRAL = np.array(
    [
        [
            (
                (k + 0.5) / TAPS * np.cos(2 * np.pi * (k * 3 / TAPS + (t * 7 % 16) / 16)),
                (k + 0.5) / TAPS * np.sin(2 * np.pi * (k * 3 / TAPS + (t * 7 % 16) / 16)),
            )
            for k in range(TAPS)
        ]
        for t in range(16)
    ]
)
"""(16, TAPS, 2): a spiral over the unit disc, turned for each place of a block of 4 x 4."""


def open_sky(
    surface: VisibilityBuffer, planes: NDArray[np.float32], fragments: Fragments, view: Projection
) -> NDArray[np.float32]:
    """Light from all around that reaches each fragment, (K,), 0..1.

    Args:
        surface: what the pixels' centres see.
        planes: (F, 3), the faces' normals.
        fragments: where it is wanted.
        view: of the picture.
    """
    rows, columns = (view.height + 1) // 2, (view.width + 1) // 2
    rough, smooth = np.ones((2, rows, columns), np.float32)
    look_around(*surface, planes, view.axes, view.focal, rough)
    blur(surface.nearness, rough, smooth)
    whole = np.empty((view.height, view.width), np.float32)
    spread(surface.nearness, smooth, whole)
    return whole.reshape(-1)[fragments.pixel]


@kernel
def look_around(
    nearness: Array, face: Array, planes: Array, axes: Array, focal: float, rough: Array
) -> None:
    """The openness of every second pixel of every second row, from a few taps."""
    height, width = nearness.shape
    middle_x, middle_y = 0.5 * (width - 1), 0.5 * (height - 1)
    for i in range(rough.shape[0]):
        for j in range(rough.shape[1]):
            row, column = 2 * i, 2 * j
            f = face[row, column]
            if f < 0:
                continue
            z = 1.0 / nearness[row, column]
            x, y = (column - middle_x) / focal * z, (middle_y - row) / focal * z
            a, b, c = planes[f, 0], planes[f, 1], planes[f, 2]
            nx = a * axes[0, 0] + b * axes[0, 1] + c * axes[0, 2]
            ny = a * axes[1, 0] + b * axes[1, 1] + c * axes[1, 2]
            nz = a * axes[2, 0] + b * axes[2, 1] + c * axes[2, 2]
            if nx * x + ny * y + nz * z > 0.0:
                nx, ny, nz = -nx, -ny, -nz
            radius = min(REACH * focal / z, FARTHEST)
            turn = (i & 3) * 4 + (j & 3)
            total = 0.0
            for k in range(TAPS):
                r = row + int(SPIRAL[turn, k, 1] * radius)
                s = column + int(SPIRAL[turn, k, 0] * radius)
                r = min(max(r, 0), height - 1)
                s = min(max(s, 0), width - 1)
                tz = 1.0 / nearness[r, s]
                vx = (s - middle_x) / focal * tz - x
                vy = (middle_y - r) / focal * tz - y
                vz = tz - z
                square = vx * vx + vy * vy + vz * vz
                rise = vx * nx + vy * ny + vz * nz - 0.01 * z
                inside = max(0.0, 1.0 - square / (REACH * REACH))
                total += inside * max(0.0, rise) / (np.sqrt(square) + 0.02)
            rough[i, j] = max(0.0, 1.0 - STRENGTH * 2.0 * total / TAPS)


@kernel
def blur(nearness: Array, rough: Array, smooth: Array) -> None:
    """Mean over 4 x 4 places at about the same depth."""
    rows, columns = rough.shape
    for i in range(rows):
        for j in range(columns):
            here = nearness[2 * i, 2 * j]
            total, weight = 0.0, 0.0
            for r in range(max(0, i - 2), min(rows, i + 2)):
                for s in range(max(0, j - 2), min(columns, j + 2)):
                    if abs(nearness[2 * r, 2 * s] - here) < 0.06 * here:
                        total += rough[r, s]
                        weight += 1.0
            smooth[i, j] = total / max(weight, 1.0)


@kernel
def spread(nearness: Array, smooth: Array, whole: Array) -> None:
    """From every second pixel to all, without crossing from near to far."""
    rows, columns = smooth.shape
    height, width = nearness.shape
    for row in range(height):
        i = row // 2
        r = min(i + (row & 1), rows - 1)
        for column in range(width):
            here = nearness[row, column]
            sharp = 12.0 / here
            j = column // 2
            s = min(j + (column & 1), columns - 1)
            a = 1e-4 + max(0.0, 1.0 - sharp * abs(nearness[2 * i, 2 * j] - here))
            b = 1e-4 + max(0.0, 1.0 - sharp * abs(nearness[2 * i, 2 * s] - here))
            c = 1e-4 + max(0.0, 1.0 - sharp * abs(nearness[2 * r, 2 * j] - here))
            d = 1e-4 + max(0.0, 1.0 - sharp * abs(nearness[2 * r, 2 * s] - here))
            total = a * smooth[i, j] + b * smooth[i, s] + c * smooth[r, j] + d * smooth[r, s]
            whole[row, column] = total / (a + b + c + d)
