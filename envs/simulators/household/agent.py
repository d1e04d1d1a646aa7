"""The one who walks about: where it stands, where it looks, what it holds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from inhabit.envs.simulators.household.geometry.boxes import Array, rotation, yaw
from inhabit.envs.simulators.render.camera import Camera

HEIGHT = 0.901
"""THOR's agent has its position this far above the floor, in metres."""
EYE_STANDING = 0.675
"""Metres from its position up to its eye; crouching, the eye is at its position."""
HIGHEST, LOWEST = -30.0, 60.0
"""Horizons in degrees, positive looking down."""
_HAND = np.array((0.0, -0.16, 0.38))
"""Where a held thing's `position` is, in metres along the eye's right, up and ahead (measured in
frames of THOR 5)."""


@dataclass(frozen=True, slots=True)
class AgentState:
    """THOR's default agent. Never changed in place."""

    x: float
    y: float
    z: float
    """Metres."""
    rotation: float = 0.0
    """Degrees, 0..360; 0 looks along +z, 90 along +x."""
    horizon: float = 0.0
    """Degrees; positive looks down."""
    standing: bool = True
    held: str | None = None
    """Id of what is in its hand."""
    arm: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Metres right, up and ahead that the held thing was moved from where things are held."""
    wrist: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Degrees of pitch, yaw and roll that it was turned."""

    @property
    def eye(self) -> tuple[float, float, float]:
        """Where the camera is, metres."""
        return (self.x, self.y + (EYE_STANDING if self.standing else 0.0), self.z)

    def camera(self, fov: float) -> Camera:
        """What it looks through."""
        return Camera(self.eye, self.rotation, self.horizon, fov)

    def hand(self) -> tuple[Array, Array]:
        """Where a held thing's `position` is (3,), and how its own frame is turned (3, 3)."""
        place = np.array(self.eye) + (_HAND + np.array(self.arm)) @ self.camera(60.0).axes
        pitch, turn, roll = self.wrist
        return place, yaw(self.rotation) @ rotation({"x": pitch, "y": turn, "z": roll})

    def turned(self, degrees: float) -> AgentState:
        """Turned to the right."""
        return replace(self, rotation=(self.rotation + degrees) % 360.0)
