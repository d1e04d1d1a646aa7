"""A reader of goals learns what they ask for, however they are worded."""

import pytest

from agents.models.ranker.goals import Asked, GoalReader
from agents.models.ranker.reading import slotted
from eie.tune.goals import taught
from eie.tune.wordings import wordings

NOUNS = tuple(sorted({noun for goal in wordings() for noun in goal.parts} - {""}))
NOUNS += ("faucet",)


@pytest.fixture(scope="module")
def learnt() -> tuple[GoalReader, tuple[str, ...]]:
    reader, _, kinds = taught(wordings(), NOUNS, seed=0, tell=str)
    return reader, kinds


def read(learnt: tuple[GoalReader, tuple[str, ...]], text: str) -> tuple[str, tuple[str, ...]]:
    reader, kinds = learnt
    asked = reader.read(*slotted(text.lower(), NOUNS))
    return kinds[asked.task], asked.nouns


def test_every_wording_of_every_goal_is_read(
    learnt: tuple[GoalReader, tuple[str, ...]],
) -> None:
    for goal in list(wordings())[::7]:
        assert read(learnt, goal.text) == (goal.kind, goal.parts), goal.text


@pytest.mark.parametrize(
    ("text", "kind", "nouns"),
    [
        ("Chilled apple on the dining table.", "pick_cool_then", "apple dining table"),
        ("I need two mugs in the cabinet, please.", "pick_two_obj", "mug cabinet"),
        ("Go and wash a fork and put it in the drawer.", "pick_clean_then", "fork drawer"),
    ],
)
def test_other_words_than_those_that_were_learnt(
    learnt: tuple[GoalReader, tuple[str, ...]], text: str, kind: str, nouns: str
) -> None:
    found, parts = read(learnt, text)
    assert found.startswith(kind)
    assert " ".join(filter(None, parts)) == nouns


def test_no_two_nouns_play_one_part(learnt: tuple[GoalReader, tuple[str, ...]]) -> None:
    _, parts = read(learnt, "Put an apple and an egg in the sink on the shelf in the fridge.")
    named = [part for part in parts if part]
    assert len(named) == len(set(named))


def test_a_goal_without_words_asks_for_nothing(
    learnt: tuple[GoalReader, tuple[str, ...]],
) -> None:
    assert learnt[0].read((), ()) == Asked(0, ("", "", ""))
