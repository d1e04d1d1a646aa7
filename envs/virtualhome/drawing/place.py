"""The pose and size of a box."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import atan2, cos, degrees, radians, sin
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.virtualhome.flats.boxes import UprightBox


@dataclass(frozen=True, slots=True)
class Place:
    """An upright box, y up. Metres, degrees; at yaw 0 it looks along +z, at 90 along +x."""

    x: float
    y: float
    z: float
    size: tuple[float, float, float]
    """Width, height, depth along its own axes."""
    yaw: float = 0.0

    @property
    def bottom(self) -> float:
        """Height of its lower face."""
        return self.y - self.size[1] / 2

    @property
    def top(self) -> float:
        """Height of its upper face."""
        return self.y + self.size[1] / 2

    @property
    def front(self) -> tuple[float, float]:
        """The direction (x, z) of its front, of length 1."""
        return sin(radians(self.yaw)), cos(radians(self.yaw))

    @property
    def axes(self) -> NDArray[np.float64]:
        """(3, 3), from its own axes to the world's."""
        ahead_x, ahead_z = self.front
        return np.array(((ahead_z, 0.0, ahead_x), (0.0, 1.0, 0.0), (-ahead_x, 0.0, ahead_z)))

    @property
    def box(self) -> UprightBox:
        """Its axis-aligned bounding box."""
        ahead_x, ahead_z = (abs(part) for part in self.front)
        width, height, depth = self.size
        return UprightBox(
            self.x, self.y, self.z,
            (width * ahead_z + depth * ahead_x) / 2,
            height / 2,
            (width * ahead_x + depth * ahead_z) / 2,
        )  # fmt: skip

    def out(self, u: float, up: float, v: float) -> tuple[float, float, float]:
        """The point `u` to its right, `up` above its center and `v` in front of it."""
        ahead_x, ahead_z = self.front
        return self.x + u * ahead_z + v * ahead_x, self.y + up, self.z - u * ahead_x + v * ahead_z

    def carried(self, before: Place, after: Place) -> Place:
        """Its place after its support has moved from one place to another."""
        ahead_x, ahead_z = before.front
        dx, dz = self.x - before.x, self.z - before.z
        u, v = dx * ahead_z - dz * ahead_x, dx * ahead_x + dz * ahead_z
        x, y, z = after.out(u, self.y - before.y, v)
        return replace(self, x=x, y=y, z=z, yaw=self.yaw + after.yaw - before.yaw)


def read_place(node: Mapping[str, Any]) -> Place | None:
    """The place of a node in VirtualHome's form; None without a box.

    A turn between the quarters is read as the nearest quarter, since the box is along the world's
    axes.
    """
    box = node.get("bounding_box")
    if not box:
        return None
    (x, y, z), (wide, high, deep) = box["center"], box["size"]
    yaw = 0.0
    if turn := (node.get("obj_transform") or {}).get("rotation"):
        yaw = round(degrees(2 * atan2(turn[1], turn[3])) / 90) % 4 * 90.0
    size = (wide, high, deep) if yaw % 180 == 0 else (deep, high, wide)
    return Place(x, y, z, size, yaw)
