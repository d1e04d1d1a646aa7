"""The reader of goals that comes with the package."""

from pathlib import Path

import pytest

from alfred_teaching import wordings
from inhabit.agents.alfred_specialist.reading.reader import (
    DESCRIPTION,
    WEIGHTS,
    InstructionReader,
    load_reader,
)
from inhabit.agents.core import ModelError

KITCHEN = frozenset({"mug", "cup", "sink", "countertop", "dining table", "fridge", "knife"})


@pytest.fixture(scope="module")
def reader() -> InstructionReader:
    return load_reader()


@pytest.mark.parametrize(
    ("text", "task", "nouns"),
    [
        ("turn on a lamp while holding a bowl", "look_at_obj_in_light", ("bowl",)),
        ("Two cold potatos go in the trash", "pick_two_obj_and_place", ("potato", "garbage can")),
        ("warm up an egg, leave it on the counter", "pick_heat", ("egg", "countertop")),
        ("place a plate with a slice of tomato in the refrigerator", "movable", ("tomato slice",)),
        ("wash the dirty spoons then put one in the drawr", "pick_clean", ("spoon", "drawer")),
    ],
)
def test_peoples_words_are_read(
    reader: InstructionReader, text: str, task: str, nouns: tuple[str, ...]
) -> None:
    best = reader.read(text).ranked[0]
    assert task in best.task
    assert best.nouns[: len(nouns)] == nouns


def test_our_own_wordings_are_read(reader: InstructionReader) -> None:
    goals = list(wordings())[::97]
    wrong = []
    for goal in goals:
        best = reader.read(goal.text).ranked[0]
        if (best.task, *best.nouns) != (goal.kind, *goal.parts):
            wrong.append(goal.text)
    assert len(wrong) <= len(goals) * 0.02, wrong


def test_probabilities_fall_and_the_room_decides(reader: InstructionReader) -> None:
    readings = reader.read("Put the cup on the table", KITCHEN).ranked
    chances = [reading.probability for reading in readings]
    assert chances == sorted(chances, reverse=True) and 0 < sum(chances) <= 1.0001
    assert {reading.place for reading in readings} <= KITCHEN
    assert readings[0].place == "dining table"


def test_step_sentences_are_read_with_the_goal(reader: InstructionReader) -> None:
    goal = "Move a thing to the sink."
    steps = "Turn around.\nPick up the green cup.\nGo to the sink.\nPut the cup in the sink."
    assert reader.read(f"{goal}\n{steps}", KITCHEN).ranked[0].thing == "cup"


@pytest.mark.parametrize("text", ["", "  \n", "12 + 3", "???"])
def test_what_says_nothing_has_no_reading(reader: InstructionReader, text: str) -> None:
    assert not reader.read(text)


def test_a_missing_or_broken_reader_is_an_error_for_people(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="can't be read"):
        load_reader(tmp_path)
    (tmp_path / DESCRIPTION).write_text('{"words": []}')
    (tmp_path / WEIGHTS).write_bytes(b"nothing")
    with pytest.raises(ModelError, match=r"reader\.json can't be read"):
        load_reader(tmp_path)
