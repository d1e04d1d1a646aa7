"""Twins are kept together or not at all."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from inhabit.agents.models.core import Image
from inhabit.eie.examples.draft import Draft
from inhabit.eie.examples.example import Example
from inhabit.eie.making.ordered_writer import OrderedWriter
from inhabit.eie.making.runner import AttemptResult
from inhabit.eie.sets.folder import SetError, SetFolder, SetHeader


def twins(name: str, pictures: list[int], split: str = "train") -> list[Draft]:
    """A group about random images with these seeds."""
    found = []
    for number, seed in enumerate(pictures):
        rgb = np.random.default_rng(seed).integers(0, 256, (32, 32, 3), np.uint8)
        digest = Image(rgb).digest
        example = Example(
            id=f"{name}-{number}",
            env="toy",
            split=split,  # type: ignore[arg-type]
            image=f"images/{digest}.png",
            image_digest=digest,
            question="Which door?",
            candidates=tuple(f"open door {i}" for i in range(4)),
            answer=number,
            reason="",
            key_concepts=("door",),
            goal="g",
            twins=name,
        )
        found.append(Draft(example, {digest: rgb}, seed * 0x1234567890ABCDEF))
    return found


@pytest.fixture
def target(tmp_path: Path) -> SetFolder:
    header = SetHeader(
        command=("inhabit",), env="toy", backend="grid", author="procedural", seed=1, n=6,
        settings={}, software={},
    )  # fmt: skip
    return SetFolder.begin(tmp_path, header)


def kept(target: SetFolder, attempts: list[list[Draft]]) -> list[list[str]]:
    writer = OrderedWriter(target, max_attempts=99)
    for number, pieces in enumerate(attempts):
        writer.add(AttemptResult(number, list(pieces)))
    writer.close()
    return [list(attempt.kept) for attempt in target.attempts()]


def test_the_last_group_is_whole(target: SetFolder) -> None:
    made = kept(target, [twins("a", [1, 2, 3, 4]), twins("b", [5, 6, 7, 8]), twins("c", [9, 10])])
    assert made == [[f"a-{i}" for i in range(4)], [f"b-{i}" for i in range(4)]]


def test_a_group_with_one_duplicate_is_rejected(target: SetFolder) -> None:
    made = kept(target, [twins("a", [1, 2]), twins("b", [3, 2]), twins("c", [5, 6])])
    assert made == [["a-0", "a-1"], [], ["c-0", "c-1"]]
    assert [len(attempt.rejected) for attempt in target.attempts()] == [0, 1, 0]


def test_equal_images_make_no_group(target: SetFolder) -> None:
    assert kept(target, [twins("a", [1, 1]), twins("b", [3, 4])]) == [[], ["b-0", "b-1"]]


def test_a_picture_is_in_one_split(target: SetFolder) -> None:
    assert kept(target, [twins("a", [1, 2]), twins("b", [3, 1], "test")]) == [["a-0", "a-1"], []]


def test_an_empty_image_of_a_lost_attempt_is_written_again(target: SetFolder) -> None:
    made = twins("a", [1, 2])
    file = target.folder / made[0].example.image
    file.parent.mkdir()
    file.touch()
    kept(target, [made])
    assert file.stat().st_size


@pytest.mark.parametrize(
    ("was", "now"), [(r'"prints":\[.*\]', '"prints":[]'), (r's":\["0', 's":["x'), ('r":0', 'r":7')]
)
def test_a_set_whose_attempts_were_changed_does_not_go_on(
    target: SetFolder, was: str, now: str
) -> None:
    kept(target, [twins("a", [1, 2])])
    file = target.folder / "attempts.jsonl"
    file.write_text(re.sub(was, now, file.read_text(), count=1))
    with pytest.raises(SetError, match=r"attempts\.jsonl, line 1"):
        OrderedWriter(target, max_attempts=99)
