import pytest

from inhabit.agents.alfred_specialist.ranker.parsing import VERBS, action, notes
from inhabit.agents.core import ModelError


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


NOTES = (
    "Goal: Two butter knives should be together in the cabinet.\n"
    "Seen: butter knife?, cabinet\nDone: look around; at cabinet_1\nHere: nothing\n"
    "Read as: pick_two_obj_and_place; butter knife; cabinet; -\n"
    "You have a butter knife in your hands."
)


def test_notes_are_taken_apart() -> None:
    parsed = notes(NOTES)
    assert (parsed.task, parsed.nouns) == (
        "pick_two_obj_and_place",
        ("butter knife", "cabinet", ""),
    )
    assert parsed.seen == {"butter knife": 0.5, "cabinet": 1.0}
    assert parsed.here == {}
    assert [VERBS[step.verb] for step in parsed.done] == ["look around", "go to"]
    assert parsed.held == "butter knife"


@pytest.mark.parametrize("line", ["", "Read as: put; mug\n", "Read as: a; b; c; d; e\n"])
def test_notes_without_a_whole_reading_tell_of_none(line: str) -> None:
    first, _, last = NOTES.rpartition("Read as: pick_two_obj_and_place; butter knife; cabinet; -\n")
    parsed = notes(first + line + last)
    assert (parsed.task, parsed.nouns) == ("", ("", "", ""))


def test_what_are_no_notes_is_said_to_be_none() -> None:
    with pytest.raises(ModelError, match="--agent planner"):
        notes("Hello.")
