"""What texts alone give away: nothing where nothing is to be had, and all of it where there is."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Picture

from inhabit.eie.checking.splits import Split
from inhabit.eie.examples.example import Example
from inhabit.eie.sets.baselines import Report, folds, measure
from inhabit.eie.sets.folder import SetError
from inhabit.eie.sets.image_network import ImageNetwork
from inhabit.eie.sets.seeing import EyeFeatures, Grid

COUNT = 160
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
    make: Callable[[int, random.Random], Example], count: int = COUNT
) -> Callable[[], Iterable[Example]]:
    return lambda: (make(number, random.Random(f"made {number}")) for number in range(count))


def blind(number: int, rng: random.Random) -> Example:
    """Only the image would tell which colour it is."""
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


def twins(number: int, rng: random.Random) -> Example:
    """Groups of four with equal words, each with another answer."""
    group = random.Random(f"group {number // 4}")
    candidates = group.sample(COLOURS, 4)
    made = example(number, f"Take {candidates[0]}, then {candidates[1]}.", candidates, number % 4)
    return made.model_copy(update={"twins": str(number // 4), "room": str(number // 20)})


def accuracies(report: Report | None) -> dict[str, float]:
    assert report is not None
    assert all(one.examples == COUNT for one in report.baselines)
    names = ("first", "frequent", "words", "tf-idf", "roles", "network")
    return dict(zip(names, (one.accuracy for one in report.baselines), strict=False))


@pytest.mark.slow
def test_where_only_the_picture_tells_nobody_is_better_than_chance() -> None:
    report = measure(of(blind))
    assert report is not None
    assert report.chance == pytest.approx(0.25)
    assert all(a == pytest.approx(0.25, abs=0.1) for a in accuracies(report).values())


@pytest.mark.slow
def test_groups_of_four_leave_texts_exactly_at_chance() -> None:
    found = accuracies(measure(of(twins)))
    # Ties between learnt scores aside, equal words get equal answers.
    assert all(accuracy == pytest.approx(0.25, abs=0.01) for accuracy in found.values())


def test_baselines_find_what_the_question_says() -> None:
    found = accuracies(measure(of(told)))
    assert found["first"] < 0.45 and found["frequent"] < 0.45
    assert found["words"] > 0.9


@pytest.mark.slow
def test_places_and_favourites_are_found_out() -> None:
    assert accuracies(measure(of(lazy)))["first"] == 1.0
    found = accuracies(measure(of(favourite)))
    assert found["first"] < 0.4
    assert min(found["frequent"], found["words"], found["network"]) > 0.99


class Told:
    """Features that tell the answer, as images would."""

    def __call__(self, asked: Example) -> list[dict[str, float]]:
        return [{"lit": float(place == asked.answer)} for place in range(4)]

    def reading(self, asked: Example) -> list[dict[str, float]]:
        return self(asked)

    def grid(self, asked: Example) -> Grid:
        cells = np.zeros((4, 12), np.float16)
        cells[:, zlib.crc32(asked.candidates[asked.answer].encode()) % 12] = 1
        return cells


@pytest.mark.slow
def test_a_network_learns_what_an_image_shows() -> None:
    examples, told = [*of(twins)()][:80], Told()
    train, test = examples[:60], examples[60:]
    network = ImageNetwork.trained(train, [told.grid(one) for one in train], seed=0)
    right = sum(network.choose(one, told.grid(one)) == one.answer for one in test)
    assert right >= 15


@pytest.mark.slow
def test_eyes_answer_what_texts_do_not() -> None:
    report = measure(of(twins), eyes=Told())
    assert report is not None
    detected, attended, with_goal = (one.accuracy for one in report.baselines if one.sees)
    assert detected == report.seeing == 1.0 and attended > 0.6 and with_goal > 0.6
    assert report.blind == pytest.approx(0.25, abs=0.01)


def test_eyes_follow_no_link_out_of_the_set(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    (tmp_path / "set/images").mkdir(parents=True)
    Picture.new("RGB", (32, 32)).save(tmp_path / "private.png")
    (tmp_path / "set/images/0.png").symlink_to(tmp_path / "private.png")
    eyes = EyeFeatures(tmp_path / "set")
    for image in ("images/0.png", "../private.png", str(tmp_path / "private.png")):
        with pytest.raises(SetError, match="is no image"):
            eyes.grid(lazy(0, random.Random()).model_copy(update={"image": image}))


@pytest.mark.slow
def test_the_same_set_gives_the_same_figures() -> None:
    assert measure(of(blind, 40), seed=3) == measure(of(blind, 40), seed=3)


def test_a_few_examples_give_no_figures() -> None:
    assert measure(of(blind, 4)) is None


def test_folds_share_no_room() -> None:
    examples = list(of(twins)())
    rooms: dict[str, set[int]] = {}
    for one, fold in zip(examples, folds(examples), strict=True):
        rooms.setdefault(one.room, set()).add(fold)
    assert all(len(found) == 1 for found in rooms.values())
    assert {fold for found in rooms.values() for fold in found} == set(range(5))


def test_one_example_of_two_candidates_is_enough_to_learn_from() -> None:
    """As in a set of a square of four and one example more."""
    made = [example(number, "Which?", ["this", "that"], number % 2) for number in range(5)]
    made = [one.model_copy(update={"square": "ab"[number // 4]}) for number, one in enumerate(made)]
    report = measure(lambda: made)
    assert report is not None and report.baselines[-1].examples == 5
