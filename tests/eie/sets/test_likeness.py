"""How alike texts are: at chance where nothing tells them apart, and sure where one word does."""

from __future__ import annotations

import random

import pytest

from likeness import compare, told_apart

NOUNS = ["mug", "plate", "book", "pen", "apple", "towel", "candle", "vase", "bowl", "knife"]
PLACES = ["desk", "shelf", "sink", "drawer", "fridge", "cabinet", "sofa", "bed", "table"]


def goals(count: int, seed: int, put: str = "Put") -> list[str]:
    rng = random.Random(seed)
    return [
        f"{put} the {rng.choice(NOUNS)} and the {rng.choice(NOUNS)} on the {rng.choice(PLACES)}."
        for _ in range(count)
    ]


def test_texts_of_one_source_are_told_apart_by_chance_alone() -> None:
    assert 0.35 < told_apart(goals(150, 1), goals(150, 2)) < 0.65


def test_a_word_of_one_source_alone_gives_it_away() -> None:
    assert told_apart(goals(60, 1), goals(60, 2, put="Place")) == 1.0


def test_the_same_texts_give_the_same_figures() -> None:
    ours, people = goals(40, 1), goals(60, 2)
    found = compare(ours, people, seed=3)
    assert found == compare(ours, people, seed=3)
    assert found.texts == 40 and 0 < found.self_bleu < 1


def test_a_handful_of_texts_gives_no_figure() -> None:
    with pytest.raises(ValueError, match="different texts"):
        told_apart(["Put it."] * 9, ["Take it."] * 9)
