"""The skills of the planner, told in words what is there."""

import asyncio
from collections.abc import Sequence

import pytest

from inhabit.agents.alfred_specialist.skills.tries import usual_places
from inhabit.agents.core import Step, View
from inhabit.agents.models.core import Model
from inhabit.agents.models.registry import load
from inhabit.agents.registry import find
from inhabit.envs.alfred.language.verbs import vocabulary
from inhabit.envs.alfred.world.things import Kind
from inhabit.envs.core import Observation, Reason

HEATED = (
    ("look around", "You look around."),
    ("go to the potato", "You are at the potato_1."),
    ("pick up the potato", "You pick up the potato_1."),
    ("go to the microwave", "You are at the microwave_1."),
    ("open the microwave", "You open the microwave_1."),
    ("put it in the microwave", "You put the potato_1 in the microwave_1."),
    ("close the microwave", "You close the microwave_1."),
    ("turn on the microwave", "You turn on the microwave_1."),
    ("turn off the microwave", "You turn off the microwave_1."),
    ("open the microwave", "You open the microwave_1."),
    ("pick up the potato", "You pick up the potato_1."),
    ("go to the sink", "You are at the sink_1."),
    ("put it in the sink", "You put the potato_1 in the sink_1."),
)
SEEN = "You see: potato_1, microwave_1, sink_1, fridge_1, cabinet_1."


@pytest.fixture(scope="module")
def box() -> Model:
    return load("alfred_specialist:bundled")


async def _deaf(text: str) -> None:
    return None


def next_action(
    box: Model,
    goal: str,
    done: Sequence[tuple[str, str] | Step],
    held: str = "",
    seen: str = SEEN,
    kind: Kind = Kind.KITCHEN,
) -> str:
    registration = find("planner")
    agent = registration.make(registration.settings(), box)
    steps = tuple(d if isinstance(d, Step) else Step(d[0], None, d[1], None, seen) for d in done)
    text = f"You have a {held} in your hands. {seen}" if held else seen
    view = View(goal, Observation(text), tuple(vocabulary(kind)), steps, 0, _deaf)
    decision = asyncio.run(agent.decide(view))
    assert decision.action is not None
    assert decision.ranked[0].text == decision.action.text
    assert sum(2.718281828**one.logprob for one in decision.ranked) <= 1.001
    return decision.action.text


@pytest.mark.parametrize("count", range(1, len(HEATED)))
def test_something_is_heated_step_by_step(box: Model, count: int) -> None:
    held = "potato" if count in (3, 4, 5, 11, 12) else ""
    assert (
        next_action(box, "Put a hot potato in the sink.", HEATED[:count], held)
        == (HEATED[count][0])
    )


def test_a_lamp_is_turned_on_with_the_thing_in_hand(box: Model) -> None:
    seen = "You see: pen_1, desk_1, floor lamp_1."
    done = [
        ("look around", "You look around."),
        ("go to the pen", "You are at the pen_1."),
        ("pick up the pen", "You pick up the pen_1."),
    ]
    goal = "Hold the pen and turn on the tall lamp"
    args = {"held": "pen", "seen": seen, "kind": Kind.LIVING_ROOM}
    assert next_action(box, goal, done, **args) == "go to the floor lamp"
    done.append(("go to the floor lamp", "You are at the floor lamp_1."))
    assert next_action(box, goal, done, **args) == "turn on the floor lamp"


def test_the_first_of_two_is_left_where_it_belongs(box: Model) -> None:
    done = [
        ("go to the potato", "You are at the potato_1."),
        ("pick up the potato", "You pick up the potato_1."),
        ("go to the sink", "You are at the sink_1."),
        ("put it in the sink", "You put the potato_1 in the sink_1."),
        ("go to the potato", "You are at the potato_1."),
    ]
    action = next_action(box, "Put two potatoes in the sink.", done)
    assert action not in ("pick up the potato", "go to the potato")


def test_two_that_lie_in_different_places_are_brought_together(box: Model) -> None:
    done = [
        ("pick up the potato", "You pick up the potato_1."),
        ("put it on the countertop", "You put the potato_1 on the countertop_2."),
        ("pick up the potato", "You pick up the potato_2."),
        ("go to the countertop", "You are at the countertop_1."),
        ("put it on the countertop", "You put the potato_2 on the countertop_1."),
        ("go to the potato", "You are at the potato_1."),
    ]
    goal = "Put two potatoes on the countertop."
    assert next_action(box, goal, done) == "pick up the potato"
    elsewhere = [*done[:-1], ("go to the potato", "You are at the potato_2.")]
    assert next_action(box, goal, elsewhere) != "pick up the potato"


