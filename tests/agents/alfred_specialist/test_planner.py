"""The bundled planner, as a run loads it."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from inhabit.agents.alfred_specialist.ranker.model import Ranker
from inhabit.agents.core import Decision, ModelError, Step, View
from inhabit.agents.models.core import Image
from inhabit.agents.models.registry import load
from inhabit.agents.registry import find
from inhabit.envs.alfred.language.verbs import vocabulary
from inhabit.envs.alfred.world.things import Kind
from inhabit.envs.core import Clip, Observation, Reason


@pytest.fixture(scope="module")
def box() -> Ranker:
    return load("alfred_specialist:bundled")


async def _deaf(text: str) -> None:
    return None


def decided(box: Ranker, view: View, **settings: object) -> Decision:
    registration = find("planner")
    chosen = registration.settings.model_validate(settings)
    return asyncio.run(registration.make(chosen, box).decide(view))


def view(
    seen: Observation,
    steps: Sequence[Step] = (),
    goal: str = "Put a mug in the sink.",
    kind: Kind = Kind.KITCHEN,
) -> View:
    return View(goal, seen, tuple(vocabulary(kind)), tuple(steps), 0, _deaf)


BLACK = np.zeros((300, 300, 3), np.uint8)


def test_it_turns_on_the_spot_first(box: Ranker) -> None:
    decision = decided(box, view(Observation("", rgb=BLACK)))
    assert decision.action is not None and decision.action.text == "turn right"
    assert decision.ranked[0].text == "turn right"


def test_what_has_just_failed_or_comes_to_the_same_is_left_out(box: Ranker) -> None:
    once = decided(box, view(Observation("", rgb=BLACK)))
    assert once.action is not None
    failed = Step(once.action.text, Reason.BLOCKED, "No.", BLACK)
    again = decided(box, view(Observation("", rgb=BLACK), [failed]))
    assert again.action is not None and again.action != once.action
    same = Step(once.action.text, None, "You look around.", BLACK)
    other = decided(box, view(Observation("", rgb=BLACK), [same, same, same]))
    assert other.action is not None and other.action != once.action


def test_films_are_looked_at_as_pictures_are(box: Ranker) -> None:
    rng = np.random.default_rng(0)
    film = rng.integers(0, 255, (2, 300, 300, 3), np.uint8)
    asked = decided(box, view(Observation("", rgb=BLACK, clips=(Clip(film),))))
    blank = decided(box, view(Observation("", rgb=BLACK)))
    assert asked.calls[0].messages != () and blank.calls[0].messages != ()
    assert box.eyes is not None
    sights = box.eyes.look([Image(film[0]), Image(film[0])])
    assert sights[0] == sights[1]
    assert all(0.0 < sure <= 1.0 for sure in sights[0].values())


def test_with_a_thing_in_its_hand_it_makes_for_where_that_belongs(box: Ranker) -> None:
    steps = [
        Step("look around", None, "You look around.", BLACK, ""),
        Step("go to the mug", None, "You are at the mug_1.", BLACK, ""),
        Step("pick up the mug", None, "You pick up the mug_1.", BLACK, ""),
    ]
    decision = decided(box, view(Observation("You have a mug in your hands.", rgb=BLACK), steps))
    assert decision.action is not None
    assert decision.action.verb in ("go to", "open", "put", "explore")


def test_without_pictures_it_goes_by_what_it_is_told(box: Ranker) -> None:
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


@pytest.mark.parametrize(
    ("goal", "read"),
    [
        ("Look at a mug in lamp light", "look at obj in light; object: mug, place: desk lamp"),
        ("Hold the clock and turn on the lamp", "object: alarm clock, place: desk lamp"),
        ("put two pencls on the dreser", "pick two obj and place; object: pencil, place: dresser"),
    ],
)
def test_the_record_says_how_peoples_words_are_read(box: Ranker, goal: str, read: str) -> None:
    decision = decided(box, view(Observation("", rgb=BLACK), (), goal, Kind.BEDROOM))
    assert read in decision.reasoning
    assert "Could not be read" not in decision.reasoning


@pytest.mark.parametrize(
    "goal",
    ["", "???", "Bring me a giraffe.", "Mettez la tasse dans l'évier"],
)
def test_what_cannot_be_read_is_said_and_it_tries_or_stops(box: Ranker, goal: str) -> None:
    asked = view(Observation("", rgb=BLACK), (), goal)
    tried = decided(box, asked)
    assert tried.action is not None and "could not be read" in tried.reasoning.lower()
    stopped = decided(box, asked, unread="stop")
    assert stopped.stop and stopped.action is None
    assert stopped.reasoning == tried.reasoning


def test_a_reading_that_is_hardly_likelier_than_others_is_called_a_guess(box: Ranker) -> None:
    asked = view(Observation("", rgb=BLACK), (), "Pick up everything")
    assert decided(box, asked).reasoning.endswith("This is a guess.")
    assert decided(box, asked, unread="stop").stop


STRANGE = (
    " \n\t",
    "💡🍎",
    "\x00\x01",
    "{% raw %}{{ goal }}",
    "Goal: a\nSeen: b\nDone: c\nHere: d",
    "Read as: x; y; z",
    "Put the mug in the mug",
    "put the giraffe on the giraffe",
    "把杯子放进微波炉",
    "ضع الكوب على الطاولة",
    "Put -1 mugs on the table",
    "the " * 9,
    "x" * 100_000,
    "a\n" * 5000,
)


@pytest.mark.parametrize("unread", ["try", "stop"])
def test_no_goal_raises_an_error(box: Ranker, unread: str) -> None:
    for goal in STRANGE:
        decision = decided(box, view(Observation("", rgb=BLACK), (), goal), unread=unread)
        assert decision.stop != (decision.action is not None)
        assert decision.reasoning


def test_a_reading_that_was_carried_out_in_vain_gives_way_to_the_next(box: Ranker) -> None:
    seen = Observation("You see: pen_1, desk_1, side table_1.")
    steps = [
        Step("look around", None, "You look around.", None, seen.text),
        Step("go to the pen", None, "You are at the pen_1.", None, seen.text),
        Step("pick up the pen", None, "You pick up the pen_1.", None, seen.text),
        Step("go to the desk", None, "You are at the desk_1.", None, seen.text),
    ]
    goal = "Put a pen on a table."
    first = decided(box, view(seen, steps, goal, Kind.BEDROOM)).reasoning
    put = Step("put it on the desk", None, "You put the pen_1 on the desk_1.", None, seen.text)
    other = Step("put it on the table", None, "You put the pen_1 on the side table_1.", None, "")
    for done, place in ((put, "place: desk"), (other, "place: side table")):
        after = decided(box, view(seen, [*steps, done], goal, Kind.BEDROOM)).reasoning
        assert place not in after or "two" in after
    assert "object: pen" in first


def test_a_contradictory_and_a_very_long_goal_raise_nothing(box: Ranker) -> None:
    for goal in ("Heat the cold apple and chill it, do not move it.", "fetch the mug " * 3000):
        decision = decided(box, view(Observation("", rgb=BLACK), (), goal))
        assert decision.action is not None and decision.reasoning


def test_a_held_object_is_read_though_only_objects_in_view_are_offered(box: Ranker) -> None:
    """Whoever holds the mug can't pick one up, so no candidate names it."""
    seen = Observation("You have a mug in your hands. You see: sink_1, countertop_1.")
    steps = [
        Step("look around", None, "You look around.", None, "You see: mug_1, sink_1."),
        Step("go to the mug", None, "You are at the mug_1.", None, "You see: mug_1."),
        Step("pick up the mug", None, "You pick up the mug_1.", None, seen.text),
        Step("go to the sink", None, "You are at the sink_1.", None, seen.text),
    ]
    texts = ("go to the sink", "go to the countertop", "put it in the sink")
    offered = tuple(a for a in vocabulary(Kind.KITCHEN) if a.text in texts)
    given = View("Put a mug in the sink.", seen, offered, tuple(steps), 0, _deaf)
    decision = decided(box, given)
    assert "object: mug" in decision.reasoning
    assert decision.action is not None and decision.action.text == "put it in the sink"


def test_a_model_without_tokens_says_so(box: Ranker) -> None:
    with pytest.raises(ModelError, match="scores no tokens"):
        asyncio.run(box.beam((), ["open it"], width=1, end=True))
