"""What counts as done: on the thing that was meant, and still so at the end."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import pytest
from present import needs_virtualhome

from inhabit.envs.core import SceneError, Task
from inhabit.envs.virtualhome.env import EmbeddedVirtualHome
from inhabit.envs.virtualhome.graph.goals import ActionGoal, counts
from inhabit.envs.virtualhome.graph.verbs import parse_line
from inhabit.envs.virtualhome.tasks.kinds import KINDS
from inhabit.envs.virtualhome.tasks.sampling import sample
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings

pytestmark = needs_virtualhome


@cache
def tasks() -> Mapping[str, Task]:
    """One of every kind."""
    return {task.kind: task for task in sample(len(KINDS), seed=0)}


def begun(kind: str) -> EmbeddedVirtualHome:
    """At the start of a generated task."""
    env = EmbeddedVirtualHome(VirtualHomeSettings(view="none"))
    env.reset(tasks()[kind], seed=0)
    return env


def do(env: EmbeddedVirtualHome, *texts: str) -> None:
    for text in texts:
        action = env.parse(text)
        assert action is not None, text
        outcome = env.act(action)
        assert outcome.reason is None, (text, outcome.feedback)


@pytest.mark.parametrize(
    ("kind", "verb"),
    [("watch_tv", "WATCH"), ("read_in_bed", "READ"), ("have_a_drink", "DRINK"), ("work", "TYPE")],
)
def test_an_action_that_the_goal_asks_for_counts(kind: str, verb: str) -> None:
    env = begun(kind)
    plan = env.plan()
    asked = next(action for action in plan if action.verb == verb)
    for action in plan[: plan.index(asked)]:
        env.act(action)
    before = env.progress()[0]
    assert env.act(asked).met == before + 1


def test_the_same_done_to_another_thing_does_not_count() -> None:
    this, other = parse_line("[read] <book> (5)"), parse_line("[read] <book> (6)")
    meant, whichever = ActionGoal(any_of=("READ",), id=5), ActionGoal(any_of=("READ",))
    assert counts(meant, this)
    assert not counts(meant, other)
    assert counts(whichever, other)
    assert not counts(whichever, parse_line("[touch] <book> (5)"))


def test_the_expert_walks_at_once_to_what_it_has_seen() -> None:
    env = begun("clear_table")
    while plan := env.plan():
        if [action.verb for action in plan[:2]] == ["WALK", "WALK"]:
            assert plan[1] not in env.actions(), "What was seen needs no walk to its room first."
        env.act(plan[0])
    assert env.progress() == (2, 2)


def test_who_got_up_again_does_not_sit_on_the_sofa_nor_who_sits_elsewhere() -> None:
    env = begun("watch_tv")
    plan = env.plan()
    seat = next(action for action in plan if action.verb == "SIT")
    for action in plan[: plan.index(seat)]:
        env.act(action)
    start = env.progress()[0]
    assert env.act(seat).met == start + 2
    do(env, "stand up")
    assert env.progress()[0] == start + 1
    there = next(a for a in env.admissible() if a.verb == "WALK" and "chair" in a.text)
    do(env, there.text, there.text.replace("walk to", "sit on"))
    assert env.progress()[0] == start + 1
    assert sum(a == 1 and relation == "ON" for a, relation, _ in env.state()["edges"]) == 1


def test_an_action_about_nothing_names_no_thing() -> None:
    goals = [{"kind": "action", "any_of": ["SLEEP"], "id": 1}]
    task = Task(id="t", env="virtualhome", kind="k", goal="g", scene={"flat": 0, "goals": goals})
    env = EmbeddedVirtualHome(VirtualHomeSettings(view="none"))
    with pytest.raises(SceneError, match="its actions are about none"):
        env.reset(task, seed=0)
