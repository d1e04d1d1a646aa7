"""Accepts and writes the results of attempts in the order of their numbers."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from inhabit.eie.checking.novelty import Novelty
from inhabit.eie.examples.draft import Draft, Refused
from inhabit.eie.examples.example import Example
from inhabit.eie.making.runner import AttemptResult
from inhabit.eie.sets.folder import AttemptLine, RejectedItem, SetFolder, SetWriter


class Balance:
    """Chooses wrong answers, so that each text is right as often as it is offered.

    Otherwise a model without images could exploit how often a text is right. Questions about past
    actions are worded differently, and are counted separately.
    """

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
        # In random order: a sorted list would show the right answer as the one out of order.
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


class OrderedWriter:
    """A set that is being written. Attempts may arrive in any order."""

    def __init__(
        self,
        target: SetFolder,
        *,
        max_attempts: int,
        on_progress: Callable[[int], None] = lambda kept: None,
    ) -> None:
        """Go on with what is there.

        Args:
            target: where it goes; what is there is kept.
            max_attempts: attempts after which it ends, whatever was kept.
            on_progress: is told after every attempt how many examples there are.

        Raises:
            SetError: the set can't be read or written.
        """
        self._journal = SetWriter(target)
        self._wanted = target.header.n
        self._most = max_attempts
        self._watch = on_progress
        self._novelty = Novelty(target.examples(), self._journal.past)
        self._balance = Balance(target.examples())
        self._waiting: dict[int, AttemptResult] = {}
        self.written = len(self._journal.past)
        """Attempts that are done with: all numbers below this one."""

    @property
    def kept(self) -> int:
        """Examples so far."""
        return self._novelty.kept

    @property
    def over(self) -> bool:
        """Whether there are enough examples, or attempts."""
        return self.kept >= self._wanted or self.written >= self._most

    def add(self, made: AttemptResult) -> None:
        """Take an attempt; it is written when all before it are.

        Raises:
            SetError: the disk refuses.
        """
        self._waiting[made.number] = made
        while not self.over and self.written in self._waiting:
            self._write(self._waiting.pop(self.written))
            self.written += 1
            self._watch(self.kept)

    def close(self) -> None:
        """Let go of the files."""
        self._journal.close()

    def _write(self, made: AttemptResult) -> None:
        examples: list[Example] = []
        prints: list[str] = []
        refused: list[RejectedItem] = []
        pictures: dict[str, NDArray[np.uint8]] = {}
        for piece in made.pieces:
            if isinstance(piece, Draft) and self.kept >= self._wanted:
                break
            found = self._novelty.judge(piece) if isinstance(piece, Draft) else piece
            if isinstance(found, Refused):
                refused.append(RejectedItem(rejection=found.rejection, sentence=found.sentence))
            else:
                examples.append(self._balance.settle(found))
                prints.append(f"{found.fingerprint:064x}")
                pictures |= found.pictures
        attempt = AttemptLine(
            number=made.number,
            task=made.task,
            kept=tuple(example.id for example in examples),
            prints=tuple(prints),
            rejected=tuple(refused),
            tokens=made.tokens,
        )
        self._journal.add(attempt, examples, pictures, made.seconds)
