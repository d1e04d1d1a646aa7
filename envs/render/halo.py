"""The glare around what shines: lamps, screens, flames."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from envs.render.camera import View
from envs.render.fragments import Fragments
from envs.render.kernel import Array, kernel
from envs.render.pattern import Paint

CELL = 4
"""Pixels per side of the cells in which glare is spread."""
WIDTH = 0.07
"""How far it reaches, in parts of the picture's height."""
STRENGTH = 0.5


def add_halo(fragments: Fragments, paint: Paint, view: View, color: NDArray[np.float32]) -> None:
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
