"""Goals of one flat that are asked of the same pictures."""

from __future__ import annotations

import random

from present import needs_virtualhome

import inhabit
from inhabit.envs.core import Action, Task
from inhabit.envs.template import ActionKind
from inhabit.envs.virtualhome.env import EmbeddedVirtualHome
from inhabit.envs.virtualhome.evolution.template import VirtualHomeTemplate
from inhabit.envs.virtualhome.tasks.sampling import sample
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings

pytestmark = needs_virtualhome


def played(env: EmbeddedVirtualHome, part: Task) -> list[Action]:
    """The expert's actions until a goal that was taken on in the middle is reached."""
    env.pursue(part)
    done: list[Action] = []
    while plan := env.plan():
        done.append(plan[0])
        assert env.act(plan[0]).reason is None
    return done


def test_each_goal_of_a_crossing_is_reached_after_a_part_of_the_other() -> None:
    template = VirtualHomeTemplate()
    task = next(iter(sample(1, seed=3)))
    env = EmbeddedVirtualHome(VirtualHomeSettings(view="none"))
    env.reset(task, seed=0)
    found = list(template.crossings(task, 2, env.things(), random.Random(0)))
    assert found
    for crossing in found[:2]:
        one, other = crossing.rows
        assert one.goal != other.goal
        assert {event.wish for event in template.events(one)}.isdisjoint(
            event.wish for event in template.events(other) if event.action_kind is ActionKind.PUT
        )
        env.reset(task, seed=0)
        assert played(env, crossing.parts[0])[-1].verb == "CLOSE"
        for row in crossing.rows:
            copy = env.fork()
            played(copy, row)
            assert copy.progress() == (2, 2)


def test_who_holds_an_object_of_the_goal_brings_it_first() -> None:
    template = VirtualHomeTemplate()
    task = next(iter(sample(1, seed=3)))
    env = EmbeddedVirtualHome(VirtualHomeSettings(view="none"))
    env.reset(task, seed=0)
    crossing = next(iter(template.crossings(task, 2, env.things(), random.Random(0))))
    last = crossing.parts[1]
    while (action := played_one(env, last)).verb != "GRAB":
        pass
    env.pursue(crossing.rows[0])
    puts = [a for a in env.plan() if template.action_kind(a) is ActionKind.PUT]
    assert puts[0].arguments[0] == action.arguments[0]


def played_one(env: EmbeddedVirtualHome, part: Task) -> Action:
    env.pursue(part)
    action = env.plan()[0]
    env.act(action)
    return action


def test_what_the_character_itself_has_to_do_are_events() -> None:
    template = VirtualHomeTemplate()
    said = {}
    for kind in ("read_in_bed", "watch_tv"):
        (task,) = inhabit.tasks("virtualhome", 1, kinds=[kind])
        said[kind] = [(event.wish, event.action_kind) for event in template.events(task)]
    read, watched = said["read_in_bed"], said["watch_tv"]
    assert read[0] in [(f"pick up the {it}", ActionKind.TAKE) for it in ("book", "magazine")]
    book = read[0][0].removeprefix("pick up the ")
    assert read[1:] == [
        (f"read the {book}", ActionKind.OTHER),
        ("lie down on the bed", ActionKind.OTHER),
    ]
    assert watched == [
        ("turn on the tv", ActionKind.SWITCH_ON),
        ("watch the tv", ActionKind.OTHER),
        ("sit down on the sofa", ActionKind.OTHER),
    ]