def test_a_full_place_is_left_for_another_one(box: Model) -> None:
    full = Step(
        "put it on the countertop",
        Reason.NO_ROOM,
        "You can't put the potato_1 on the countertop_2: there is no room for it.",
        None,
        SEEN,
    )
    done = [
        ("go to the potato", "You are at the potato_1."),
        ("pick up the potato", "You pick up the potato_1."),
        ("go to the countertop", "You are at the countertop_2."),
        full,
    ]
    action = next_action(box, "Put a potato on the counter.", done, held="potato")
    assert action in ("go to the countertop_1", "go to the countertop_3", "go to the countertop")


def test_a_search_goes_where_such_things_are_kept(box: Model) -> None:
    seen = "You see: fridge_1, garbage can_1, toaster_1, drawer_1, stove burner_1."
    done = [("look around", "You look around."), ("explore", "You explore further.")]
    missed = Step("go to the egg", Reason.NOT_FOUND, "You have not seen an egg yet.", None, seen)
    assert next_action(box, "Wash an egg.", [*done, missed], seen=seen) == "go to the fridge"
    at_it = [*done, missed, ("go to the fridge", "You are at the fridge_1.")]
    assert next_action(box, "Wash an egg.", at_it, seen=seen) == "open the fridge"


def missed(what: str, seen: str) -> Step:
    return Step(f"go to the {what}", Reason.NOT_FOUND, f"You have not seen a {what}.", None, seen)


def test_a_closed_place_is_opened_before_anything_else_is_tried(box: Model) -> None:
    seen = "You see: fridge_1, cup_1, countertop_1."
    done = [("look around", "You look around."), ("go to the fridge", "You are at the fridge_1.")]
    assert next_action(box, "Put a cup in the sink.", done, seen=seen) == "open the fridge"


def test_tries_to_go_to_what_is_not_recognised_are_spread_over_the_search(box: Model) -> None:
    seen = "You see: soap bar_1, drawer_1, countertop_1, garbage can_1."
    done: list[tuple[str, str] | Step] = [
        ("look around", "You look around."),
        ("explore", "You explore further."),
        missed("soap bar", seen),
    ]
    tries = []
    for number in range(1, 7):
        for verb, told in (("go to", "are at"), ("open", "open")):
            action = next_action(box, "Wash a soap bar.", done, seen=seen, kind=Kind.BATHROOM)
            if action == "go to the soap bar":
                tries.append(number)
                done.append(missed("soap bar", seen))
            done.append((f"{verb} the drawer", f"You {told} the drawer_{number}."))
    assert 1 <= len(tries) <= 3
    assert tries[0] > 1


def test_a_wrong_slice_is_laid_aside_and_not_heated_in_turn(box: Model) -> None:
    seen = "You see: tomato slice_1, microwave_1, countertop_1."
    put = "You put the tomato slice_{} in the microwave_1."
    done = [
        ("go to the tomato slice", "You are at the tomato slice_1."),
        ("pick up the tomato slice", "You pick up the tomato slice_1."),
        ("go to the microwave", "You are at the microwave_1."),
        ("open the microwave", "You open the microwave_1."),
        ("put it in the microwave", put.format(1)),
        ("close the microwave", "You close the microwave_1."),
        ("turn on the microwave", "You turn on the microwave_1."),
        ("turn off the microwave", "You turn off the microwave_1."),
        ("open the microwave", "You open the microwave_1."),
    ]
    wrong = [
        ("pick up the tomato slice", "You pick up the tomato slice_2."),
        ("put it in the microwave", put.format(2)),
    ]
    goal = "Put a hot tomato slice in the sink."
    assert next_action(box, goal, done, seen=seen) == "pick up the tomato slice"
    assert next_action(box, goal, [*done, *wrong], seen=seen) == "pick up the tomato slice"
    assert next_action(box, goal, [*done, *wrong * 2], seen=seen) == "close the microwave"


def test_what_was_brought_already_is_not_fetched_again(box: Model) -> None:
    done = [
        ("go to the potato", "You are at the potato_1."),
        ("pick up the potato", "You pick up the potato_1."),
        ("go to the sink", "You are at the sink_1."),
        ("put it in the sink", "You put the potato_1 in the sink_1."),
        ("go to the countertop", "You are at the countertop_1."),
        ("go to the potato", "You are at the potato_1."),
        ("go to the cabinet", "You are at the cabinet_1."),
    ]
    action = next_action(box, "Put two potatoes in the sink.", done)
    assert action == "open the cabinet"


def test_usual_places_are_shares_of_the_places_that_there_are() -> None:
    share = usual_places().share("egg", {"fridge", "toilet", "countertop"})
    assert sum(share.values()) == pytest.approx(1.0)
    assert share["fridge"] > 20 * share["toilet"] > 0
    assert set(usual_places().share("unheard-of", {"fridge", "sofa"}).values()) == {0.5}
