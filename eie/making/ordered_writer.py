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
    """Chooses wrong answers so that all texts are correct equally often when offered.

    Otherwise a model without images could exploit the frequencies. Questions about past actions
    are counted separately.
    """

    def __init__(self, examples: Iterable[Example]) -> None:
        """Start with the accepted examples."""
        self._due: Counter[tuple[bool, str]] = Counter()
        """(is a question about a past action, text) -> how often the text is still to be wrong."""
        for example in examples:
            self._count(example)

    def settle(self, draft: Draft) -> Example:
        """The example, with the wrong answers that are most due."""
        example = draft.example
        right = example.candidates[example.answer]
        offered = [text for text in example.candidates if text != right]
        # The sort is stable: among equals, the order of the draft decides.
        due = sorted([*offered, *draft.spare], key=lambda text: -self._due[_key(example, text)])
        chosen = due[: len(offered)]
        # Shuffled: in a sorted list the correct answer would stand out.
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
    """Writes a set. Attempts may arrive in any order."""

    def __init__(
        self,
        target: SetFolder,
        *,
        max_attempts: int,
        on_progress: Callable[[int], None] = lambda kept: None,
    ) -> None:
        """Continue a set.

        Args:
            target: the set; its earlier attempts are kept.
            max_attempts: maximum number of attempts.
            on_progress: called after every attempt with the number of examples.

        Raises:
            SetError: the set can't be read or written.
        """
        self._journal = SetWriter(target)
        self._wanted = target.header.n
        self._max_attempts = max_attempts
        self._on_progress = on_progress
        self._novelty = Novelty(target.examples(), self._journal.past)
        self._balance = Balance(target.examples())
        self._waiting: dict[int, AttemptResult] = {}
        self.written = len(self._journal.past)
        """Number of attempts written: all numbers below this one."""

    @property
    def kept(self) -> int:
        """Examples so far."""
        return self._novelty.kept

    @property
    def over(self) -> bool:
        """Whether there are enough examples, or attempts."""
        return self.kept >= self._wanted or self.written >= self._max_attempts

    def add(self, made: AttemptResult) -> None:
        """Add an attempt; it is written once all earlier ones are.

        Raises:
            SetError: the set can't be written.
        """
        self._waiting[made.number] = made
        while not self.over and self.written in self._waiting:
            self._write(self._waiting.pop(self.written))
            self.written += 1
            self._on_progress(self.kept)

    def close(self) -> None:
        """Close the files."""
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
