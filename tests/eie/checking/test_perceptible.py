"""Differences that a person would notice."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from inhabit.eie.checking.pictures import changed_share, is_perceptible, unclear
from inhabit.eie.checking.splits import split_of

GREY = np.full((300, 300, 3), 128, np.uint8)


def changed(rows: slice, columns: slice, by: int) -> bool:
    other = GREY.copy()
    other[rows, columns] += np.uint8(by)
    return is_perceptible(GREY, other)


def test_size_contrast_and_edge_decide() -> None:
    assert changed(slice(100, 130), slice(100, 130), 60)
    assert not changed(slice(100, 105), slice(100, 105), 60), "too small"
    assert not changed(slice(100, 130), slice(100, 130), 10), "too faint"
    assert not changed(slice(0, 10), slice(0, 300), 60), "at the edge"


def test_equal_images_differ_nowhere() -> None:
    assert changed_share(GREY, GREY) == 0.0
    assert changed_share(GREY, 255 - GREY // 2) == 1.0


@pytest.mark.parametrize("seed", range(20))
def test_few_rooms_fill_every_split(seed: int) -> None:
    rooms = [f"flat {number}" for number in range(7)]
    splits = [split_of(room, seed, rooms) for room in rooms]
    assert sorted(splits) == ["test", "train", "train", "train", "train", "train", "val"]


@pytest.mark.parametrize("count", range(3, 25))
def test_no_split_of_few_rooms_is_empty(count: int) -> None:
    rooms = [f"room {number}" for number in range(count)]
    splits = Counter(split_of(room, 0, rooms) for room in rooms)
    assert len(splits) == 3 and splits["val"] <= splits["test"] <= splits["train"]


def test_an_image_that_one_thing_fills_is_unclear() -> None:
    rgb = np.random.default_rng(0).integers(0, 256, (60, 60, 3), np.uint8)
    assert unclear(rgb, in_sight=3, most=0.64) is None
    assert unclear(rgb, in_sight=3, most=0.66) == "One thing covers 66% of the picture."
