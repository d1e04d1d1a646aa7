"""Cameras that stand in the room by themselves: THOR's third-party cameras."""

from __future__ import annotations

from dataclasses import dataclass
from math import atan, degrees
from typing import Any

from inhabit.envs.simulators.household.geometry.boxes import xyz
from inhabit.envs.simulators.render.camera import Camera

_FAR_OFF = 40.0
"""Metres from which a view without perspective is taken: parallel to within a degree or so."""
_AHEAD = 12.0
"""Metres that such a view reaches beyond its place."""


@dataclass(frozen=True, slots=True)
class FixedCamera:
    """Where one stands and looks. Never changed in place."""

    position: tuple[float, float, float]
    """Metres."""
    pitch: float = 0.0
    """Degrees; positive looks down."""
    yaw: float = 0.0
    """Degrees; 0 looks along +z, 90 along +x."""
    field_of_view: float = 90.0
    """Vertical, degrees; without meaning where there is no perspective."""
    half_height: float | None = None
    """Metres from the middle of a picture without perspective to its upper edge; None with one."""

    def camera(self) -> Camera:
        """What it looks through."""
        if self.half_height is None:
            return Camera(self.position, self.yaw, self.pitch, self.field_of_view)
        fov = 2 * degrees(atan(self.half_height / _FAR_OFF))
        back = Camera(self.position, self.yaw, self.pitch).axes[2] * _FAR_OFF
        x, y, z = (at - off for at, off in zip(self.position, back, strict=True))
        # The picture begins where the camera is said to be: under a ceiling, if it looks down.
        return Camera(
            (float(x), float(y), float(z)),
            self.yaw,
            self.pitch,
            max(fov, 1.0),
            near=_FAR_OFF,
            far=_FAR_OFF + _AHEAD,
        )

    def metadata(self, number: int) -> dict[str, Any]:
        """As `metadata["thirdPartyCameras"]` has it."""
        return {
            "thirdPartyCameraId": number,
            "position": xyz(self.position),
            "rotation": {"x": self.pitch, "y": self.yaw, "z": 0.0},
            "fieldOfView": self.field_of_view,
            "orthographic": self.half_height is not None,
            "orthographicSize": self.half_height or 0.0,
            "depthFormat": "Meters",
        }
