"""What an agent's body did in each step, as numbers that a policy can regress.

A step of an episode is one high-level action. Its motion is the displacement that it caused, in the
frame of the agent before the step, which is what LeRobot's policies for mobile robots predict.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from inhabit.eie.export.demonstrations import Demonstration
from inhabit.episodes.recording.schema import PoseRecord

MOTION = ("forward_m", "right_m", "turn_rad")
"""Displacement in metres along and to the right of the heading; clockwise turn in (-pi, pi]."""
STATE = ("x_m", "z_m", "sin_heading", "cos_heading")
"""Position in metres, and the heading clockwise from +z."""


def motions(one: Demonstration) -> Sequence[tuple[float, ...]]:
    """The motion of each step, as `MOTION`; empty where the simulator tells no poses."""
    return [_motion(*pair) for pair in zip(one.poses, one.poses[1:], strict=False)]


def state(pose: PoseRecord) -> tuple[float, ...]:
    """Where the agent stands, as `STATE`."""
    heading = math.radians(pose.heading)
    return pose.x, pose.z, math.sin(heading), math.cos(heading)


def _motion(before: PoseRecord, after: PoseRecord) -> tuple[float, ...]:
    east, north = after.x - before.x, after.z - before.z
    heading = math.radians(before.heading)
    forward = north * math.cos(heading) + east * math.sin(heading)
    right = east * math.cos(heading) - north * math.sin(heading)
    turn = math.radians(after.heading - before.heading)
    return forward, right, math.pi - (math.pi - turn) % math.tau
