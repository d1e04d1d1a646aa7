"""Where an image is taken from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import cos, isfinite, radians, sin, tan

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Camera:
    """A pinhole camera that never rolls, in Unity's left-handed world: x right, y up, z forward."""

    position: tuple[float, float, float]
    """Position in metres."""
    yaw: float
    """Heading in degrees; 0 looks along +z, 90 along +x."""
    pitch: float
    """Pitch in degrees; positive looks down (THOR's horizon)."""
    fov: float = 60.0
    """Vertical field of view in degrees, between 1 and 179."""
    near: float = 0.02
    far: float = 20.0
    """Metres along the optical axis. What is nearer or farther is not drawn."""

    def __post_init__(self) -> None:
        if not all(isfinite(x) for x in (*self.position, self.yaw, self.pitch)):
            raise ValueError(f"A camera pose must be finite; got {self}.")
        if not 1.0 <= self.fov <= 179.0:
            raise ValueError(f"The field of view must be 1 to 179 degrees; got {self.fov}.")
        if not 0.0 < self.near < self.far:
            raise ValueError(f"Expected 0 < near < far; got {self.near} and {self.far}.")

    @property
    def axes(self) -> NDArray[np.float64]:
        """(3, 3): the directions in the world that are right, up and ahead in the image."""
        yaw, pitch = radians(self.yaw), radians(self.pitch)
        right = cos(yaw), 0.0, -sin(yaw)
        ahead = sin(yaw) * cos(pitch), -sin(pitch), cos(yaw) * cos(pitch)
        # Their cross product: np.cross takes 20 times as long, and holds the GIL.
        up = (
            ahead[1] * right[2] - ahead[2] * right[1],
            ahead[2] * right[0] - ahead[0] * right[2],
            ahead[0] * right[1] - ahead[1] * right[0],
        )
        return np.array((right, up, ahead))

    def view(self, width: int, height: int) -> Projection:
        """This camera over an image of that many pixels, which are square.

        Raises:
            ValueError: the image has no pixels.
        """
        if width < 1 or height < 1:
            raise ValueError(f"An image must be at least 1 x 1 pixels; got {width} x {height}.")
        return Projection(
            np.asarray(self.position, np.float64),
            self.axes,
            width,
            height,
            height / 2 / tan(radians(self.fov) / 2),
            self.near,
            self.far,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """A projection onto a grid of pixels: all that the rasteriser needs of a camera or a light.

    A point at (x, y, z) along the axes falls on column `x / z * focal + (width - 1) / 2` and row
    `(height - 1) / 2 - y / z * focal`; whole numbers are the pixels' centres.
    """

    origin: NDArray[np.float64]
    axes: NDArray[np.float64]
    width: int
    height: int
    focal: float
    """Focal length in pixels."""
    near: float
    far: float

    def finer(self, factor: int) -> Projection:
        """The same image with that many times the columns and rows."""
        return replace(
            self,
            width=self.width * factor,
            height=self.height * factor,
            focal=self.focal * factor,
        )

    def nearest_first(
        self, low: NDArray[np.float32], high: NDArray[np.float32]
    ) -> NDArray[np.int32]:
        """Which boxes may be seen, ordered by their nearest depth, then by their index.

        Args:
            low: (N, 3), the boxes' lowest corners in the world.
            high: (N, 3), their highest.

        Returns:
            Indices of the boxes that touch the frustum (and perhaps some that only come close).
        """
        center = (low.astype(np.float64) + high) / 2 - self.origin
        reach = (high.astype(np.float64) - low) / 2 @ np.abs(self.axes).T
        x, y, z = (center @ self.axes.T).T
        front, back = z - reach[:, 2], z + reach[:, 2]
        tan_x, tan_y = self.width / 2 / self.focal, self.height / 2 / self.focal
        seen = (back > self.near) & (front < self.far)
        seen &= np.abs(x) - reach[:, 0] <= back * tan_x
        seen &= np.abs(y) - reach[:, 1] <= back * tan_y
        index = np.flatnonzero(seen)
        return index[np.argsort(front[index], kind="stable")].astype(np.int32)
