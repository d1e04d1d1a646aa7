"""60 goals of a scripted endpoint, half of which mean something else than their scene wants."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import inhabit
from inhabit.agents.models.registry import load
from inhabit.eie.checking.meaning import misread
from inhabit.eie.examples.checks import check_goal
from inhabit.eie.examples.example import Refused, Rejection
from inhabit.eie.examples.settings import SynthSettings
from inhabit.eie.making.author import AuthorReply, AuthorRequest
from inhabit.eie.making.llm_author import LlmAuthor
from inhabit.eie.making.pipeline import Pipeline
from inhabit.envs.registry import find
from inhabit.episodes.episode import Episode
from tests.agents.models.endpoints.endpoint import endpoint, good

PLACE, HEAT = "pick_and_place_simple", "pick_heat_then_place_in_recep"
COOL, WASH = "pick_cool_then_place_in_recep", "pick_clean_then_place_in_recep"
SAYS_SOMETHING_ELSE = (Rejection.MEANING, Rejection.CONTRADICTION)


def goal(type: str, thing: str, parent: str | None = None, **more: Any) -> dict[str, Any]:
    return {"type": type, "object": thing, **({"parent": parent} if parent else {}), **more}


SCENES: list[tuple[dict[str, Any], list[tuple[bool, str]]]] = [
    (
        {"room": "FloorPlan5", "goal": goal(COOL, "Bowl", "Cabinet")},
        [
            (True, "Would you please chill the bowl in the fridge and then store it in a cabinet?"),
            (True, "Cool a bowl, then put it away in the cabinet."),
            (True, "Refrigerate the bowl for a bit and then place it in the cabinet, please."),
            (False, "Please put the bowl in the cabinet without cooling it first."),
            (False, "Chill both bowls and place them in a cabinet."),
        ],
    ),
    (
        {
            "room": "FloorPlan320",
            "goal": goal("look_at_obj_in_light", "Pen", toggle="DeskLamp"),
            "states": [{"object": "desk lamp_1", "on": False}],
        },
        [
            (True, "Could you look at the pen by the light of the desk lamp?"),
            (True, "Pick up a pen and turn on the desk lamp."),
            (False, "Please put the pen on the desk lamp."),
            (False, "Turn off the desk lamp while you hold the pen."),
            (False, "Kindly examine the pencil under the desk lamp."),
        ],
    ),
    (
        {
            "room": "FloorPlan422",
            "goal": goal(PLACE, "SoapBottle", "CounterTop"),
            "placements": [{"object": "soap bottle_1", "receptacle": "cabinet_1"}],
        },
        [
            (True, "Please set the soap dispenser on the countertop."),
            (True, "Move a soap bottle to the counter, thank you."),
            (True, "Take the soap bottle and leave it on the counter."),
            (False, "Take the soap bottle off the counter and put it in the cabinet."),
            (False, "Could you bring the bar of soap to the counter?"),
        ],
    ),
    (
        {"room": "FloorPlan2", "goal": goal(WASH, "Ladle", "Drawer")},
        [
            (True, "Rinse the ladle under the faucet, and put it back into a drawer."),
            (True, "I'd like you to wash the ladle and stick it in a drawer."),
            (False, "Put the dirty ladle in a drawer as it is."),
            (False, "Wash the ladle, but only if there is a fork in the drawer."),
            (False, "Clean the drawer and put the ladle in it."),
        ],
    ),
    (
        {
            "room": "FloorPlan5",
            "goal": goal(COOL, "Potato", "CounterTop", sliced=True),
            "placements": [
                {"object": "potato_1", "receptacle": "fridge_1"},
                {"object": "butter knife_1", "receptacle": "fridge_1"},
            ],
        },
        [
            (True, "Cut the potato, chill a piece of it and put that on the counter."),
            (True, "Would you mind placing a cold slice of potato on the counter?"),
            (True, "Please drop a chilled potato slice on the counter."),
            (False, "Cool the whole potato and place it on the counter."),
            (False, "Please slice a potato, cool two slices and put both on the counter."),
        ],
    ),
    (
        {
            "room": "FloorPlan26",
            "goal": goal("pick_and_place_with_movable_recep", "Spoon", "Cabinet", movable="Pot"),
            "placements": [{"object": "spoon_1", "receptacle": "drawer_1"}],
        },
        [
            (True, "Put a spoon in the pot, then put the pot in a cabinet."),
            (True, "Please store a pot with a spoon in it in the cabinet."),
            (True, "Kindly place a spoon inside a pot and the pot inside a kitchen cabinet."),
            (False, "Put the pot in the cabinet and the spoon in the cabinet beside it."),
            (False, "Take the spoon out of the pot and put the pot in the cabinet."),
        ],
    ),
    (
        {
            "room": "FloorPlan4",
            "goal": goal(COOL, "Egg", "DiningTable"),
            "also": [goal(PLACE, "Cup", "Cabinet")],
        },
        [
            (True, "Chill an egg and put it on the dining table; also put a cup in a cabinet."),
            (True, "Please place a cup in the cabinet and a cold egg on the dining table."),
            (False, "Chill an egg and put it in a cabinet; also put a cup on the dining table."),
            (False, "Chill a cup and put it in the cabinet, and put an egg on the dining table."),
            (
                False,
                "Could you chill an egg and put it on the dining table or put a cup in a cabinet?",
            ),
        ],
    ),
    (
        {
            "room": "FloorPlan6",
            "goal": goal(HEAT, "Bread", "CounterTop"),
            "placements": [{"object": "bread_1", "receptacle": "fridge_1"}],
        },
        [
            (
                True,
                "Could you please warm up the bread in the microwave and put it on the counter?",
            ),
            (True, "Heat the loaf of bread and set it down on the countertop."),
            (False, "Put the bread in the microwave and leave it there."),
            (False, "Heat a slice of bread and put it on the counter."),
            (False, "Please heat the bread three times before you put it on the counter."),
        ],
    ),
    (
        {
            "room": "FloorPlan20",
            "goal": goal(COOL, "Pot", "DiningTable"),
            "also": [goal(PLACE, "Mug", "Fridge")],
            "in_order": True,
        },
        [
            (
                True,
                "First chill the pot and put it on the dining table, "
                "and then put a mug in the fridge.",
            ),
            (
                True,
                "Would you put a cold pot on the dining table, please? "
                "Afterwards, put a mug in the fridge.",
            ),
            (True, "Put a mug in the fridge after you have put a chilled pot on the dining table."),
            (
                False,
                "First put a mug in the fridge, "
                "and then chill the pot and put it on the dining table.",
            ),
            (
                False,
                "Before you chill the pot and put it on the dining table, "
                "please put a mug in the fridge.",
            ),
        ],
    ),
    (
        {
            "room": "FloorPlan208",
            "goal": goal("pick_two_obj_and_place", "Statue", "Shelf"),
            "also": [goal(PLACE, "KeyChain", "DiningTable")],
            "in_order": True,
            "placements": [{"object": "statue_3", "receptacle": "side table_1"}],
        },
        [
            (True, "Put two statues on a shelf, then put the keys on the dining table."),
            (
                True,
                "Please move a pair of statues to the shelf; "
                "after that, take the key chain to the dining table.",
            ),
            (False, "Put a statue on a shelf, then put the keys on the dining table."),
            (False, "Put three statues on a shelf, then put the keys on the dining table, please."),
            (False, "Please put the keys on the dining table and then two statues on a shelf."),
        ],
    ),
    (
        {"room": "FloorPlan417", "goal": goal("pick_two_obj_and_place", "ToiletPaper", "Toilet")},
        [
            (True, "Set two rolls of toilet paper on top of the toilet."),
            (True, "Please put both toilet paper rolls on the toilet."),
            (True, "Could you take two toilet paper rolls to the toilet?"),
            (False, "Put a roll of toilet paper on the toilet."),
            (
                False,
                "Please put one toilet paper roll on the toilet and another one on the counter.",
            ),
        ],
    ),
    (
        {
            "room": "FloorPlan24",
            "goal": goal(WASH, "Mug", "Fridge"),
            "condition": {
                "object": "mug_1",
                "dirty": goal(WASH, "Mug", "Fridge"),
                "clean": goal(PLACE, "Mug", "Fridge"),
            },
            "placements": [{"object": "mug_1", "receptacle": "cabinet_20"}],
            "states": [{"object": "mug_1", "dirty": True}],
        },
        [
            (True, "Put the mug in the fridge, and if it is dirty, wash it first."),
            (True, "Should the mug be dirty, please clean it before you put it into the fridge."),
            (False, "Put the mug in the fridge, and if it is clean, wash it first."),
            (False, "Wash the mug, please, and put it in the fridge."),
            (False, "If the mug is dirty, do not put it in the fridge."),
        ],
    ),
]


@pytest.mark.slow
def test_goals_that_mean_something_else_are_refused() -> None:
    pytest.importorskip("openai")
    from inhabit.agents.models.endpoints.openai import REGISTRATION

    asked = [(scene, text, right) for scene, goals in SCENES for right, text in goals]
    said = iter([json.dumps({"goal": text, "scene": scene}) for scene, text, _ in asked])
    alfred = find("alfred")
    settings = alfred.settings.model_validate({"wire": "none", "width": 64, "height": 64})
    assert alfred.template is not None
    template = alfred.template(settings)
    # Nothing is extracted: plans are too long for that.
    pipeline = Pipeline("alfred", template, SynthSettings(longest=1), 0)
    wrong_kept, right_kept = [], []
    with endpoint(lambda request, number: good(next(said))) as server:
        served = REGISTRATION.settings.model_validate({"base_url": server.base_url})

        async def ask() -> list[AuthorReply]:
            author = LlmAuthor("alfred", template, load("openai:x", served))
            answers = [await author.propose(AuthorRequest(n, 0)) for n in range(len(asked))]
            await author.close()
            return answers

        answers = asyncio.run(ask())
    with alfred.make(alfred.backends[0], settings) as env:
        for number, (answer, (_, text, right)) in enumerate(zip(answers, asked, strict=True)):
            (only,) = pipeline.pieces(env, answer, "openai:x", number)
            assert isinstance(only, Refused)
            assert only.rejection in (*SAYS_SOMETHING_ELSE, Rejection.TOO_LONG), only
            if only.rejection is Rejection.TOO_LONG:
                (right_kept if right else wrong_kept).append(text)
    assert len(wrong_kept) <= 1, wrong_kept
    assert len(right_kept) >= 26


@pytest.mark.parametrize(
    ("name", "count"),
    [("toy", 20), ("minedojo", 3), pytest.param("minedojo", 20, marks=pytest.mark.slow)],
)
def test_the_goals_that_an_environment_writes_itself_are_kept(name: str, count: int) -> None:
    registration = find(name)
    template = registration.template(registration.settings())
    with registration.make(registration.backends[0], registration.settings()) as env:
        for task in inhabit.tasks(name, count, seed=330502):
            Episode(env, task, 0).reset()
            events, things = template.events(task), env.things()
            check_goal(task.goal, events, things, template.lexicon)
            assert misread(task.goal, events, things, template.lexicon) == "", task.goal
