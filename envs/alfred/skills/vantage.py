"""Finds a pose from which the agent can interact with an object."""

from __future__ import annotations

import math
from collections.abc import Iterator

from inhabit.envs.alfred.episode.state import EpisodeState
from inhabit.envs.alfred.thor.body import HIGHEST, HORIZON_STEP, LOWEST, REACH, AgentPose
from inhabit.envs.alfred.thor.objects import Point, ThorObject
from inhabit.envs.alfred.thor.routes import HEADINGS, STEP, ShortestPaths, Stand, cell, heading

_ASIDE = 50
"""Maximum angle of an object to the side, degrees."""
_DEEP = ("BathtubBasin", "Box", "GarbageCan", "LaundryHamper", "SinkBasin")
"""Receptacles that one looks into from close by."""
_MOST_TRIES = 40


def vantage(
    episode: EpisodeState, thing: ThorObject, start: Stand | None = None
) -> AgentPose | None:
    """The best pose for an interaction, or None: a short walk and a good view.

    Poses are tried in the simulator, the most promising first, and the first that works is taken;
    where none does, `GetInteractablePoses` is asked, which tries them all.

    Args:
        episode: the current state.
        thing: to be handled.
        start: where one would come from, if not from here.
    """
    ways = episode.grid.ways(start or episode.stand)
    ranked = sorted(
        (ways.cost[stand_of(pose)] + awkward, pose.x, pose.z, pose.rotation, pose)
        for pose, awkward in _promising(episode, thing)
        if stand_of(pose) in ways.cost
    )
    with episode.views.away():
        for *_, pose in ranked[:_MOST_TRIES]:
            if thing.id in episode.views.visible(pose):
                return pose
    return _any_vantage(episode, thing, ways)


def _any_vantage(episode: EpisodeState, thing: ThorObject, ways: ShortestPaths) -> AgentPose | None:
    """The nearest of all poses that the simulator lists, for occluded objects."""
    answer = episode.body.ask("GetInteractablePoses", objectId=thing.id, standings=[True])
    poses = [
        AgentPose(p["x"], p["y"], p["z"], p["rotation"] % 360, p["horizon"]) for p in answer or ()
    ]
    known = [pose for pose in poses if stand_of(pose) in ways.cost]
    return min(
        known, key=lambda p: (ways.cost[stand_of(p)], p.x, p.z, p.rotation, p.horizon), default=None
    )


def stand_of(pose: AgentPose) -> Stand:
    """The cell and heading of a pose."""
    return (*cell(pose.x, pose.z), heading(pose.rotation))


def _promising(episode: EpisodeState, thing: ThorObject) -> Iterator[tuple[AgentPose, float]]:
    """Poses that face an object, each with its penalty against the best view, in steps."""
    now = episode.body.pose
    eye = episode.body.eye[1] - now.y
    for x, z in episode.grid.places:
        reach = thing.reach(x * STEP, z * STEP)
        if reach > REACH:
            continue
        far, tight = max(0.0, reach - 0.9) * 8, max(0.0, 0.35 - reach) * 12
        if thing.type in _DEEP:
            far, tight = max(0.0, reach - 0.3) * 12, 0.0
        for turn in HEADINGS:
            level = AgentPose(x * STEP, now.y, z * STEP, turn, 0.0)
            bearing, below = direction(level, _aim(thing, level), eye)
            if abs(bearing) <= _ASIDE:
                horizon = round(below / HORIZON_STEP) * HORIZON_STEP
                pose = AgentPose(level.x, now.y, level.z, turn, min(max(horizon, HIGHEST), LOWEST))
                yield pose, far + tight + abs(bearing) / 10 + abs(below - pose.horizon) / 10


def _aim(thing: ThorObject, pose: AgentPose) -> Point:
    """The point to look at: the center of a small object, a near part of a large one."""
    x, z = (
        min(max(at, middle - size * 0.3), middle + size * 0.3)
        for at, middle, size in (
            (pose.x, thing.center[0], thing.size[0]),
            (pose.z, thing.center[2], thing.size[2]),
        )
    )
    if math.hypot(x - pose.x, z - pose.z) < 0.1:  # It stands around the agent, as an L does.
        dx, dz = HEADINGS[heading(pose.rotation)]
        x, z = pose.x + 0.6 * dx, pose.z + 0.6 * dz
    if thing.type in _DEEP:
        return x, thing.center[1] - thing.size[1] / 4, z
    top = thing.center[1] + thing.size[1] / 2
    return x, top if thing.receptacle and not thing.openable else thing.center[1], z


def direction(pose: AgentPose, point: Point, eye: float) -> tuple[float, float]:
    """Direction of a point from a pose.

    Args:
        pose: of the agent.
        point: looked at.
        eye: height of the camera over the agent's position, metres.

    Returns:
        Degrees to the right of straight ahead, and degrees below the horizontal.
    """
    dx, dz = point[0] - pose.x, point[2] - pose.z
    bearing = (math.degrees(math.atan2(dx, dz)) - pose.rotation + 180) % 360 - 180
    drop = pose.y + eye - point[1]
    return bearing, math.degrees(math.atan2(drop, math.hypot(dx, dz)))
