"""A reader of goals learns what they ask for, however they are worded."""

import copy

import pytest

from inhabit.agents.models.ranker.goals import GoalReader
from inhabit.agents.models.ranker.parsing import with_slots
from inhabit.eie.tuning.goal_reader import train_goal_reader
from inhabit.envs.alfred.teaching.wordings import wordings

NOUNS = tuple(sorted({noun for goal in wordings() for noun in goal.parts} - {""}))
NOUNS += ("faucet",)


@pytest.fixture(scope="module")
def learnt() -> tuple[GoalReader, tuple[str, ...]]:
    reader, _, kinds = train_goal_reader(wordings(), NOUNS, seed=0, tell=str)
    return reader, kinds


def read(learnt: tuple[GoalReader, tuple[str, ...]], text: str) -> tuple[str, tuple[str, ...]]:
    reader, kinds = learnt
    asked = reader.read(*with_slots(text.lower(), NOUNS))
    return kinds[asked.task], asked.nouns


def test_every_wording_of_every_goal_is_read(
    learnt: tuple[GoalReader, tuple[str, ...]],
) -> None:
    for goal in wordings():
        assert read(learnt, goal.text) == (goal.kind, goal.parts), goal.text


def test_weights_of_half_the_size_read_the_same(
    learnt: tuple[GoalReader, tuple[str, ...]],
) -> None:
    """They are kept so."""
    reader, tasks = learnt
    halved = copy.deepcopy(reader).half().float(), tasks
    for goal in list(wordings())[::11]:
        assert read(halved, goal.text) == (goal.kind, goal.parts), goal.text


@pytest.mark.parametrize(
    ("text", "kind", "nouns"),
    [
        ("Chilled apple on the dining table.", "pick_cool_then", "apple dining table"),
        ("I need two mugs in the cupboard, please.", "pick_two_obj", "mug cabinet"),
        ("Put 2 mugs on the shelf.", "pick_two_obj", "mug shelf"),
        ("Go and wash a fork and put it in the drawer.", "pick_clean_then", "fork drawer"),
        ("Place the green candle on the couch.", "pick_and_place_simple", "candle sofa"),
        (
            "Put a slice of tomato in the trash.",
            "pick_and_place_simple",
            "tomato slice garbage can",
        ),
        ("Put a teapot in the sink.", "pick_and_place_simple", "sink"),
    ],
)
def test_other_words_than_those_that_were_learnt(
    learnt: tuple[GoalReader, tuple[str, ...]], text: str, kind: str, nouns: str
) -> None:
    found, parts = read(learnt, text)
    assert found.startswith(kind)
    assert " ".join(filter(None, parts)) == nouns


def test_a_noun_plays_one_part(learnt: tuple[GoalReader, tuple[str, ...]]) -> None:
    _, parts = read(learnt, "Put an apple and an egg in the sink on the shelf in the fridge.")
    named = [part for part in parts if part]
    assert named and len(named) == len(set(named))


def test_a_goal_without_words_speaks_of_nothing(
    learnt: tuple[GoalReader, tuple[str, ...]],
) -> None:
    assert learnt[0].read((), ()).nouns == ("", "", "")
