"""Finds the poses from which an object is visible and within reach.

One small image towards the object from each position shows which of its points are visible. The
poses that have these points in view are then computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import atan2, degrees, hypot, radians, tan
from typing import NamedTuple

import numpy as np

from inhabit.envs.simulators.household.episode.house import House, Settings
from inhabit.envs.simulators.household.geometry.boxes import Array
from inhabit.envs.simulators.household.state.agent import AgentState
from inhabit.envs.simulators.household.state.world import SimObject
from inhabit.envs.simulators.render.camera import Camera

_SIDE = 48
"""Width of the small image, pixels."""
_FEWEST = 4.0
"""Minimum number of the object's pixels for a pose, in an image of the set resolution."""
_WIDEST = 120.0
"""Maximum field of view of the small image, degrees."""


class ViewPose(NamedTuple):
    """A position and view direction."""

    x: float
    z: float
    rotation: float
    standing: bool
    horizon: float


class Points(NamedTuple):
    """The visible points of an object from one position."""

    directions: Array
    """Directions from the eye to the points, (N, 3)."""
    angle: float
    """Maximum solid angle per point, steradians."""


def poses(
    house: House,
    thing: SimObject,
    places: Iterable[tuple[float, float]],
    rotations: Sequence[float],
    horizons: Sequence[float],
    standings: Sequence[bool],
) -> Iterator[ViewPose]:
    """All requested poses from which the object is visible and within reach.

    Args:
        house: the room as it is, but for what the agent holds, which would come along.
        thing: to be seen.
        places: x and z, metres.
        rotations: degrees.
        horizons: degrees.
        standings: standing (True) or crouching.
    """
    turns = [(rotation, horizon) for rotation in rotations for horizon in horizons]
    heads = np.array([Camera((0, 0, 0), turn, down).axes for turn, down in turns]).reshape(-1, 3, 3)
    for x, z in places:
        if not house.within_reach(thing, x, z):
            continue
        for standing in standings:
            points = _seen(house, replace(house.agent, x=x, z=z, standing=standing), thing)
            if points is None:
                continue
            enough = _pixels(house.settings, heads, points) >= _FEWEST
            for i in np.flatnonzero(enough):
                rotation, horizon = turns[i]
                yield ViewPose(x, z, rotation, standing, horizon)


def _seen(house: House, agent: AgentState, thing: SimObject) -> Points | None:
    camera = _towards(agent, thing)
    frame = house.look(camera, (_SIDE, _SIDE), without=house.agent.held)
    hit = frame.ids == frame.names.index(thing.id) if thing.id in frame.names else None
    if hit is None or not hit.any():
        return None
    rows, columns = np.nonzero(hit)
    focal = _SIDE / 2 / tan(radians(camera.fov) / 2)
    middle = (_SIDE - 1) / 2
    ahead = np.stack(
        [(columns - middle) / focal, (middle - rows) / focal, np.ones(len(rows))], axis=1
    )
    return Points(ahead @ camera.axes, 1.0 / focal**2)


def _towards(agent: AgentState, thing: SimObject) -> Camera:
    """A camera at the agent's eye with the whole object in view, as far as possible."""
    eye = np.array(agent.eye)
    x, y, z = thing.box.center - eye
    yaw, pitch = degrees(atan2(x, z)), degrees(atan2(-y, hypot(x, z)))
    axes = Camera(agent.eye, yaw, pitch).axes
    corners = (thing.box.corners - eye) @ axes.T
    if (corners[:, 2] <= 0.05).any():
        return Camera(agent.eye, yaw, pitch, _WIDEST)
    wide = float(np.abs(corners[:, :2] / corners[:, 2:]).max())
    fov = 2.2 * degrees(atan2(wide, 1.0))
    return Camera(agent.eye, yaw, pitch, float(np.clip(fov, 2.0, _WIDEST)))


def _pixels(settings: Settings, heads: Array, points: Points) -> Array:
    """Approximate number of the object's pixels for each view direction (K, 3, 3), (K,)."""
    x, y, z = np.moveaxis(heads @ points.directions.T, 1, 0)
    up = tan(radians(settings.field_of_view) / 2)
    across = up * settings.width / settings.height
    inside = (z > 1e-6) & (np.abs(x) <= across * z) & (np.abs(y) <= up * z)
    focal = settings.height / 2 / up
    return np.asarray(inside.sum(axis=1) * points.angle * focal**2)
