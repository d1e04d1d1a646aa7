"""A reader is trained on a few goals, and reads others."""

from pathlib import Path

import pytest

from alfred_training.instructions import (
    Instruction,
    InstructionTraining,
    reader_vocabulary,
    train_reader,
)
from inhabit.agents.alfred_specialist.reading.reader import load_reader, save_reader

THINGS = ("apple", "mug", "book", "pen", "spoon", "plate")
PLACES = ("sink", "desk", "shelf")


def _goals() -> list[Instruction]:
    found = []
    for thing in THINGS:
        for place in PLACES:
            found.append(Instruction(f"move the {thing} to the {place}", "put", (thing, place, "")))
            found.append(Instruction(f"wash the {thing}, {place} then", "wash", (thing, place, "")))
    return found


@pytest.mark.slow
def test_a_trained_reader_is_saved_and_reads_names_in_other_places(tmp_path: Path) -> None:
    goals = _goals()
    held = [one for one in goals if one.parts[:2] == ("pen", "shelf")]
    settings = InstructionTraining(epochs=60, batch=8, dropout=0.1, least=1, unknown=0.0)
    told: list[str] = []
    learned = [one for one in goals if one not in held]
    vocabulary = reader_vocabulary(learned, settings.least)
    network = train_reader(learned, vocabulary, settings, seed=0, tell=told.append)
    again = train_reader(learned, vocabulary, settings, seed=0, tell=told.append)
    assert told[:60] == told[60:]
    assert all(
        (a == b).all() for a, b in zip(network.parameters(), again.parameters(), strict=True)
    )
    save_reader(network, vocabulary, (), tmp_path)
    reader = load_reader(tmp_path)
    for asked in held:
        best = reader.read(asked.text).ranked[0]
        assert (best.task, best.nouns) == (asked.kind, asked.parts)
