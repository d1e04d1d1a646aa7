"""Answers are right as often as they are offered, as far as there is anything to choose from."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import numpy as np

from inhabit.eie.examples.draft import Draft
from inhabit.eie.examples.example import Example
from inhabit.eie.making.ordered_writer import Balance

WORDS = [f"open door {i}" for i in range(12)]


def draft(number: int) -> Draft:
    """Half of the doors are never right; there are four wrong answers to spare."""
    rng = random.Random(f"balance {number}")
    right = WORDS[0] if rng.random() < 0.2 else rng.choice(WORDS[1:6])
    wrong = rng.sample([w for w in WORDS if w != right], 7)
    place = rng.randrange(4)
    example = Example(
        id=str(number),
        env="toy",
        split="train",
        image="images/0.png",
        image_digest="0",
        question="Which door?",
        candidates=(*wrong[:place], right, *wrong[place:3]),
        answer=place,
        reason="",
        key_concepts=("door",),
        goal="g",
    )
    return Draft(example, {"0": np.zeros((1, 1, 3), np.uint8)}, 0, tuple(wrong[3:]))


def share(examples: list[Example]) -> dict[str, float]:
    """How often each answer is right where it is offered."""
    offered = Counter(text for e in examples for text in e.candidates)
    right = Counter(e.candidates[e.answer] for e in examples)
    return {text: right[text] / offered[text] for text in right}


def test_what_is_often_right_is_often_offered() -> None:
    drafts = [draft(number) for number in range(1200)]
    before = share([d.example for d in drafts])
    balance = Balance(())
    settled = [balance.settle(d) for d in drafts]
    assert before[WORDS[0]] > 0.4
    assert all(abs(often - 0.25) < 0.05 for often in share(settled).values())
    for old, new in zip(drafts, settled, strict=True):
        right = old.example.candidates[old.example.answer]
        assert new.candidates[new.answer] == right
        assert new.answer == old.example.answer
        assert len(set(new.candidates)) == 4
        assert set(new.candidates) <= {*old.example.candidates, *old.spare}


def test_it_goes_on_where_it_was() -> None:
    drafts = [draft(number) for number in range(60)]
    whole = Balance(())
    settled = [whole.settle(d) for d in drafts]
    later = Balance(settled[:25])
    assert [later.settle(d) for d in drafts[25:]] == settled[25:]


def test_where_nothing_is_to_spare_nothing_is_changed() -> None:
    balance = Balance(())
    for number in range(20):
        whole = draft(number)
        balance.settle(whole)
        bare = Draft(whole.example, whole.pictures, 0)
        assert sorted(balance.settle(bare).candidates) == sorted(whole.example.candidates)


def test_the_order_of_the_answers_tells_nothing() -> None:
    """Who knows how often each is right can't tell the right one by its being out of order."""
    balance = Balance(())
    settled = [balance.settle(draft(number)) for number in range(1200)]
    often = share(settled)
    right = 0
    for example in settled:
        ranks = [often.get(text, 0.0) for text in example.candidates]
        # How much is out of order, descending, if each one is taken out.
        left = [
            sum(a < b for a, b in pairwise(ranks[:i] + ranks[i + 1 :])) for i in range(len(ranks))
        ]
        best = [i for i, wrong in enumerate(left) if wrong == min(left)]
        right += (example.answer in best) / len(best)
    assert abs(right / len(settled) - 0.25) < 0.06
