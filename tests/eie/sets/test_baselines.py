"""What texts alone give away: nothing where nothing is to be had, and all of it where there is."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

import pytest

from inhabit.eie.examples.example import Example, Split
from inhabit.eie.sets.baselines import Report, measure

COLOURS = ("red", "green", "blue", "white", "black", "grey", "pink", "brown")


def example(number: int, question: str, candidates: list[str], answer: int) -> Example:
    split: Split = ("train", "train", "test")[number % 3]  # type: ignore[assignment]
    return Example(
        id=str(number),
        env="toy",
        split=split,
        image="images/0.png",
        image_digest="0",
        question=question,
        candidates=tuple(candidates),
        answer=answer,
        reason="",
        key_concepts=("x",),
        goal="g",
    )


def of(
    make: Callable[[int, random.Random], Example], count: int = 900
) -> Callable[[], Iterable[Example]]:
    return lambda: (make(number, random.Random(f"made {number}")) for number in range(count))


def blind(number: int, rng: random.Random) -> Example:
    """Only the picture would tell which colour it is."""
    return example(number, "Which door?", rng.sample(COLOURS, 4), rng.randrange(4))


def told(number: int, rng: random.Random) -> Example:
    """The question says it, in other words than the answers."""
    colours = rng.sample(range(8), 4)
    answer = rng.randrange(4)
    names = [f"take the {COLOURS[colour]} one" for colour in colours]
    return example(number, f"The sign says number{colours[answer]}.", names, answer)


def lazy(number: int, rng: random.Random) -> Example:
    return example(number, "Which?", rng.sample(COLOURS, 4), 0)


def favourite(number: int, rng: random.Random) -> Example:
    colours = ["red", *rng.sample(COLOURS[1:], 3)]
    rng.shuffle(colours)
    return example(number, "Which?", colours, colours.index("red"))


def accuracies(report: Report | None) -> list[float]:
    assert report is not None
    assert all(one.examples == 300 for one in report.baselines)
    return [one.accuracy for one in report.baselines]


def test_where_only_the_picture_tells_nobody_is_better_than_chance() -> None:
    report = measure(of(blind))
    assert report is not None
    assert report.chance == pytest.approx(0.25)
    assert all(accuracy == pytest.approx(0.25, abs=0.075) for accuracy in accuracies(report))


def test_a_bag_of_words_finds_what_the_question_says() -> None:
    first, frequent, words = accuracies(measure(of(told)))
    assert first == pytest.approx(0.25, abs=0.075)
    assert frequent < 0.45
    assert words > 0.95


def test_places_and_favourites_are_found_out() -> None:
    first, *_ = accuracies(measure(of(lazy)))
    assert first == 1.0
    first, frequent, words = accuracies(measure(of(favourite)))
    assert first < 0.4
    assert frequent == words == 1.0


def test_the_same_set_gives_the_same_figures() -> None:
    assert measure(of(blind, 300), seed=3) == measure(of(blind, 300), seed=3)


def test_without_a_test_split_nothing_is_said() -> None:
    assert measure(lambda: (e for e in of(blind)() if e.split == "train")) is None
    assert measure(lambda: (e for e in of(blind)() if e.split == "test")) is None
    assert measure(lambda: iter(())) is None
