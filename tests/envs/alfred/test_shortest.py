"""First actions of shortest plans, against a search that leaves nothing out."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from inhabit.envs.alfred.env import Alfred
from inhabit.envs.alfred.tasks.sampling import sample
from inhabit.envs.alfred.world.settings import AlfredSettings
from inhabit.envs.core import Action, Task

LOOKING = ("look around", "explore", "turn left", "turn right")
SETTINGS = AlfredSettings(width=64, height=64, navigation="teleport", wire="none")


@pytest.fixture(scope="module")
def env() -> Iterator[Alfred]:
    with Alfred("embedded", SETTINGS) as made:
        yield made


def solved(env: Alfred) -> bool:
    met, total = env.progress()
    return met == total


def searched(env: Alfred) -> frozenset[Action] | None:
    """Every first action of a plan of least length, of at most two: all plans are tried.

    But for those that end with looking where there is no lamp to be seen: each look that is tried
    shows that it brings nothing about.
    """
    if solved(env):
        return frozenset()
    before, lamp = env.progress(), env._episode().goal.toggle is not None
    with ExitStack() as stack:
        after = []
        for action in env.actions():
            fork = stack.enter_context(env.fork())
            if fork.act(action).reason is None:
                after.append((action, fork))
            assert lamp or action.verb not in LOOKING or fork.progress() == before
        if last := frozenset(action for action, fork in after if solved(fork)):
            return last
        return frozenset(a for a, fork in after if leads_on(fork, lamp)) or None


def leads_on(env: Alfred, lamp: bool) -> bool:
    for action in env.actions():
        if not lamp and action.verb in LOOKING:
            continue
        with env.fork() as fork:
            if fork.act(action).reason is None and solved(fork):
                return True
    return False


def moments(env: Alfred, task: Task, draw: random.Random) -> Iterator[None]:
    """Moments of an episode that are not far from the goal, with few things to speak of."""
    env.reset(task, seed=0)
    near = draw.choice((1, 2, 3))
    while len(plan := env.plan()) > near:
        env.act(plan[0])
    for _ in range(3):
        forget(env, draw)
        yield
        plan = env.plan()
        env.act(draw.choice(env.admissible()) if not plan or draw.random() < 0.3 else plan[0])


def forget(env: Alfred, draw: random.Random) -> None:
    """All but what the plan names, what is in the hand, and two other things."""
    here = env._episode()
    named = " ".join(action.text for action in env.plan())
    known = here.reference().known()
    needed = {t.id for t in known if here.names.of(t.id).rpartition("_")[0] in named or t.held}
    others = sorted(set(here.memory.seen) - needed)
    kept = needed | set(draw.sample(others, min(2, len(others))))
    here.memory.seen = {id: None for id in here.memory.seen if id in kept}


def compared(env: Alfred, episodes: int, seed: int) -> list[int]:
    """How many moments had no answer, were solved, or had some."""
    kinds = [0, 0, 0]
    for number, task in enumerate(sample(episodes, seed)):
        for _ in moments(env, task, random.Random(number)):
            before = env.digest()
            best, offered = env.best_actions(), set(env.actions())
            assert env.digest() == before
            told = None if best is None else best & offered
            assert told == searched(env), (number, task.goal, env.plan())
            check_wordings(env, (best or frozenset()) - offered)
            kinds[0 if best is None else 1 if not best else 2] += 1
    return kinds


def check_wordings(env: Alfred, more: frozenset[Action]) -> None:
    """What can be said besides has to work as well as what is offered."""
    for action in sorted(more, key=lambda a: a.text)[:2]:
        with env.fork() as fork:
            assert fork.act(action).reason is None
            assert solved(fork) or fork.best_actions()


@pytest.mark.slow
def test_best_actions_are_those_of_an_exhaustive_search(env: Alfred) -> None:
    _, reached, known = compared(env, 2, seed=5)
    assert reached + known >= 3


CUT_IN_THE_FRIDGE = {
    "room": "FloorPlan1",
    "goal": {
        "type": "pick_and_place_simple",
        "object": "Apple",
        "parent": "Fridge",
        "sliced": True,
    },
    "held": "knife_1",
    "placements": [{"object": "apple_1", "receptacle": "fridge_1"}],
}
WASH_IN_A_BOWL = {
    "room": "FloorPlan1",
    "goal": {"type": "pick_clean_then_place_in_recep", "object": "Apple", "parent": "Bowl"},
    "placements": [{"object": "apple_1", "receptacle": "bowl_1"}],
}


@pytest.mark.parametrize(
    ("scene", "known", "before", "first"),
    [
        pytest.param(
            CUT_IN_THE_FRIDGE,
            ("Fridge",),
            ("go to the fridge",),
            "open the fridge",
            marks=pytest.mark.slow,
        ),
        (
            WASH_IN_A_BOWL,
            ("Bowl", "SinkBasin", "Faucet"),
            ("go to the bowl", "pick up the bowl", "go to the sink"),
            "put it in the sink",
        ),
    ],
)
def test_what_has_to_be_uncovered_or_carried_along(
    env: Alfred,
    scene: dict[str, Any],
    known: tuple[str, ...],
    before: tuple[str, ...],
    first: str,
) -> None:
    kind = scene["goal"]["type"]
    env.reset(
        Task(id="made", env="alfred", kind=kind, goal="Do it.", scene=scene, max_steps=9), seed=0
    )
    here = env._episode()
    here.memory.seen = {thing.id: None for thing in here.world.of_type(*known)}
    for text in before:
        assert acted(env, text)
    here = env._episode()
    here.memory.seen = {thing.id: None for thing in here.world.of_type(*known)}
    best = env.best_actions()
    assert best is not None
    assert first in {action.text for action in best}


def acted(env: Alfred, text: str) -> bool:
    action = env.parse(text)
    return action is not None and env.act(action).reason is None


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_best_actions_of_many_states(env: Alfred) -> None:
    unknown, reached, known = compared(env, 70, seed=6)
    assert unknown + reached + known > 200
    assert known > 100
    assert unknown


def test_a_plan_ends_when_the_goal_holds(env: Alfred) -> None:
    """With the lamp on already, nothing is left once the phone is out of the drawer."""
    scene = {
        "room": "FloorPlan308",
        "goal": {"type": "look_at_obj_in_light", "object": "CellPhone", "toggle": "DeskLamp"},
        "start": {"x": 0.5, "z": -0.25, "rotation": 180},
        "placements": [{"object": "cellphone_1", "receptacle": "drawer_4"}],
        "states": [{"object": "desk lamp_1", "on": True}],
    }
    goal = "Look at the phone in the light of the lamp."
    env.reset(Task(id="t", env="alfred", kind="", goal=goal, scene=scene, max_steps=50), seed=0)
    plan = env.plan()
    assert plan
    for action in plan:
        assert not solved(env)
        assert env.act(action).reason is None
    assert solved(env)
    assert plan[-1].verb == "pick up"
