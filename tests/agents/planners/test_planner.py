"""The planner that comes in the box, as a run loads it."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from inhabit.agents.core import Decision, Step, View
from inhabit.agents.models.core import Ability, Image, Model
from inhabit.agents.models.registry import load
from inhabit.agents.registry import find
from inhabit.envs.alfred.language.vocabulary import vocabulary
from inhabit.envs.alfred.scenes.rooms import Kind
from inhabit.envs.core import Clip, Observation, Reason


@pytest.fixture(scope="module")
def box() -> Model:
    return load("local:inhabit")


async def _deaf(text: str) -> None:
    return None


def decided(box: Model, view: View) -> Decision:
    registration = find("planner")
    return asyncio.run(registration.make(registration.settings(), box).decide(view))


def view(seen: Observation, steps: Sequence[Step] = ()) -> View:
    words = tuple(vocabulary(Kind.KITCHEN))
    return View("Put a mug in the sink.", seen, words, tuple(steps), 0, _deaf)


BLACK = np.zeros((300, 300, 3), np.uint8)


def test_it_looks_around_first(box: Model) -> None:
    decision = decided(box, view(Observation("", rgb=BLACK)))
    assert decision.action is not None and decision.action.text == "look around"
    assert decision.ranked[0].text == "look around"


def test_what_has_just_failed_or_comes_to_the_same_is_left_out(box: Model) -> None:
    once = decided(box, view(Observation("", rgb=BLACK)))
    assert once.action is not None
    failed = Step(once.action.text, Reason.BLOCKED, "No.", BLACK)
    again = decided(box, view(Observation("", rgb=BLACK), [failed]))
    assert again.action is not None and again.action != once.action
    same = Step(once.action.text, None, "You look around.", BLACK)
    other = decided(box, view(Observation("", rgb=BLACK), [same, same, same]))
    assert other.action is not None and other.action != once.action


def test_films_are_looked_at_as_pictures_are(box: Model) -> None:
    rng = np.random.default_rng(0)
    film = rng.integers(0, 255, (2, 300, 300, 3), np.uint8)
    asked = decided(box, view(Observation("", rgb=BLACK, clips=(Clip(film),))))
    blank = decided(box, view(Observation("", rgb=BLACK)))
    assert asked.calls[0].messages != () and blank.calls[0].messages != ()
    sights = asyncio.run(box.look([Image(film[0]), Image(film[0])]))
    assert sights[0] == sights[1]
    assert all(0.0 < sure <= 1.0 for sure in sights[0].values())


def test_with_a_thing_in_its_hand_it_makes_for_where_that_belongs(box: Model) -> None:
    steps = [
        Step("look around", None, "You look around.", BLACK, ""),
        Step("go to the mug", None, "You are at the mug_1.", BLACK, ""),
        Step("pick up the mug", None, "You pick up the mug_1.", BLACK, ""),
    ]
    decision = decided(box, view(Observation("You have a mug in your hands.", rgb=BLACK), steps))
    assert decision.action is not None
    assert decision.action.verb in ("go to", "open", "put", "explore")


def test_without_pictures_it_goes_by_what_it_is_told(box: Model) -> None:
    assert Ability.EYES in box.abilities
    steps = [
        Step(
            "look around",
            None,
            "You look around.",
            None,
            "You see: mug_1, sink_1, faucet_1, countertop_1.",
        )
    ]
    decision = decided(
        box, view(Observation("You see: mug_1, sink_1, faucet_1, countertop_1."), steps)
    )
    assert decision.action is not None
    assert decision.action.arguments == ("mug",)
    assert decision.description == "countertop, faucet, mug, sink"
