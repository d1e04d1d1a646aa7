"""The agent: its pose, and its cameras."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import atan, degrees
from typing import Any

import numpy as np

from inhabit.envs.simulators.household.geometry.boxes import Array, Box, rotation, xyz, yaw
from inhabit.envs.simulators.household.state.robot_arm import RobotArm
from inhabit.envs.simulators.render.camera import Camera

HEIGHT = 0.901
"""Height of THOR's agent position above the floor, metres."""
EYE_STANDING = 0.675
"""Height of the eye above the agent's position, metres; 0 when crouching."""
HIGHEST, LOWEST = -30.0, 60.0
"""Range of the horizon in degrees, positive looking down."""
_HAND = np.array((0.0, -0.16, 0.38))
"""The `position` of a held object in metres along the eye's right, up and ahead (measured in
frames of THOR 5)."""


@dataclass(frozen=True, slots=True)
class AgentState:
    """THOR's default agent. Immutable."""

    x: float
    y: float
    z: float
    """Position: x, y (up), z, in metres."""
    rotation: float = 0.0
    """Rotation about the vertical, in degrees, 0..360; 0 looks along +z, 90 along +x."""
    horizon: float = 0.0
    """Pitch of the camera, in degrees; positive looks down."""
    standing: bool = True
    held: str | None = None
    """Id of the held object."""
    arm: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Offset of the held object from its default position, metres right, up and ahead."""
    wrist: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Rotation of the held object: pitch, yaw and roll in degrees."""
    robot: RobotArm | None = None
    """Arm, if the agent has one (agentMode "arm"). It then holds nothing in another hand."""

    @property
    def eye(self) -> tuple[float, float, float]:
        """The camera's position, metres."""
        return (self.x, self.y + (EYE_STANDING if self.standing else 0.0), self.z)

    def camera(self, fov: float) -> Camera:
        """The agent's camera."""
        return Camera(self.eye, self.rotation, self.horizon, fov)

    def hand(self) -> tuple[Array, Array]:
        """The held object's `position` (3,) and orientation (3, 3)."""
        place = np.array(self.eye) + (_HAND + np.array(self.arm)) @ self.camera(60.0).axes
        pitch, turn, roll = self.wrist
        return place, yaw(self.rotation) @ rotation({"x": pitch, "y": turn, "z": roll})

    def base(self) -> Box:
        """The base of its arm in the world, without extent."""
        height = self.robot.height if self.robot is not None else 0.0
        place = np.array((self.x, self.y + height, self.z))
        return Box(place, np.zeros(3), yaw(self.rotation))

    @property
    def holds(self) -> tuple[str, ...]:
        """Ids of all that it holds."""
        own = () if self.held is None else (self.held,)
        return own if self.robot is None else (*own, *(grip.id for grip in self.robot.held))

    def turned(self, degrees: float) -> AgentState:
        """The agent, rotated to the right."""
        return replace(self, rotation=(self.rotation + degrees) % 360.0)


NEAR_PLANE = 0.01
"""Near plane of THOR's camera, metres."""
FAR_PLANE = 20.0
"""Far plane of THOR's camera and depth of the background, metres."""
_FAR_OFF = 40.0
"""Distance in metres of a camera without perspective: parallel to within about a degree."""
_AHEAD = 12.0
"""Depth in metres that a camera without perspective sees behind its position."""


@dataclass(frozen=True, slots=True)
class FixedCamera:
    """The pose of a camera. Immutable."""

    position: tuple[float, float, float]
    """Position in metres."""
    pitch: float = 0.0
    """Pitch in degrees; positive looks down."""
    yaw: float = 0.0
    """Rotation about the vertical, in degrees; 0 looks along +z, 90 along +x."""
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
        """The camera as in `metadata["thirdPartyCameras"]`."""
        return {
            "thirdPartyCameraId": number,
            "position": xyz(self.position),
            "rotation": {"x": self.pitch, "y": self.yaw, "z": 0.0},
            "fieldOfView": self.field_of_view,
            "orthographic": self.half_height is not None,
            "orthographicSize": self.half_height or 0.0,
            "depthFormat": "Meters",
        }
