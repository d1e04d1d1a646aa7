"""Boxes seen from above, and their overlaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.household.geometry.boxes import Array, Box


@dataclass(frozen=True, slots=True, eq=False)
class Footprint:
    """A horizontal rectangle; x first, then z."""

    center: Array
    """(2,), metres."""
    half: Array
    """(2,)."""
    axes: Array
    """(2, 2): column i is the direction of side i."""

    @classmethod
    def of(cls, box: Box) -> Footprint:
        """The footprint of a box: rotated if it is upright, otherwise axis-aligned."""
        up = box.up
        center = box.center[[0, 2]]
        if abs(box.axes[1, up]) > 0.999:
            sides = [axis for axis in range(3) if axis != up]
            return cls(center, box.half[sides], box.axes[[0, 2]][:, sides])
        return cls(center, box.reach[[0, 2]], np.eye(2))

    def holds(self, point: Array) -> bool:
        """Whether a point (2,) lies in it."""
        return bool((np.abs((point - self.center) @ self.axes) <= self.half).all())


def clear(
    shape: Footprint, centers: Array, others: Sequence[Footprint], gap: float
) -> NDArray[np.bool_]:
    """The positions at which a rectangle overlaps none of the others.

    Two rectangles are apart exactly if they are along a side of one of them (separating axes).

    Args:
        shape: the rectangle; its own centre does not matter.
        centers: (N, 2), where its centre might be.
        others: what is there already.
        gap: metres to leave between.

    Returns:
        (N,), True where it is free.
    """
    free = np.ones(len(centers), np.bool_)
    for other in others:
        apart = np.zeros(len(centers), np.bool_)
        away = centers - other.center
        for axes in (shape.axes, other.axes):
            reach = np.abs(axes.T @ shape.axes) @ shape.half
            reach = reach + np.abs(axes.T @ other.axes) @ other.half + gap
            apart |= (np.abs(away @ axes) >= reach).any(axis=1)
        free &= apart
    return free
