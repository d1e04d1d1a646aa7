"""Oriented boxes in Unity's frame: left-handed, y up, metres and degrees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import asin, atan2, degrees, hypot
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

_CORNERS = np.array(
    [(x, y, z) for y in (-1, 1) for x, z in ((1, 1), (-1, 1), (-1, -1), (1, -1))],
    np.float64,
)
"""Signs of a box's corners in the order of THOR's `objectOrientedBoundingBox`."""

_AXIS_ALIGNED = np.array([(x, y, z) for x in (1, -1) for y in (1, -1) for z in (1, -1)], np.float64)
"""The same in the order of THOR's `axisAlignedBoundingBox`."""


@dataclass(frozen=True, eq=False)
class Box:
    """An oriented box. Immutable."""

    center: Array
    """(3,), metres."""
    half: Array
    """(3,), half extents along its own axes."""
    axes: Array
    """(3, 3): column i is the direction of its own axis i in the world."""

    @cached_property
    def reach(self) -> Array:
        """(3,), half extents of its axis-aligned bounding box."""
        return np.abs(self.axes) @ self.half

    @property
    def low(self) -> Array:
        """(3,), the minimum corner of its axis-aligned bounding box."""
        return self.center - self.reach

    @property
    def high(self) -> Array:
        """(3,), the maximum corner of its axis-aligned bounding box."""
        return self.center + self.reach

    @cached_property
    def corners(self) -> Array:
        """(8, 3), in the order of THOR's `objectOrientedBoundingBox`."""
        return self.center + (_CORNERS * self.half) @ self.axes.T

    @property
    def up(self) -> int:
        """Index of the own axis nearest to the vertical."""
        return int(np.argmax(np.abs(self.axes[1])))

    @cached_property
    def footprint(self) -> tuple[Array, Array]:
        """Its axes (2, 2) and half sides (2,) in metres as seen from above; x first, then z.

        An upright box is taken as it is turned, a tilted one by its axis-aligned bounding box.
        """
        if abs(self.axes[1, self.up]) > 0.999:
            first, second = (axis for axis in range(3) if axis != self.up)
            return self.axes[[0, 2]][:, [first, second]], self.half[[first, second]]
        return np.eye(2), self.reach[[0, 2]]

    def to_world(self, point: ArrayLike) -> Array:
        """A world point from coordinates along its own axes, metres from its center."""
        return self.center + self.axes @ np.asarray(point, np.float64)

    def to_own(self, point: ArrayLike) -> Array:
        """Coordinates of a world point along its own axes."""
        return self.axes.T @ (np.asarray(point, np.float64) - self.center)

    def moved(self, offset: Array) -> Box:
        """The same box, translated by `offset`."""
        return Box(self.center + offset, self.half, self.axes)

    def about(self, turn: Array, old: Array, new: Array) -> Box:
        """Moved with a body that rotates by `turn` (3, 3) and moves from `old` to `new`."""
        return Box(new + turn @ (self.center - old), self.half, turn @ self.axes)

    def holds(self, point: Array, slack: float = 0.0) -> bool:
        """Whether a world point lies inside, within `slack` metres."""
        return bool((np.abs(self.to_own(point)) <= self.half + slack).all())

    def distance_from_axis(self, x: float, z: float) -> float:
        """Horizontal distance in metres from a vertical line to its axis-aligned bounding box."""
        dx = max(0.0, abs(x - self.center[0]) - self.reach[0])
        dz = max(0.0, abs(z - self.center[2]) - self.reach[2])
        return hypot(dx, dz)


def read_box(metadata: Mapping[str, Any]) -> Box:
    """The box of an object in THOR's metadata: oriented if available."""
    oriented = metadata["objectOrientedBoundingBox"]
    if oriented is None:
        box = metadata["axisAlignedBoundingBox"]
        return Box(vector(box["center"]), np.abs(vector(box["size"])) / 2, np.eye(3))
    corners = np.array(oriented["cornerPoints"], np.float64)
    turn = rotation(metadata["rotation"])
    half = np.abs((corners[0] - corners[6]) @ turn) / 2
    return Box((corners[0] + corners[6]) / 2, half, turn)


def box_metadata(box: Box, oriented: bool) -> dict[str, Any]:
    """Both bounding boxes in THOR's form."""
    corners = box.center + _AXIS_ALIGNED * box.reach
    return {
        "axisAlignedBoundingBox": {
            "cornerPoints": corners.tolist(),
            "center": xyz(box.center),
            "size": xyz(box.reach * 2),
        },
        "objectOrientedBoundingBox": {"cornerPoints": box.corners.tolist()} if oriented else None,
    }


def vector(value: Mapping[str, float]) -> Array:
    """THOR's {x, y, z} as (3,)."""
    return np.array((value["x"], value["y"], value["z"]), np.float64)


def xyz(value: ArrayLike) -> dict[str, float]:
    """A vector (3,) in THOR's form."""
    x, y, z = np.asarray(value, np.float64).tolist()
    return {"x": x, "y": y, "z": z}


def rotation(angles: Mapping[str, float]) -> Array:
    """The rotation matrix (3, 3) of Unity's Euler angles in degrees: about z, then x, then y."""
    x, y, z = (np.radians(float(angles[k])) for k in "xyz")
    cx, sx, cy, sy, cz, sz = np.cos(x), np.sin(x), np.cos(y), np.sin(y), np.cos(z), np.sin(z)
    about_x = np.array(((1, 0, 0), (0, cx, -sx), (0, sx, cx)))
    about_y = np.array(((cy, 0, sy), (0, 1, 0), (-sy, 0, cy)))
    about_z = np.array(((cz, -sz, 0), (sz, cz, 0), (0, 0, 1)))
    return np.asarray(about_y @ about_x @ about_z)


def yaw(degrees_: float) -> Array:
    """The rotation matrix (3, 3) about the vertical; 90 maps +z to +x."""
    return rotation({"x": 0.0, "y": degrees_, "z": 0.0})


def angles(matrix: Array) -> dict[str, float]:
    """Unity's Euler angles in degrees, x within -90..90: the inverse of `rotation`."""
    x = degrees(asin(float(np.clip(-matrix[1, 2], -1.0, 1.0))))
    if abs(matrix[1, 2]) > 1 - 1e-9:  # looking straight up or down: y and z turn alike
        return {"x": x, "y": degrees(atan2(-matrix[2, 0], matrix[0, 0])), "z": 0.0}
    y = degrees(atan2(matrix[0, 2], matrix[2, 2]))
    z = degrees(atan2(matrix[1, 0], matrix[1, 1]))
    return {"x": x, "y": y % 360.0, "z": z % 360.0}
