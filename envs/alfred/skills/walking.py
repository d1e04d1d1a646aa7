"""Navigation to objects, step by step on the grid."""

from __future__ import annotations

from inhabit.envs.alfred.episode.state import EpisodeState
from inhabit.envs.alfred.skills.result import Result, done, failed
from inhabit.envs.alfred.skills.vantage import stand_of, vantage
from inhabit.envs.alfred.thor.body import HIGHEST, HORIZON_STEP, LOWEST, AgentPose
from inhabit.envs.alfred.thor.objects import ThorObject
from inhabit.envs.alfred.thor.routes import STEP, ShortestPaths, Stand
from inhabit.envs.core import Reason

_DETOURS = 12


def go_to(episode: EpisodeState, thing: ThorObject) -> Result:
    """Go to a pose from which the object is visible and in reach."""
    name = episode.name(thing)
    if thing.held:
        return failed(Reason.ALREADY, f"you have {name} in your hand.")
    shut = episode.world.shut_in(thing)
    if shut is not None:
        return failed(Reason.CLOSED, f"{name} is inside {episode.name(shut)}, which is closed.")
    pose = vantage(episode, thing)
    if pose is None:
        episode.memory.refused[f"go to {thing.id}"] = None
        return failed(Reason.BLOCKED, f"there is no place from where you can reach {name}.")
    if not arrive(episode, pose):
        episode.memory.refused[f"go to {thing.id}"] = None
        return failed(Reason.BLOCKED, f"the way to {name} is blocked.")
    episode.memory.go(thing.id)
    return done(f"you are at {name}.")


def arrive(episode: EpisodeState, pose: AgentPose) -> bool:
    """Move to a pose, walking or teleporting. False if the path is blocked."""
    if episode.teleport:
        episode.body.steps += 1
        arrived = episode.body.place(pose, blind=True)
    else:
        arrived = walk(episode, stand_of(pose)) and look(episode, pose.horizon)
    episode.see()
    return arrived


def walk(episode: EpisodeState, goal: Stand) -> bool:
    """Follow a shortest path. A blocked step is remembered and avoided by a new path."""
    if episode.teleport:
        episode.body.steps += 1
        now = episode.body.pose
        x, z, turn = goal
        return episode.body.place(
            AgentPose(x * STEP, now.y, z * STEP, turn, now.horizon), blind=True
        )
    for _ in range(_DETOURS):
        ways = episode.grid.ways(episode.stand)
        if goal not in ways.cost:
            return False
        if _follow(episode, ways, goal):
            return True
    return False


def _follow(episode: EpisodeState, ways: ShortestPaths, goal: Stand) -> bool:
    for action in ways.to(goal):
        before = episode.stand
        if not episode.body.step(action, blind=True) or episode.stand == before:
            episode.grid.block(before)
            return False
    return True


def look(episode: EpisodeState, horizon: float) -> bool:
    """Tilt the head to an angle below the horizontal, step by step."""
    target = min(max(horizon, HIGHEST), LOWEST)
    while abs(gap := target - episode.body.pose.horizon) > 1:
        action = "LookDown" if gap > 0 else "LookUp"
        if not episode.body.step(action, blind=True, degrees=min(HORIZON_STEP, abs(gap))):
            return False
    return True


def turn(episode: EpisodeState, action: str, sentence: str) -> Result:
    """Turn by 90 degrees."""
    turned = episode.body.step(action, blind=True)
    episode.see()
    return done(sentence) if turned else failed(Reason.BLOCKED, "you can't turn here.")


def move(episode: EpisodeState, action: str) -> Result:
    """One grid step, without turning."""
    moved = episode.body.step(action, blind=True)
    episode.see()
    if moved:
        return done("you make a step.")
    return failed(Reason.BLOCKED, "something is in your way.")


def tilt(episode: EpisodeState, degrees: float, sentence: str) -> Result:
    """Tilt the head by this many degrees downwards."""
    nodded = look(episode, episode.body.pose.horizon + degrees)
    episode.see()
    return done(sentence) if nodded else failed(Reason.BLOCKED, "you can't look any further.")
