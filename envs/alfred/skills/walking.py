"""Going to things and looking around, by real steps on the grid."""

from __future__ import annotations

import math
from collections.abc import Sequence

from envs.alfred.body import HIGHEST, HORIZON_STEP, LOWEST, Pose
from envs.alfred.objects import Thing
from envs.alfred.routes import STEP, Stand, Ways, cell, heading
from envs.alfred.situation import Situation
from envs.alfred.skills.result import Result, done, failed
from envs.core import Reason

REACH = 1.5
"""Metres along the floor within which a thing can be handled, as in THOR."""
_TRIES = 3
_DETOURS = 12
_HORIZONS = [-30, 0, 30, 60]


def go_to(here: Situation, thing: Thing) -> Result:
    """Walk to where a thing can be seen and handled, and look at it."""
    name = here.name(thing)
    if thing.held:
        return failed(Reason.ALREADY, f"you have {name} in your hand.")
    shut = here.world.shut_in(thing)
    if shut is not None:
        return failed(Reason.CLOSED, f"{name} is inside {here.name(shut)}, which is closed.")
    for pose in vantages(here, thing)[:_TRIES]:
        if arrive(here, pose) and here.world[thing.id].visible:
            here.memory.go(thing.id)
            return done(f"you are at {name}.")
    here.memory.refused[f"go to {thing.id}"] = None
    return failed(Reason.BLOCKED, f"there is no way to a place from where you can reach {name}.")


def vantages(here: Situation, thing: Thing, start: Stand | None = None) -> Sequence[Pose]:
    """Poses from which a thing can be handled, the best first: a short way and a good view.

    Args:
        here: where and when.
        thing: to be handled.
        start: where one would come from, if not from here.
    """
    ways = here.grid.ways(start or here.stand)
    now = here.body.pose
    near = [
        {"x": x * STEP, "y": now.y, "z": z * STEP}
        for x, z in sorted(here.grid.places)
        if thing.reach(x * STEP, z * STEP) < REACH
    ]
    if not near:
        return []
    answer = here.body.ask(
        "GetInteractablePoses",
        objectId=thing.id,
        positions=near,
        horizons=_HORIZONS,
        standings=[True],
    )
    poses = [Pose(p["x"], p["y"], p["z"], p["rotation"] % 360, p["horizon"]) for p in answer or ()]
    eye = here.body.eye[1] - now.y
    ranked = [
        (ways.cost[stand_of(pose)] + _awkward(pose, thing, eye), pose.x, pose.z, i, pose)
        for i, pose in enumerate(poses)
        if stand_of(pose) in ways.cost
    ]
    return [pose for *_, pose in sorted(ranked, key=lambda entry: entry[:4])]


def stand_of(pose: Pose) -> Stand:
    """Where one stands in a pose."""
    return (*cell(pose.x, pose.z), heading(pose.rotation))


def _awkward(pose: Pose, thing: Thing, eye: float) -> float:
    """How much worse than the best view a pose gives of a thing, in steps one would walk for it."""
    bearing, below = direction(pose, thing, eye)
    reach = thing.reach(pose.x, pose.z)
    far = max(0.0, reach - 0.9) * 8
    tight = max(0.0, 0.35 - reach) * 12
    return far + tight + abs(bearing) / 10 + abs(below - pose.horizon) / 12


def direction(pose: Pose, thing: Thing, eye: float) -> tuple[float, float]:
    """Where the middle of a thing is, seen from a pose.

    Args:
        pose: of the agent.
        thing: looked at.
        eye: height of the camera over the agent's position, metres.

    Returns:
        Degrees to the right of straight ahead, and degrees below the horizontal.
    """
    dx, dz = thing.center[0] - pose.x, thing.center[2] - pose.z
    bearing = (math.degrees(math.atan2(dx, dz)) - pose.rotation + 180) % 360 - 180
    drop = pose.y + eye - thing.center[1]
    return bearing, math.degrees(math.atan2(drop, math.hypot(dx, dz)))


def arrive(here: Situation, pose: Pose) -> bool:
    """Take up a pose, on foot or at once. False if the way is blocked."""
    if here.teleport:
        there = {"x": pose.x, "y": pose.y, "z": pose.z}
        arrived = here.body.step(
            "TeleportFull",
            position=there,
            rotation={"x": 0, "y": pose.rotation, "z": 0},
            horizon=pose.horizon,
            standing=True,
        )
    else:
        arrived = walk(here, stand_of(pose)) and look(here, pose.horizon)
    here.see()
    return arrived


def walk(here: Situation, goal: Stand) -> bool:
    """Follow a shortest way; where a step is blocked, remember it and find another way."""
    for _ in range(_DETOURS):
        ways = here.grid.ways(here.stand)
        if goal not in ways.cost:
            return False
        if _follow(here, ways, goal):
            return True
    return False


def _follow(here: Situation, ways: Ways, goal: Stand) -> bool:
    for action in ways.to(goal):
        before = here.stand
        if not here.body.step(action, blind=True) or here.stand == before:
            here.grid.block(before)
            return False
    return True


def look(here: Situation, horizon: float) -> bool:
    """Look up or down to a number of degrees below the horizontal, step by step."""
    target = min(max(horizon, HIGHEST), LOWEST)
    while abs(gap := target - here.body.pose.horizon) > 1:
        action = "LookDown" if gap > 0 else "LookUp"
        if not here.body.step(action, blind=True, degrees=min(HORIZON_STEP, abs(gap))):
            return False
    return True


def turn(here: Situation, action: str, sentence: str) -> Result:
    """A quarter turn on the spot."""
    turned = here.body.step(action)
    here.see()
    return done(sentence) if turned else failed(Reason.BLOCKED, "you can't turn here.")
