"""Going to things, by real steps on the grid."""

from __future__ import annotations

from inhabit.envs.alfred.skills.result import Result, done, failed
from inhabit.envs.alfred.skills.routes import STEP, Stand, Ways
from inhabit.envs.alfred.skills.situation import Situation
from inhabit.envs.alfred.skills.vantage import stand_of, vantage
from inhabit.envs.alfred.thor.body import HIGHEST, HORIZON_STEP, LOWEST, AgentPose
from inhabit.envs.alfred.thor.objects import ThorObject
from inhabit.envs.core import Reason

_DETOURS = 12


def go_to(here: Situation, thing: ThorObject) -> Result:
    """Walk to where a thing can be seen and handled, and look at it."""
    name = here.name(thing)
    if thing.held:
        return failed(Reason.ALREADY, f"you have {name} in your hand.")
    shut = here.world.shut_in(thing)
    if shut is not None:
        return failed(Reason.CLOSED, f"{name} is inside {here.name(shut)}, which is closed.")
    pose = vantage(here, thing)
    if pose is None:
        here.memory.refused[f"go to {thing.id}"] = None
        return failed(Reason.BLOCKED, f"there is no place from where you can reach {name}.")
    if not arrive(here, pose):
        here.memory.refused[f"go to {thing.id}"] = None
        return failed(Reason.BLOCKED, f"the way to {name} is blocked.")
    here.memory.go(thing.id)
    return done(f"you are at {name}.")


def arrive(here: Situation, pose: AgentPose) -> bool:
    """Take up a pose, on foot or at once. False if the way is blocked."""
    if here.teleport:
        here.body.steps += 1
        arrived = here.body.place(pose, blind=True)
    else:
        arrived = walk(here, stand_of(pose)) and look(here, pose.horizon)
    here.see()
    return arrived


def walk(here: Situation, goal: Stand) -> bool:
    """Follow a shortest way; where a step is blocked, remember it and find another way."""
    if here.teleport:
        here.body.steps += 1
        now = here.body.pose
        x, z, turn = goal
        return here.body.place(AgentPose(x * STEP, now.y, z * STEP, turn, now.horizon), blind=True)
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
    turned = here.body.step(action, blind=True)
    here.see()
    return done(sentence) if turned else failed(Reason.BLOCKED, "you can't turn here.")


def move(here: Situation, action: str) -> Result:
    """A step of the grid, without turning."""
    moved = here.body.step(action, blind=True)
    here.see()
    if moved:
        return done("you make a step.")
    return failed(Reason.BLOCKED, "something is in your way.")


def nod(here: Situation, degrees: float, sentence: str) -> Result:
    """Tilt the head by so much downwards."""
    nodded = look(here, here.body.pose.horizon + degrees)
    here.see()
    return done(sentence) if nodded else failed(Reason.BLOCKED, "you can't look any further.")
