"""Chooses among wrong answers those that are right elsewhere as often as they are offered.

Else whoever never looks would do well by what is commonly right: an answer that never is would be
known for wrong, and one that mostly is for right. What was done is asked in other words than what
to do, so the two are counted apart.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable

from eie.draft import Draft
from eie.example import Example


class Balance:
    """Counts what was offered and what was right. Examples are settled in the order of the set."""

    def __init__(self, examples: Iterable[Example]) -> None:
        """Begin with the examples that are kept already."""
        self._due: Counter[tuple[bool, str]] = Counter()
        """Of each answer to one of the two questions, how many times more it has to be wrong."""
        for example in examples:
            self._count(example)

    def settle(self, draft: Draft) -> Example:
        """The example, with those of its wrong answers that are most due."""
        example = draft.example
        right = example.candidates[example.answer]
        offered = [text for text in example.candidates if text != right]
        # Sorting keeps the order among equals, so that what comes first in a draft goes first.
        due = sorted([*offered, *draft.spare], key=lambda text: -self._due[_key(example, text)])
        chosen = due[: len(offered)]
        # In an order by lot: any other would tell the right one by its being out of it.
        random.Random(f"order of {example.id}").shuffle(chosen)
        chosen.insert(example.answer, right)
        settled = example.model_copy(update={"candidates": tuple(chosen)})
        self._count(settled)
        return settled

    def _count(self, example: Example) -> None:
        for place, text in enumerate(example.candidates):
            due = len(example.candidates) - 1 if place == example.answer else -1
            self._due[_key(example, text)] += due


def _key(example: Example, text: str) -> tuple[bool, str]:
    return example.kind == "recognition", text
