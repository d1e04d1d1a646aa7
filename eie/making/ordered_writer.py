"""Accepts and writes the results of attempts in the order of their numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from inhabit.eie.examples.draft import Draft, Piece
from inhabit.eie.examples.example import Example, Refused
from inhabit.eie.making.novelty import Novelty
from inhabit.eie.making.runner import AttemptResult
from inhabit.eie.sets.folder import AttemptLine, SetFolder, SetWriter


class OrderedWriter:
    """Writes a set. Attempts may arrive in any order."""

    def __init__(
        self,
        target: SetFolder,
        *,
        max_attempts: int,
        on_progress: Callable[[int], None] = lambda kept: None,
    ) -> None:
        """Continue a set; `on_progress` is told the number of examples after every attempt.

        Raises:
            SetError: the set can't be read or written.
        """
        self._journal = SetWriter(target)
        self._wanted = target.header.n
        self._max_attempts = max_attempts
        self._on_progress = on_progress
        self._novelty = Novelty(target.examples(), self._journal.past)
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
        refused: list[Refused] = []
        pictures: dict[str, NDArray[np.uint8]] = {}
        for group in _groups(made.pieces):
            if isinstance(group, Refused):
                refused.append(group)
                continue
            if self.kept >= self._wanted:
                break
            why = self._novelty.judge(group)
            if why is not None:
                refused.append(why)
                continue
            for draft in group:
                examples.append(draft.example)
                prints.append(f"{draft.fingerprint:064x}")
                pictures |= draft.pictures
        attempt = AttemptLine(
            number=made.number,
            task=made.task,
            change=made.change,
            kept=tuple(example.id for example in examples),
            prints=tuple(prints),
            rejected=tuple(refused),
            tokens=made.tokens,
        )
        self._journal.add(attempt, examples, pictures, made.seconds)


def _groups(pieces: Sequence[Piece]) -> Iterator[Sequence[Draft] | Refused]:
    """Groups together, which are kept all or not at all; everything else one by one."""
    for _, found in groupby(enumerate(pieces), key=_group):
        same = [piece for _, piece in found]
        drafts = [piece for piece in same if isinstance(piece, Draft)]
        if drafts:
            yield drafts
        yield from (piece for piece in same if isinstance(piece, Refused))


def _group(numbered: tuple[int, Piece]) -> str | int:
    number, piece = numbered
    return (isinstance(piece, Draft) and piece.example.group) or number
