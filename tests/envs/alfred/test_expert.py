"""The expert does nothing that its goal does not need."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from inhabit.envs import tasksets
from inhabit.envs.alfred.env import Alfred
from inhabit.envs.alfred.world.settings import AlfredSettings
from inhabit.envs.core import Task


@pytest.fixture(scope="module")
def env() -> Iterator[Alfred]:
    with Alfred(settings=AlfredSettings(wire="none")) as made:
        yield made


@cache
def frozen() -> list[Task]:
    file = tasksets.find("alfred-v1")
    assert file is not None
    return [Task.model_validate_json(line) for line in file.read_text().splitlines()]


def last_actions(env: Alfred, number: int, n: int) -> list[str]:
    """How the expert solves a frozen task, the last `n` actions; all of them have an effect."""
    env.reset(frozen()[number], seed=0)
    done = []
    while plan := env.plan():
        outcome = env.act(plan[0])
        assert outcome.reason is None, outcome.feedback
        done.append(plan[0].text)
    assert outcome.over
    return done[-n:]


@pytest.mark.parametrize("number", [21, 188])
def test_it_does_not_walk_to_what_a_tilt_of_the_head_shows(env: Alfred, number: int) -> None:
    verbs = [text.split(" the ")[0] for text in last_actions(env, number, 3)]
    expected = {21: ["pick up", "open", "put it in"], 188: ["put it in", "pick up", "put it on"]}
    assert verbs == expected[number]


def test_it_puts_things_where_there_is_room(env: Alfred) -> None:
    """One TV stand is full."""
    walk, put = last_actions(env, 69, 2)
    assert walk == "go to the tv stand_2" and put.startswith("put it")


def test_it_takes_a_pen_from_under_a_loft_bed(env: Alfred) -> None:
    """The bed stands on its boards, so that what is below can be seen and reached."""
    assert "pick up the pen" in last_actions(env, 182, 3)


def test_of_things_alike_it_takes_the_one_at_hand(env: Alfred) -> None:
    """The other cloth lies nearer, but out of sight."""
    scene = {
        "room": "FloorPlan317",
        "goal": {"type": "pick_two_obj_and_place", "object": "Cloth", "parent": "Dresser"},
        "start": {"x": -1.5, "z": -1.0, "rotation": 0},
        "placements": [{"object": "cloth_1", "receptacle": "drawer_1"}],
    }
    env.reset(Task(id="x", env="alfred", kind="x", goal="x", scene=scene), seed=0)
    for text in (
        "look around",
        "go to the cloth",
        "pick up the cloth",
        "put it on the dresser",
        "go to the drawer_1",
        "open the drawer",
        "pick up the cloth_1",
        "open the drawer_7",
        "drop it",
    ):
        action = env.parse(text)
        assert action is not None and env.act(action).reason is None
    assert [a.text for a in env.plan()] == ["pick up the cloth", "put it on the dresser"]
