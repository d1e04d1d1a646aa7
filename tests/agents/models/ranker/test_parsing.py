import pytest

from inhabit.agents.core import ModelError
from inhabit.agents.models.ranker.parsing import VERBS, action, notes, with_slots

NOUNS = ("apple", "bread", "butter knife", "cabinet", "knife", "soap bar", "sink")


def verb(text: str) -> str:
    return VERBS[action(text).verb]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("go to the cabinet_3", ("go to", "cabinet", "3", "", False)),
        ("at cabinet_3", ("go to", "cabinet", "3", "", False)),
        ("put it in the sink", ("put", "sink", "", "it", False)),
        ("put soap bar_1 in sink_2", ("put", "sink", "2", "soap bar", False)),
        ("turn off the desk lamp", ("turn off", "desk lamp", "", "", False)),
        ("go to mug: not found", ("go to", "mug", "", "", True)),
        ("look around", ("look around", "", "", "", False)),
        ("turn left", ("other", "", "", "", False)),
        ("{evil} \n", ("other", "", "", "", False)),
    ],
)
def test_what_is_said_is_taken_apart(text: str, expected: tuple[object, ...]) -> None:
    step = action(text)
    assert (VERBS[step.verb], step.noun, step.number, step.thing, step.failed) == expected


def test_nouns_of_a_goal_become_slots_in_their_order_and_several_are_one() -> None:
    text = (
        "Goal: Two butter knives should be together in the cabinet.\n"
        "Seen: butter knife?, cabinet\nDone: look around; at cabinet_1\nHere: nothing\n"
        "You have a butter knife in your hands."
    )
    parsed = notes(text, NOUNS)
    assert parsed.slots == ("butter knife", "cabinet")
    assert parsed.goal[:2] == ("two", "<0>")
    assert parsed.goal[-1] == "<1>"
    assert parsed.seen == {"butter knife": 0.5, "cabinet": 1.0}
    assert parsed.here == {}
    assert [VERBS[step.verb] for step in parsed.done] == ["look around", "go to"]
    assert parsed.held == "butter knife"


def test_what_are_no_notes_is_said_to_be_none() -> None:
    with pytest.raises(ModelError, match="--agent planner"):
        notes("Hello.", NOUNS)


@pytest.mark.parametrize(
    ("goal", "words", "slots"),
    [
        ("Put the apple in a cupboard.", "put <0> in <1>", "apple, cabinet"),
        ("Put it in the sink.", "put it in <0>", "sink"),
        ("A bar of soap, with the knife", "<0> with <1>", "soap bar, knife"),
        ("Put 2 slices of bread down.", "put two <0> down", "bread slice"),
        ("", "", ""),
    ],
)
def test_goals_say_the_same_with_other_names(goal: str, words: str, slots: str) -> None:
    said, found = with_slots(goal.lower(), (*NOUNS, "it", "bread slice"))
    assert (" ".join(said), ", ".join(found)) == (words, slots)
