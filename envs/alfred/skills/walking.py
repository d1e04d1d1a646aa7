"""Walking to objects: from where they are seen, how one faces them, and looking around."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.alfred.episode.state import EpisodeState
from inhabit.envs.alfred.thor.body import (
    HEADINGS,
    HIGHEST,
    HORIZON_STEP,
    LOWEST,
    REACH,
    STEP,
    AgentPose,
    Cell,
    ShortestPaths,
    Stand,
    cell,
    heading,
)
from inhabit.envs.alfred.thor.objects import Point, ThorObject
from inhabit.envs.core import Reason

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


@dataclass(frozen=True, slots=True)
class Result:
    """The reason of a failure (None if it succeeded), and a feedback sentence."""

    reason: Reason | None
    feedback: str


def done(sentence: str) -> Result:
    """A success."""
    return Result(None, _capital(sentence))


def failed(reason: Reason, sentence: str) -> Result:
    """A failure."""
    return Result(reason, _capital(sentence))


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


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
    if thing.receptacle:
        episode.memory.used = thing.id
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
    before = episode.body.pose.horizon
    nodded = look(episode, before + degrees) and episode.body.pose.horizon != before
    episode.see()
    return done(sentence) if nodded else failed(Reason.BLOCKED, "you can't look any further.")


_OUT_OF_VIEW = 35
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
        episode.memory.sent = thing.id
        return failed(Reason.OUT_OF_REACH, f"{name} is too far away. Go to it first.")
    if can_look_for(episode, pose, thing) and _look_for(episode, thing):
        return None
    episode.memory.sent = thing.id
    return failed(Reason.NOT_VISIBLE, f"you don't see {name} from here. Go to it first.")


def can_look_for(episode: EpisodeState, pose: AgentPose, thing: ThorObject) -> bool:
    """Whether tilting the head in a pose may bring an object into view."""
    bearing, _ = direction(pose, thing.center, episode.body.eye[1] - episode.body.pose.y)
    return thing.reach(pose.x, pose.z) <= REACH and abs(bearing) < _OUT_OF_VIEW


def _look_for(episode: EpisodeState, thing: ThorObject) -> bool:
    before = episode.body.pose.horizon
    for horizon in _tilts_towards(episode, thing):
        if look(episode, horizon):
            episode.see()
            if episode.world[thing.id].visible:
                return True
    look(episode, before)
    return False


def _tilts_towards(episode: EpisodeState, thing: ThorObject) -> Sequence[float]:
    """The angles below the horizontal at which to look for an object, the best first."""
    pose = episode.body.pose
    _, below = direction(pose, thing.center, episode.body.eye[1] - pose.y)
    straight = min(max(round(below / HORIZON_STEP) * HORIZON_STEP, HIGHEST), LOWEST)
    tilts = (straight, straight - HORIZON_STEP, straight + HORIZON_STEP)
    return [float(tilt) for tilt in tilts if HIGHEST <= tilt <= LOWEST]


def finds_by_tilting(episode: EpisodeState, thing: ThorObject) -> bool:
    """Whether `face` would bring an object into view, if it is not there already."""
    pose = episode.body.pose
    if not can_look_for(episode, pose, thing) or episode.world.shut_in(thing) is not None:
        return False
    with episode.views.away():
        return any(
            thing.id in episode.views.visible(replace(pose, horizon=tilt))
            for tilt in _tilts_towards(episode, thing)
        )


_SIGHT = (1.5, 0.75)
"""Metres around a cell that count as searched after looking around there: first coarse, then
fine once the whole room is searched."""
_LOOKING = 12
"""The value of a look around, in steps: one goes this many steps farther to see twice as much."""
TILTS = (30.0, 0.0)
"""Degrees below the horizontal to look around at."""


def look_around(episode: EpisodeState) -> Result:
    """Look in all directions, first a little downwards and then straight ahead."""
    horizon = episode.body.pose.horizon
    turn = turn_for(episode.field_of_view)
    for tilt in TILTS:
        look(episode, tilt)
        for _ in range(360 // turn):
            episode.body.step("RotateRight", blind=not episode.filming, degrees=turn)
            if episode.filming and episode.body.film is None:
                episode.film.append(episode.body.frame)
            episode.see()
    look(episode, horizon)
    episode.see()
    x, z, _ = episode.stand
    episode.memory.searched[x, z] = None
    return done("you look around.")


def turn_for(field_of_view: float) -> int:
    """Degrees per turn: images leave no gap between them, unless they show less than 10 degrees."""
    turns = (90, 72, 60, 45, 40, 36, 30, 24, 20, 15, 12)
    return next((turn for turn in turns if turn <= field_of_view), 10)


def explore(episode: EpisodeState) -> Result:
    """Go to the nearest unexplored part of the room and look around there."""
    while (goal := unsearched(episode)) is not None:
        if walk(episode, goal):
            look_around(episode)
            return done("you explore further and look around.")
        episode.memory.searched[goal[:2]] = None
    return failed(Reason.ALREADY, "you have looked at every part of the room.")


def unsearched(episode: EpisodeState) -> Stand | None:
    """The next place to look around: much new area for a short walk; None if nothing is new."""
    return choose(episode.grid.ways(episode.stand), episode.memory.searched)


def choose(ways: ShortestPaths, searched: Mapping[Cell, None]) -> Stand | None:
    """The next place to look around, for given paths and given `searched` cells."""
    nearest: dict[Cell, tuple[int, Stand]] = {}
    for stand, cost in ways.cost.items():
        place = stand[:2]
        if place not in nearest or cost < nearest[place][0]:
            nearest[place] = cost, stand
    for sight in _SIGHT:
        new = _farther(list(nearest), list(searched), sight)
        if new:
            gain = dict(zip(new, _around(new, sight), strict=True))
            worth = {place: gain[place] / (nearest[place][0] + _LOOKING) for place in new}
            return nearest[max(new, key=lambda place: (worth[place], place))][1]
    return None


def _farther(places: Sequence[Cell], searched: Sequence[Cell], sight: float) -> Sequence[Cell]:
    """The places that are farther than `sight` from every searched one."""
    if not searched:
        return places
    near = (_squares(places, searched) <= (sight / STEP) ** 2).any(axis=1)
    return [places[i] for i in np.flatnonzero(~near).tolist()]


def _around(places: Sequence[Cell], sight: float) -> Sequence[int]:
    """How many of the places are within `sight` of each: the new area that is seen from there."""
    found: Sequence[int] = (_squares(places, places) <= (sight / STEP) ** 2).sum(axis=1).tolist()
    return found


def _squares(places: Sequence[Cell], others: Sequence[Cell]) -> NDArray[np.int64]:
    """Squared distances in cells, (places, others)."""
    apart = np.array(places, np.int64)[:, None] - np.array(others, np.int64)[None]
    squares: NDArray[np.int64] = (apart**2).sum(axis=2)
    return squares
