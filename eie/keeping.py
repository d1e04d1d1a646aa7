"""What is kept of attempts: they are judged and written in the order of their numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from eie.attempt import Made
from eie.balance import Balance
from eie.draft import Draft, Refused
from eie.example import Example
from eie.folder import Attempt, Journal, Refusal, SetFolder
from eie.novelty import Novelty


class Keeping:
    """A set that is being written. Attempts may arrive in any order."""

    def __init__(
        self, into: SetFolder, *, most: int, watch: Callable[[int], None] = lambda kept: None
    ) -> None:
        """Go on with what is there.

        Args:
            into: where it goes; what is there is kept.
            most: attempts after which it ends, whatever was kept.
            watch: is told after every attempt how many examples there are.

        Raises:
            SetError: the set can't be read or written.
        """
        self._journal = Journal(into)
        self._wanted = into.header.n
        self._most = most
        self._watch = watch
        self._novelty = Novelty(into.examples(), self._journal.past)
        self._balance = Balance(into.examples())
        self._waiting: dict[int, Made] = {}
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

    def add(self, made: Made) -> None:
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

    def _write(self, made: Made) -> None:
        examples: list[Example] = []
        prints: list[str] = []
        refused: list[Refusal] = []
        pictures: dict[str, NDArray[np.uint8]] = {}
        for piece in made.pieces:
            if isinstance(piece, Draft) and self.kept >= self._wanted:
                break
            found = self._novelty.judge(piece) if isinstance(piece, Draft) else piece
            if isinstance(found, Refused):
                refused.append(Refusal(rejection=found.rejection, sentence=found.sentence))
            else:
                examples.append(self._balance.settle(found))
                prints.append(f"{found.fingerprint:064x}")
                pictures |= found.pictures
        attempt = Attempt(
            number=made.number,
            task=made.task,
            kept=tuple(example.id for example in examples),
            prints=tuple(prints),
            rejected=tuple(refused),
            tokens=made.tokens,
        )
        self._journal.add(attempt, examples, pictures, made.seconds)
