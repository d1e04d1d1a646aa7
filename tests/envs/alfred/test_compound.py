"""Evolved goals: several at once, in order, under a condition, and with a disturbance."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from sampling import every

from inhabit.envs.alfred.env import Alfred
from inhabit.envs.alfred.evolution.template import AlfredTemplate
from inhabit.envs.alfred.scenes.scene import AlfredScene
from inhabit.envs.alfred.world.settings import AlfredSettings
from inhabit.envs.core import SceneError, Task

SETTINGS = AlfredSettings(wire="none")


@pytest.fixture(scope="module")
def env() -> Iterator[Alfred]:
    with Alfred(settings=SETTINGS) as made:
        yield made


def evolved(change: str, seed: int = 0) -> Task:
    """The first task that a change can be applied to."""
    template = AlfredTemplate(SETTINGS)
    for number in range(seed, seed + 400):
        rng = random.Random(number)
        task = template.evolve(template.seed(rng, "seed"), change, rng, change)
        if task is not None:
            return task
    raise AssertionError(f"{change!r} is possible for no task.")


def solve(env: Alfred) -> int:
    """Play the expert's solution; the number of actions."""
    for count in range(60):
        plan = env.plan()
        if not plan:
            met, total = env.progress()
            assert met == total
            return count
        assert env.act(plan[0]).reason is None
    raise AssertionError("The expert does not get to the end.")


@pytest.mark.parametrize(
    "change", every(4, ["second goal", "condition", "disturbance", "ordering"])
)
def test_the_expert_solves_what_was_evolved(env: Alfred, change: str) -> None:
    task = evolved(change)
    env.reset(task, seed=0)
    assert env.progress()[0] < env.progress()[1]
    assert solve(env) >= 2


def test_both_goals_have_to_hold(env: Alfred) -> None:
    task = evolved("second goal")
    scene = AlfredScene.model_validate(dict(task.scene))
    env.reset(task, seed=0)
    totals = env.progress()[1]
    alone = task.model_copy(update={"scene": {**task.scene, "also": ()}})
    env.reset(alone, seed=0)
    assert env.progress()[1] < totals
    solve(env)
    solution = env.progress()
    assert solution[0] == solution[1] and len(scene.goals) == 2


def test_a_goal_reached_too_early_can_not_be_made_good(env: Alfred) -> None:
    task = evolved("ordering")
    scene = AlfredScene.model_validate(dict(task.scene))
    _, second = scene.goals
    backwards = scene.model_copy(update={"goal": second, "also": (), "in_order": False})
    env.reset(task.model_copy(update={"scene": backwards.model_dump(mode="json")}), seed=0)
    actions = []
    while plan := env.plan():
        actions.append(plan[0])
        env.act(plan[0])
    env.reset(task, seed=0)
    for action in actions:
        env.act(action)
    assert not env.plan()
    assert env.progress()[0] < env.progress()[1]


def test_a_condition_decides_between_goals(env: Alfred) -> None:
    task = evolved("condition")
    scene = AlfredScene.model_validate(dict(task.scene))
    assert scene.condition is not None
    other = scene.condition.clean if scene.goal == scene.condition.dirty else scene.condition.dirty
    wrong = scene.model_copy(update={"goal": other})
    with pytest.raises(SceneError, match="condition"):
        env.reset(task.model_copy(update={"scene": wrong.model_dump(mode="json")}), seed=0)


def test_a_disturbance_comes_after_its_number_of_actions(env: Alfred) -> None:
    task = evolved("disturbance", seed=7)
    scene = AlfredScene.model_validate(dict(task.scene))
    (event,) = scene.disturbances
    calm = task.model_copy(update={"scene": {**task.scene, "disturbances": ()}})
    ends = []
    for played in (task, calm):
        env.reset(played, seed=0)
        for _ in range(event.after):
            env.act(env.vocabulary()[0])
        ends.append({t.name: (t.support, t.states) for t in env.things()})
    changed = [p.object for p in event.placements] + [s.object for s in event.states]
    assert [name for name in ends[0] if ends[0][name] != ends[1][name]] == changed
