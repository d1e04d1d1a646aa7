"""THOR's third-party cameras."""

from __future__ import annotations

from dataclasses import dataclass
from math import atan, degrees
from typing import Any

from inhabit.envs.simulators.household.geometry.boxes import xyz
from inhabit.envs.simulators.render.camera import Camera

NEAR_PLANE = 0.01
"""Near plane of THOR's camera, metres."""
FAR_PLANE = 20.0
"""Far plane of THOR's camera and depth of the background, metres."""
_FAR_OFF = 40.0
"""Distance in metres of a camera without perspective: parallel to within about a degree."""
_AHEAD = 12.0
"""Depth in metres that such a camera sees behind its position."""


@dataclass(frozen=True, slots=True)
class FixedCamera:
    """The pose of a camera. Immutable."""

    position: tuple[float, float, float]
    """Metres."""
    pitch: float = 0.0
    """Degrees; positive looks down."""
    yaw: float = 0.0
    """Degrees; 0 looks along +z, 90 along +x."""
    field_of_view: float = 90.0
    """Vertical field of view, degrees; unused without perspective."""
    half_height: float | None = None
    """Metres from the center of an image without perspective to its upper edge; None with
    perspective."""

    def camera(self) -> Camera:
        """The renderer's camera."""
        if self.half_height is None:
            return Camera(self.position, self.yaw, self.pitch, self.field_of_view)
        fov = 2 * degrees(atan(self.half_height / _FAR_OFF))
        back = Camera(self.position, self.yaw, self.pitch).axes[2] * _FAR_OFF
        x, y, z = (at - off for at, off in zip(self.position, back, strict=True))
        # The image begins at the given position: below the ceiling, if it looks down.
        return Camera(
            (float(x), float(y), float(z)),
            self.yaw,
            self.pitch,
            max(fov, 1.0),
            near=_FAR_OFF,
            far=_FAR_OFF + _AHEAD,
        )

    def metadata(self, number: int) -> dict[str, Any]:
        """As in `metadata["thirdPartyCameras"]`."""
        return {
            "thirdPartyCameraId": number,
            "position": xyz(self.position),
            "rotation": {"x": self.pitch, "y": self.yaw, "z": 0.0},
            "fieldOfView": self.field_of_view,
            "orthographic": self.half_height is not None,
            "orthographicSize": self.half_height or 0.0,
            "depthFormat": "Meters",
        }
