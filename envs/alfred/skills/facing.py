"""Brings an object into view before an interaction."""

from __future__ import annotations

from inhabit.envs.alfred.episode.state import EpisodeState
from inhabit.envs.alfred.skills.result import Result, failed
from inhabit.envs.alfred.skills.vantage import direction
from inhabit.envs.alfred.skills.walking import look
from inhabit.envs.alfred.thor.body import HIGHEST, HORIZON_STEP, LOWEST, REACH, AgentPose
from inhabit.envs.alfred.thor.objects import ThorObject
from inhabit.envs.core import Reason

_ASIDE = 35
"""Degrees to the side within which tilting the head may bring an object into view."""


def face(episode: EpisodeState, thing: ThorObject) -> Result | None:
    """Tilt the head if needed. Returns None if an interaction is possible, else the failure."""
    name = episode.name(thing)
    shut = episode.world.shut_in(thing)
    if shut is not None:
        return failed(Reason.CLOSED, f"{name} is inside {episode.name(shut)}, which is closed.")
    if thing.visible:
        return None
    pose = episode.body.pose
    if thing.reach(pose.x, pose.z) > REACH:
        return failed(Reason.OUT_OF_REACH, f"{name} is too far away. Go to it first.")
    if can_look_for(episode, pose, thing) and _look_for(episode, thing):
        return None
    return failed(Reason.NOT_VISIBLE, f"you don't see {name} from here. Go to it first.")


def can_look_for(episode: EpisodeState, pose: AgentPose, thing: ThorObject) -> bool:
    """Whether tilting the head in a pose may bring an object into view."""
    bearing, _ = direction(pose, thing.center, episode.body.eye[1] - episode.body.pose.y)
    return thing.reach(pose.x, pose.z) <= REACH and abs(bearing) < _ASIDE


def _look_for(episode: EpisodeState, thing: ThorObject) -> bool:
    pose = episode.body.pose
    before = pose.horizon
    _, below = direction(pose, thing.center, episode.body.eye[1] - pose.y)
    straight = min(max(round(below / HORIZON_STEP) * HORIZON_STEP, HIGHEST), LOWEST)
    for horizon in (straight, straight - HORIZON_STEP, straight + HORIZON_STEP):
        if HIGHEST <= horizon <= LOWEST and look(episode, horizon):
            episode.see()
            if episode.world[thing.id].visible:
                return True
    look(episode, before)
    return False
