"""What is told of a flat's objects, against the flat that they are in."""

from __future__ import annotations

import pytest
from present import needs_virtualhome
from served import served

from inhabit.envs.core import Factual, Privileged, SceneObject, Task
from inhabit.envs.host.env import WorkerEnv
from inhabit.envs.virtualhome.env import make
from inhabit.envs.virtualhome.evolution.template import VirtualHomeTemplate
from inhabit.envs.virtualhome.graph.library import load
from inhabit.envs.virtualhome.tasks.sampling import sample
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings

pytestmark = needs_virtualhome


@pytest.fixture(scope="module")
def task() -> Task:
    return next(iter(sample(1, seed=0)))


def facts(env: object) -> dict[str, SceneObject]:
    assert isinstance(env, Factual)
    found = env.things()
    assert len({thing.name for thing in found}) == len(found)
    return {thing.name: thing for thing in found}


def do(env: object, *texts: str) -> None:
    for text in texts:
        action = env.parse(text)  # type: ignore[attr-defined]
        assert env.act(action).reason is None, text  # type: ignore[attr-defined]


def test_rooms_walls_and_people_are_no_things(task: Task) -> None:
    with make("embedded", VirtualHomeSettings(view="none")) as env:
        env.reset(task, seed=0)
        told = facts(env)
    assert len(told) > 150
    assert {"kitchen", "character", "wall", "floor"}.isdisjoint(t.kind for t in told.values())
    assert told["kitchentable_1"].kind == "kitchen table"
    assert not any(t.pixels for t in told.values())


def test_what_is_done_to_a_thing_is_told_of_it(task: Task) -> None:
    with make("embedded", VirtualHomeSettings(view="none")) as env:
        env.reset(task, seed=0)
        fridge = facts(env)["fridge_1"]
        assert fridge.states == {"open": False, "plugged_in": True}
        cold = [t.name for t in facts(env).values() if t.support == "fridge_1" and t.inside]
        do(env, "walk to the kitchen", "walk to the fridge_1", "open the fridge_1")
        do(env, f"grab the {cold[0]}")
        told = facts(env)
        assert told["fridge_1"].states["open"]
        assert (told[cold[0]].held, told[cold[0]].support) == (True, None)
        do(env, "walk to the kitchentable_1", f"put the {cold[0]} on the kitchentable_1")
        there = facts(env)[cold[0]]
        assert (there.held, there.support, there.inside) == (False, "kitchentable_1", False)


def test_every_support_is_a_thing_or_a_person_and_none_holds_itself_up(task: Task) -> None:
    with make("embedded", VirtualHomeSettings(view="none")) as env:
        env.reset(task, seed=0)
        told = facts(env)
    for thing in told.values():
        seen = [thing.name]
        while (support := told[seen[-1]].support) is not None:
            assert support in told
            assert support not in seen
            seen.append(support)
    assert sum(t.support is not None for t in told.values()) > 80


def test_pixels_are_those_of_the_picture_here_and_over_the_wire(task: Task) -> None:
    settings = VirtualHomeSettings(width=96, height=72)
    with served() as server, make("embedded", settings) as here:
        there = settings.model_copy(update={"port": server.server_port})
        with make("unity", there) as remote:
            for env in (here, remote):
                env.reset(task, seed=0)
                do(env, "walk to the kitchen", "walk to the fridge_1")
            told = facts(here)
            assert told == facts(remote)
    assert told["fridge_1"].pixels > 50
    assert 0 < sum(t.pixels for t in told.values()) < 96 * 72
    assert told["bed_1"].pixels == 0


@pytest.mark.slow
def test_a_worker_tells_the_same(task: Task) -> None:
    plain = {"width": 64, "height": 48}
    settings = VirtualHomeSettings(**plain)
    with make("embedded", settings) as here, WorkerEnv("virtualhome", "embedded", plain) as far:
        here.reset(task, seed=0)
        far.reset(task, seed=0)
        assert isinstance(far, Privileged)
        assert facts(far) == facts(here)


def test_the_evolving_graph_keeps_no_times_of_its_steps(task: Task) -> None:
    with make("embedded", VirtualHomeSettings(view="none")) as env:
        env.reset(task, seed=0)
        for action in env.actions()[:6]:
            env.act(action)
    # Of every edge it would keep when it was touched, for as long as the program runs.
    assert not load().environment.TimeMeasurement._measurement_time


def test_names_in_words_are_parsed(task: Task) -> None:
    template = VirtualHomeTemplate()
    with make("embedded", VirtualHomeSettings(view="none")) as env:
        env.reset(task, seed=0)
        for action in env.vocabulary():
            assert env.parse(template.in_words(action.text)) == env.parse(action.text) == action
    assert template.in_words("put the dishbowl in the kitchencabinet_2") == (
        "put the bowl in the kitchencabinet_2"
    )
    assert template.in_words("grab the cutleryknife") == "grab the cutlery knife"
