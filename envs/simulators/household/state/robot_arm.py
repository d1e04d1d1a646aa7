"""The arm of AI2-THOR's agentMode "arm": a lift, two links of equal length, a wrist and a hand.

Its measures are those of IK_Robot_Arm_Controller.cs and ArmController.cs of AI2-THOR 5.0.0, but for
where the shoulder is and the pose at the start, which the sources do not tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from inhabit.envs.simulators.household.geometry.boxes import Array, Box, angles, rotation, xyz

LOWEST, HIGHEST = -0.45, 0.9
"""Heights of the arm's base over the agent's position, metres: a quarter of its body below the
middle, up to its top."""
SHOULDER = np.array((0.0, 0.0, 0.2))
"""Position of the shoulder along the base's right, up and ahead, metres."""
LENGTH = 0.6325
"""Farthest of the wrist from the shoulder, metres."""
_CLEAR = 0.01
"""Metres between the wrist and the hand, and least ones of the wrist before the shoulder."""

Triple = tuple[float, float, float]


class Grip(NamedTuple):
    """A held object."""

    id: str
    place: Triple
    """Middle of the object's box along the hand's own axes from the wrist, metres."""
    turn: Triple
    """Rotation from the hand's axes to the box's, Unity's angles in degrees."""


@dataclass(frozen=True, slots=True)
class RobotArm:
    """The pose of an arm in the agent's frame. Immutable."""

    height: float = 0.0
    """Height of the arm's base over the agent's position, metres."""
    wrist: Triple = (0.0, 0.0, 0.4)
    """Position of the wrist along the base's right, up and ahead, metres."""
    turn: Triple = (0.0, 0.0, 0.0)
    """Rotation of the hand in the base's frame, Unity's angles in degrees."""
    radius: float = 0.06
    """Radius of the sphere before the wrist that picks things up, metres."""
    held: tuple[Grip, ...] = ()

    @property
    def axes(self) -> Array:
        """(3, 3), from the hand's own axes to the base's."""
        return rotation(dict(zip("xyz", self.turn, strict=True)))

    @property
    def sphere(self) -> Array:
        """(3,), the middle of the hand's sphere in the base's frame."""
        return np.array(self.wrist) + self.axes[:, 2] * (_CLEAR + self.radius)

    @property
    def elbow(self) -> Array:
        """(3,), in the base's frame: as high as it can be."""
        way = np.array(self.wrist) - SHOULDER
        far = float(np.linalg.norm(way))
        out = float(np.sqrt(max((LENGTH / 2) ** 2 - (far / 2) ** 2, 0.0)))
        ahead = way / max(far, 1e-9)
        up = np.array((0.0, 1.0, 0.0)) - ahead[1] * ahead
        size = float(np.linalg.norm(up))
        side = up / size if size > 1e-6 else np.array((1.0, 0.0, 0.0))
        return np.asarray(SHOULDER + way / 2 + out * side)

    @property
    def joints(self) -> Sequence[tuple[Array, Array]]:
        """Places (3,) and frames (3, 3) of base, shoulder, elbow and wrist in the base's frame.

        Each but the first and the last looks along the link that follows.
        """
        elbow, wrist = self.elbow, np.array(self.wrist)
        return (
            (np.zeros(3), np.eye(3)),
            (SHOULDER, _towards(elbow - SHOULDER)),
            (elbow, _towards(wrist - elbow)),
            (wrist, self.axes),
        )

    def turned(self, pitch: float, yaw: float, roll: float) -> RobotArm:
        """The arm with its hand turned about its own axes, degrees."""
        now = self.axes @ rotation({"x": pitch, "y": yaw, "z": roll})
        found = angles(now)
        return replace(self, turn=(found["x"], found["y"], found["z"]))

    def grip(self, id: str, base: Box, box: Box) -> RobotArm:
        """Holding one more object.

        Args:
            id: its.
            base: the arm's base in the world; its extent does not matter.
            box: the object's.
        """
        frame = base.axes @ self.axes
        place = frame.T @ (box.center - base.to_world(self.wrist))
        turn = angles(frame.T @ box.axes)
        new = Grip(id, _triple(place), (turn["x"], turn["y"], turn["z"]))
        return replace(self, held=(*self.held, new))

    def pose_of(self, grip: Grip, base: Box, half: Array) -> Box:
        """The box of a held object in the world."""
        frame = base.axes @ self.axes
        center = base.to_world(self.wrist) + frame @ np.array(grip.place)
        return Box(center, half, frame @ rotation(dict(zip("xyz", grip.turn, strict=True))))


def reaches(wrist: Array) -> bool:
    """Whether a wrist can be there, in the base's frame: before the shoulder and not too far."""
    way = wrist - SHOULDER
    return bool(way[2] >= 0.0 and np.linalg.norm(way) <= LENGTH + 1e-6)


def nearest(wrist: Array) -> Array:
    """The place that a wrist can be in nearest to a wanted one, in the base's frame."""
    way = wrist - SHOULDER
    way = np.array((way[0], way[1], max(way[2], _CLEAR)))
    return np.asarray(SHOULDER + way * min(1.0, LENGTH / max(float(np.linalg.norm(way)), 1e-9)))


def metadata(arm: RobotArm, base: Box, near: list[tuple[str, bool]]) -> dict[str, object]:
    """THOR's `arm`.

    Args:
        arm: the arm.
        base: its base in the world.
        near: what the hand's sphere touches: ids, and whether each can be picked up.
    """
    held = {grip.id for grip in arm.held}
    joints, parent = [], np.eye(3)
    for i, (place, frame) in enumerate(arm.joints):
        joints.append(
            {
                "name": f"robot_arm_{i + 1}_jnt",
                "position": xyz(base.to_world(place)),
                "rootRelativePosition": xyz(place),
                "rotation": _about_axis(base.axes @ frame),
                "rootRelativeRotation": _about_axis(frame),
                "localRotation": _about_axis(parent.T @ frame),
                "armBaseHeight": arm.height if i == 0 else None,
                "elbowOrientation": 0.0 if i == 0 else None,
            }
        )
        parent = frame
    return {
        "joints": joints,
        "heldObjects": sorted(held),
        "pickupableObjects": [id for id, able in near if able],
        "touchedNotHeldObjects": [id for id, _ in near if id not in held],
        "handSphereCenter": xyz(base.to_world(arm.sphere)),
        "handSphereRadius": arm.radius,
    }


def _towards(way: Array) -> Array:
    """(3, 3), a frame that looks along a direction."""
    x, y, z = way.tolist()
    pitch = -np.degrees(np.arctan2(y, np.hypot(x, z)))
    return rotation({"x": float(pitch), "y": float(np.degrees(np.arctan2(x, z))), "z": 0.0})


def _about_axis(matrix: Array) -> dict[str, float]:
    """A rotation as {x, y, z} of its axis and w, degrees within -180..180."""
    angle = float(np.degrees(np.arccos(np.clip((np.trace(matrix) - 1) / 2, -1.0, 1.0))))
    if angle < 1e-3:
        return {"x": 1.0, "y": 0.0, "z": 0.0, "w": 0.0}
    # The axis is the only direction that stays: the eigenvector of the eigenvalue 1.
    values, vectors = np.linalg.eig(matrix)
    axis = np.real(vectors[:, int(np.argmin(np.abs(values - 1.0)))])
    skew = matrix - matrix.T
    axis = axis if axis @ (skew[2, 1], skew[0, 2], skew[1, 0]) >= 0 else -axis
    return {**xyz(axis), "w": angle}


def _triple(value: Array) -> Triple:
    x, y, z = value.tolist()
    return x, y, z
