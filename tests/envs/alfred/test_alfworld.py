"""ALFWorld's twin: the contract, its text, and that text and image are of one state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

import inhabit
from inhabit.envs.alfred.alfworld import AlfworldSettings
from inhabit.envs.alfred.alfworld.env import Alfworld
from inhabit.envs.alfred.alfworld.tasks import read, sample
from inhabit.envs.contract import EnvContract
from inhabit.envs.core import Env, Reason, SceneError, Task
from tests.envs.alfred.trajectories_for_tests import trajectory, write

SMALL = AlfworldSettings(width=64, height=64, wire="none")


def task(room: str, words: str, **goal: str) -> Task:
    return Task(
        id=f"{room}-{words}",
        env="alfworld",
        kind=goal["type"],
        goal=words,
        scene={"room": room, "goal": goal},
        max_steps=50,
    )


HEAT = task(
    "FloorPlan1",
    "put a hot potato in sinkbasin",
    type="pick_heat_then_place_in_recep",
    object="Potato",
    parent="SinkBasin",
)
LIGHT = task(
    "FloorPlan301",
    "look at book under the desklamp",
    type="look_at_obj_in_light",
    object="Book",
    toggle="DeskLamp",
)


@pytest.mark.slow
class TestAlfworld(EnvContract):
    steps = 6

    def make(self) -> Env:
        return Alfworld(settings=SMALL)

    def tasks(self) -> Sequence[Task]:
        return [LIGHT, HEAT]


@pytest.fixture
def kitchen() -> Iterator[Alfworld]:
    with Alfworld(settings=SMALL) as env:
        env.reset(HEAT, seed=0)
        yield env


def said(env: Alfworld, text: str) -> str:
    action = env.parse(text)
    assert action is not None, text
    return env.act(action).feedback


@pytest.mark.parametrize(
    "more",
    [
        {"also": [HEAT.scene["goal"]]},
        {"disturbances": [{"after": 1}]},
        {"goal": {**HEAT.scene["goal"], "sliced": True}},  # type: ignore[dict-item]
    ],
)
def test_goals_that_the_game_does_not_have_are_refused(more: dict[str, object]) -> None:
    with Alfworld(settings=SMALL) as env, pytest.raises(SceneError, match="the text game has one"):
        env.reset(HEAT.model_copy(update={"scene": {**HEAT.scene, **more}}), seed=0)


def test_it_begins_as_alfworld_does(kitchen: Alfworld) -> None:
    text = kitchen.observe().text
    begins = (
        "-= Welcome to TextWorld, ALFRED! =-\n\nYou are in the middle of a room. Looking quickly"
    )
    assert text.startswith(begins)
    assert text.endswith("a toaster 1.\n\nYour task is to: put a hot potato in sinkbasin.")
    assert said(kitchen, "look").endswith("Looking quickly around you, you see nothing.")
    assert "\n  examine (something):              examine" in said(kitchen, "help")


def test_commands_are_told_in_alfworlds_words(kitchen: Alfworld) -> None:
    assert said(kitchen, "go to fridge 1") == "You arrive at fridge 1. The fridge 1 is closed."
    assert said(kitchen, "take apple 1 from fridge 1") == "Nothing happens."
    assert said(kitchen, "open fridge 1").startswith("You open the fridge 1. The fridge 1 is open.")
    assert said(kitchen, "inventory") == "You are not carrying anything."
    assert said(kitchen, "think: what now?") == "OK."
    assert said(kitchen, "close fridge 1") == "You close the fridge 1."
    assert said(kitchen, "look") == "You are facing the fridge 1. Next to it, you see nothing."


def test_the_expert_heats_and_the_room_agrees(kitchen: Alfworld) -> None:
    outcomes = [kitchen.act(kitchen.plan()[0]) for _ in range(len(kitchen.plan()))]
    assert outcomes[-1].over and [one.reason for one in outcomes] == [None] * len(outcomes)
    assert kitchen.state()["marks"] == [["hot", "potato 1"]]
    potato = next(one for one in kitchen.things() if one.name == "potato 1")
    assert potato.support == "sinkbasin 1"


TWO = task(
    "FloorPlan401",
    "put two toiletpaper in toilet",
    type="pick_two_obj_and_place",
    object="ToiletPaper",
    parent="Toilet",
)


@pytest.mark.parametrize("game", [HEAT, TWO])
def test_the_expert_plans_from_where_a_detour_leads(game: Task) -> None:
    with Alfworld(settings=SMALL) as env:
        env.reset(game, seed=0)
        steps = 0
        while plan := env.plan():
            assert env.act(plan[0]).reason is None
            said(env, "inventory")  # no step of the plan: another is made from here
            steps += 1
        met, total = env.progress()
        assert met == total and steps > 4


def test_the_image_moves_with_the_text(kitchen: Alfworld) -> None:
    before = kitchen.observe()
    said(kitchen, "go to microwave 1")
    after = kitchen.observe()
    assert before.rgb is not None and after.rgb is not None
    assert not np.array_equal(before.rgb, after.rgb)
    assert next(one for one in kitchen.things() if one.name == "microwave 1").pixels > 0


def test_every_admissible_command_is_offered(kitchen: Alfworld) -> None:
    said(kitchen, "go to countertop 1")
    offered = {action.text for action in kitchen.actions()}
    assert {action.text for action in kitchen.admissible()} <= offered
    assert "go to countertop 1" not in offered and "inventory" in offered


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("open the sesame", None),
        ("go to cabinet 99", Reason.NOT_FOUND),
        ("open fridge 1", Reason.OUT_OF_REACH),
        ("heat it with microwave 1", Reason.HANDS_EMPTY),
    ],
)
def test_what_is_not_admissible_does_nothing(
    kitchen: Alfworld, text: str, reason: Reason | None
) -> None:
    action, before = kitchen.parse(text), kitchen.digest()
    if reason is None:
        assert action is None
        return
    assert action is not None
    outcome = kitchen.act(action)
    assert (outcome.reason, outcome.feedback) == (reason, "Nothing happens.")
    assert kitchen.digest() == before


def test_the_reference_of_a_sampled_task_is_what_its_expert_spends() -> None:
    with Alfworld(settings=SMALL) as env:
        for task in sample(3, 0, SMALL):
            env.reset(task, seed=0)
            done = [env.act(action) for action in env.plan()]
            assert task.reference_cost == sum(one.cost for one in done) >= len(done)


def test_tasks_of_other_kinds_are_not_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    every, tried, reset = list(sample(3, 0, SMALL)), set(), Alfworld.reset
    monkeypatch.setattr(
        Alfworld,
        "reset",
        lambda env, task, *, seed: tried.add(task.kind) or reset(env, task, seed=seed),
    )
    kind = every[-1].kind
    wanted = [task for task in every if task.kind == kind]
    settings = SMALL.model_dump()
    assert [*inhabit.tasks("alfworld", len(wanted), kinds=[kind], settings=settings)] == wanted
    assert tried == {kind}


def test_trajectories_are_games_in_its_wording(tmp_path: Path) -> None:
    mug = trajectory()
    sliced = {**mug, "pddl_params": {**mug["pddl_params"], "object_target": "Apple"}}
    sliced["pddl_params"]["object_sliced"] = True
    write(tmp_path, mug, "a")
    write(tmp_path, sliced, "b")
    games = list(read(str(tmp_path), SMALL))
    assert [game.id for game in games] == ["a"]
    assert games[0].goal in ("put a mug in fridge", "put some mug on fridge")
    with Alfworld(settings=SMALL) as env:
        env.reset(games[0], seed=0)
        assert [action.text for action in env.plan()] == [
            "go to countertop 2",
            "take mug 1 from countertop 2",
            "go to fridge 1",
            "open fridge 1",
            "move mug 1 to fridge 1",
        ]


def test_older_releases_words_are_understood(kitchen: Alfworld) -> None:
    older = kitchen.parse("> put potato 1 in/on desk 2")
    assert older is not None and older.text == "move potato 1 to desk 2"
    assert kitchen.parse(" Go to  fridge 1 . ") == kitchen.parse("go to fridge 1")
