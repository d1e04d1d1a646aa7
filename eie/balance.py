"""Chooses among wrong answers those that are right elsewhere as often as they are offered.

Else whoever never looks would do well by what is commonly right: an answer that never is would be
known for wrong, and one that mostly is for right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from eie.draft import Draft
from eie.example import Example


class Balance:
    """Counts what was offered and what was right. Examples are settled in the order of the set."""

    def __init__(self, examples: Iterable[Example]) -> None:
        """Begin with the examples that are kept already."""
        self._due: Counter[str] = Counter()
        """Of each answer, how many times more it would have to be wrong."""
        for example in examples:
            self._count(example)

    def settle(self, draft: Draft) -> Example:
        """The example, with those of its wrong answers that are most due."""
        example = draft.example
        right = example.candidates[example.answer]
        offered = [text for text in example.candidates if text != right]
        # Sorting keeps the order among equals, so that what comes first in a draft goes first.
        due = sorted([*offered, *draft.spare], key=lambda text: -self._due[text])
        chosen = due[: len(offered)]
        chosen.insert(example.answer, right)
        settled = example.model_copy(update={"candidates": tuple(chosen)})
        self._count(settled)
        return settled

    def _count(self, example: Example) -> None:
        for place, text in enumerate(example.candidates):
            self._due[text] += len(example.candidates) - 1 if place == example.answer else -1
