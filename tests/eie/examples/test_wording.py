"""Reasons tell what is seen, what is asked, and what to do, in this order."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from inhabit.eie.checking.claims import contradictions
from inhabit.eie.examples.context import StepContext
from inhabit.eie.examples.reasons import Instead, explain
from inhabit.eie.examples.wording import recognise
from inhabit.envs.core import Action, Observation, SceneObject, Task
from inhabit.envs.minedojo.evolution.template import MineDojoTemplate
from inhabit.envs.template import ActionKind
from inhabit.envs.virtualhome.evolution.template import VirtualHomeTemplate
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings

TEMPLATE = VirtualHomeTemplate(VirtualHomeSettings())
THINGS = (
    SceneObject("bananas_1", "bananas", {}, support="dresser_1", pixels=400),
    SceneObject("dresser_1", "dresser", {"open": False}, pixels=900),
    SceneObject("box_1", "box", {}, pixels=300),
    SceneObject("fridge_1", "fridge", {"open": False}, pixels=900),
)
GRAB = Action("grab the bananas", "GRAB", ("bananas",))
PUT = Action("put the box on the dresser", "PUTBACK", ("box", "dresser"))
OPEN = Action("open the fridge", "OPEN", ("fridge",))
PUT_IN = Action("put the bananas in the fridge", "PUTIN", ("bananas", "fridge"))
WISH = "put the bananas in the fridge"
TASK = Task(
    id="hay", env="minedojo", kind="harvest", goal="Get a hay block.", scene={}, max_steps=9
)


def _reasons(
    *plan: Action, things: tuple[SceneObject, ...] = THINGS, instead: Instead | None = None
) -> set[str]:
    context = StepContext(Observation(""), things, (), plan)
    return {explain(context, WISH, TEMPLATE, random.Random(i), instead).reason for i in range(40)}


def test_bananas_are_seen_then_wished_for_then_picked_up() -> None:
    for reason in map(str.lower, _reasons(GRAB, OPEN, PUT_IN)):
        seen, asked, now = (
            reason.index(part) for part in ("bananas are on the dresser", WISH, "pick up the")
        )
        assert seen < asked < now


def test_what_is_put_down_is_in_the_way() -> None:
    assert TEMPLATE.action_kind(PUT) is ActionKind.PUT
    held = (*THINGS[:2], SceneObject("box_1", "box", {}, held=True, pixels=300), THINGS[3])
    for reason in _reasons(PUT, GRAB, OPEN, PUT_IN, things=held):
        assert "free hand" in reason or "in the way" in reason


def test_the_other_option_is_wrong_for_what_it_would_serve() -> None:
    other = Instead(PUT, "empty the box")
    for reason in _reasons(GRAB, OPEN, PUT_IN, instead=other):
        last = reason.rpartition(". ")[2]
        assert "put the box on the dresser" in last
        assert "empty the box" in last
    same = Instead(PUT, "put the box on the dresser")
    for reason in _reasons(GRAB, OPEN, PUT_IN, instead=same):
        assert reason.count("put the box on the dresser") == 1


def test_an_option_that_makes_what_is_not_asked_for_is_not_explained_by_itself() -> None:
    context = StepContext(Observation(""), THINGS[3:], (), (OPEN, PUT_IN))
    craft = Action("smelt glass", "smelt", ("glass", "furnace"))
    table = Action("craft crafting_table", "craft", ("crafting_table",))
    template = MineDojoTemplate()
    for i in range(40):
        for action, said in ((craft, 1), (table, 2)):
            other = Instead(action, "get some glass")
            reason = explain(context, WISH, template, random.Random(i), other).reason
            last = reason.rpartition(". ")[2]
            assert last.count("glass") + last.count("make the crafting table") == said, last


def test_a_station_that_is_to_be_made_is_said_to_be_missing_though_one_is_hidden() -> None:
    plan = (
        Action("craft crafting_table", "craft", ("crafting_table",)),
        Action("craft furnace", "craft", ("furnace", "crafting_table")),
        Action("smelt glass", "smelt", ("glass", "furnace")),
    )
    hidden = SceneObject("crafting_table", "crafting table", {})
    task = Task(id="t", env="minedojo", kind="harvest", goal="Get some glass.", scene={})
    sand = SceneObject("sand_0", "sand", {}, held=True, pixels=800)
    context = StepContext(Observation(""), (hidden, sand), (), plan, task=task)
    reason = explain(context, "get some glass", MineDojoTemplate(), random.Random(0)).reason
    assert "there is no crafting table in view" in reason.lower(), reason


def test_the_other_option_is_a_longer_way_where_it_serves_this_goal_too() -> None:
    for reason in _reasons(GRAB, OPEN, PUT_IN, instead=Instead(PUT)):
        assert "more steps" in reason.rpartition(". ")[2]


@pytest.mark.parametrize(
    "instead",
    [
        None,
        Instead(PUT, "empty the box"),
        Instead(PUT, "put the box on the dresser"),
        Instead(PUT, "empty the box", later=True),
        Instead(PUT, "put the box on the dresser", later=True),
        Instead(PUT, later=True),
        Instead(PUT),
        Instead(GRAB, taken=THINGS[0]),
    ],
)
@pytest.mark.parametrize("tried", [None, OPEN])
def test_the_check_of_claims_knows_every_wording(
    instead: Instead | None, tried: Action | None
) -> None:
    context = StepContext(Observation(""), THINGS, (), (GRAB, OPEN, PUT_IN))
    for i in range(60):
        reason = explain(context, WISH, TEMPLATE, random.Random(i), instead, tried=tried).reason
        assert not contradictions(reason, THINGS, TEMPLATE.lexicon)


@pytest.mark.parametrize("wish", ["get a hay block", "get two hay blocks", "get some cooked fish"])
@pytest.mark.parametrize("text", ["craft hay_block", "find crafting_table", "craft furnace"])
def test_the_check_of_claims_knows_what_only_the_other_goal_makes(text: str, wish: str) -> None:
    carried = ("wheat", "fish", "cobblestone")
    table = SceneObject("crafting_table", "crafting table", {}, pixels=400)
    things = (table, *(SceneObject(name, name, {}, held=True) for name in carried))
    furnace = Action("craft furnace", "craft", ("furnace", "crafting_table"))
    other = Instead(Action(text, text.split()[0], (text.split()[1],)), wish)
    context = StepContext(Observation(""), things, (), (furnace,))
    template = MineDojoTemplate()
    for i in range(60):
        reason = explain(context, "get a brick", template, random.Random(i), other).reason
        clay = SceneObject("clay ball", "clay ball", {}, held=True)
        assert not contradictions(reason, (*things, clay), template.lexicon)


def test_two_bricks_are_bricks_in_every_sentence() -> None:
    smelt = Action("smelt brick", "smelt", ("brick", "furnace"))
    furnace = (SceneObject("furnace", "furnace", {}, pixels=400),)
    context = StepContext(Observation(""), furnace, (), (smelt,))
    for wish, said in (("get two bricks", "make the bricks"), ("get a brick", "make the brick.")):
        for i in range(20):
            reason = explain(context, wish, MineDojoTemplate(), random.Random(i)).reason
            assert said in reason


def test_what_lies_where_the_goal_wants_it_is_not_taken_away() -> None:
    for reason in _reasons(PUT, instead=Instead(GRAB, taken=THINGS[0])):
        assert "the bananas are already on the dresser" in reason.rpartition(". ")[2].lower()


def test_what_failed_is_taken_up_before_what_is_asked() -> None:
    context = StepContext(Observation(""), THINGS, (), (GRAB, OPEN, PUT_IN))
    for i in range(40):
        reason = explain(context, WISH, TEMPLATE, random.Random(i), tried=OPEN).reason.lower()
        assert reason.index("open the fridge") < reason.index(WISH) < reason.index("pick up the")


def test_what_failed_for_being_out_of_view_is_said_to_be() -> None:
    there = SceneObject("fridge_1", "fridge", {"open": False})
    things = (*THINGS[:3], there)
    context = StepContext(Observation(""), things, (), (GRAB, OPEN, PUT_IN))
    for i in range(20):
        reason = explain(context, WISH, TEMPLATE, random.Random(i), tried=OPEN).reason
        assert "open the fridge" in reason and "the fridge is not in view" in reason
        assert not contradictions(reason, things, TEMPLATE.lexicon)


def test_what_was_taken_was_nowhere_that_could_be_seen() -> None:
    held = SceneObject("bananas_1", "bananas", {}, held=True, pixels=300)
    for pixels in (0, 400):
        hidden = SceneObject("bananas_1", "bananas", {}, support="dresser_1", pixels=pixels)
        before = StepContext(Observation(""), (hidden, *THINGS[1:]), (), (GRAB,))
        after = StepContext(Observation(""), (held, *THINGS[1:]), (), (PUT_IN,))
        told = recognise(before, after, TEMPLATE).reason
        assert ("Before, they were on the dresser." in told) is (pixels > 0), told
        assert ("Before, you held nothing." in told) is (pixels == 0), told


def test_what_was_put_down_is_told_only_where_it_can_be_seen() -> None:
    held = SceneObject("box_1", "box", {}, held=True, pixels=300)
    before = StepContext(Observation(""), (*THINGS[:2], held), (), (PUT,))
    for pixels in (0, 300):
        there = SceneObject("box_1", "box", {}, support="dresser_1", pixels=pixels)
        after = StepContext(Observation(""), (*THINGS[:2], there), (), (GRAB,))
        told = recognise(before, after, TEMPLATE).reason
        assert ("The box is on the dresser now." in told) is (pixels > 0), told


def test_what_is_gathered_is_for_what_is_made_of_it() -> None:
    blocks = SceneObject("planks", "planks", {}, pixels=400, count=4)
    things = (blocks, SceneObject("planks_0", "planks", {}, count=3))
    texts = ("mine planks", "craft crafting_table", "place crafting_table", "craft iron_boots")
    plan = [Action(text, text.split()[0], (text.split()[1],)) for text in texts]
    plan[-1] = Action("craft iron_boots", "craft", ("iron_boots", "crafting_table"))
    context = StepContext(Observation(""), things, (), tuple(plan))
    for i in range(20):
        wish, template = "get a pair of iron boots", MineDojoTemplate()
        reason = explain(context, wish, template, random.Random(i)).reason
        made = "that takes a crafting table, which is made of four planks; you carry three, and "
        assert made + "the planks give what is missing" in reason
        assert "there is no crafting table in view" in reason.lower()
        ingots = SceneObject("iron ingot", "iron ingot", {}, held=True)
        assert not contradictions(reason, (*things, ingots), template.lexicon)


def test_what_is_made_takes_what_is_carried() -> None:
    wheat = SceneObject("wheat_0", "wheat", {}, held=True, pixels=90, count=9)
    planks = SceneObject("planks_0", "planks", {}, count=4)
    table = SceneObject("crafting_table", "crafting table", {}, pixels=900)
    hay = Action("craft hay_block", "craft", ("hay_block", "crafting_table"))
    craft = Action("craft crafting_table", "craft", ("crafting_table",))
    template = MineDojoTemplate()
    for plan, things, said in (
        ((hay,), (table, wheat), "nine pieces of wheat"),
        ((craft, hay), (wheat, planks), "from the four planks that you carry"),
    ):
        context = StepContext(Observation("You carry: planks x4."), things, (), plan, task=TASK)
        for i in range(20):
            made = explain(context, "get a hay block", template, random.Random(i))
            assert said in made.reason
            assert not contradictions(made.reason, things, template.lexicon)
            fewer = [replace(t, count=t.count - 1) for t in things]
            assert contradictions(made.reason, fewer, template.lexicon)
    assert made.key_concepts == ("planks",)


def test_ingots_are_made_of_a_block_by_hand() -> None:
    block = SceneObject("iron_block", "iron block", {}, pixels=400)
    mine = Action("mine iron_block", "mine", ("iron_block",))
    craft = Action("craft iron_ingot", "craft", ("iron_ingot",))
    context, template = (
        StepContext(Observation(""), (block,), (), (mine, craft)),
        MineDojoTemplate(),
    )
    for i in range(20):
        reason = explain(context, "get an iron ingot", template, random.Random(i)).reason
        assert "that can be made by hand from the iron block" in reason
        ore = SceneObject("iron ore", "iron ore", {}, held=True)
        assert not contradictions(reason, (block, ore), template.lexicon)


def test_what_is_smelted_takes_a_furnace_that_is_made_at_a_table() -> None:
    log = SceneObject("log_1", "log", {}, pixels=400)
    plan = (
        Action("mine log", "mine", ("log",)),
        Action("craft planks", "craft", ("planks",)),
        Action("craft crafting_table", "craft", ("crafting_table",)),
        Action("place crafting_table", "place", ("crafting_table",)),
        Action("craft furnace", "craft", ("furnace", "crafting_table")),
        Action("smelt brick", "smelt", ("brick", "furnace")),
    )
    context, template = StepContext(Observation(""), (log,), (), plan), MineDojoTemplate()
    carried = [SceneObject(name, name, {}, held=True) for name in ("clay ball", "cobblestone")]
    for i in range(20):
        reason = explain(context, "get a brick", template, random.Random(i)).reason
        assert (
            "takes a furnace, and making it takes a crafting table, which is made of four planks"
            in reason
        )
        assert "you carry none, and the log gives what is missing" in reason
        assert not contradictions(reason, (log, *carried), template.lexicon)


def test_what_the_goal_wants_closed_is_still_open() -> None:
    things = (SceneObject("fridge_1", "fridge", {"open": True}, pixels=900),)
    close = Action("close the fridge_1", "CLOSE", ("fridge_1",))
    context = StepContext(Observation(""), things, (), (close,))
    for i in range(20):
        reason = explain(context, "close the fridge", TEMPLATE, random.Random(i)).reason
        assert "it is still open" in reason or "so far, it is open" in reason
