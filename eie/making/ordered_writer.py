"""Accepts and writes the results of attempts in the order of their numbers, without duplicates:
near copies of kept examples, and images in two splits.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby

from inhabit.eie.checking.pictures import apart
from inhabit.eie.checking.splits import Split
from inhabit.eie.examples.draft import Draft, Piece
from inhabit.eie.examples.example import Example, Refused, Rejection
from inhabit.eie.making.runner import AttemptResult
from inhabit.eie.sets.folder import AttemptLine, SetFolder, SetWriter

_ALIKE = 6
"""Maximum Hamming distance, of 256 bits, between the fingerprints of near duplicates."""


class Novelty:
    """Fingerprints of the kept examples."""

    def __init__(self, examples: Iterable[Example], past: Sequence[AttemptLine]) -> None:
        """Start with the accepted examples, in their order."""
        self._splits: dict[str, Split] = {}
        self._prints: dict[bytes, list[int]] = {}
        self._shown: set[bytes] = set()
        self.kept = 0
        prints = chain.from_iterable(attempt.prints for attempt in past)
        for example, print_ in zip(examples, prints, strict=True):
            self._remember(example, int(print_, 16))

    def judge(self, drafts: Sequence[Draft]) -> Refused | None:
        """Add a group of drafts, or say why it is rejected as a duplicate."""
        for draft in drafts:
            if (refused := self._known(draft)) is not None:
                return refused
        asked = [_shown(draft.example) for draft in drafts]
        if len(set(asked)) < len(asked):
            return Refused(Rejection.DUPLICATE, "Two examples of a group have equal images.")
        for draft in drafts:
            self._remember(draft.example, draft.fingerprint)
        return None

    def _known(self, draft: Draft) -> Refused | None:
        example = draft.example
        for image in _images(example):
            other = self._splits.get(image, example.split)
            if other != example.split:
                return Refused(
                    Rejection.DUPLICATE,
                    f"Its picture {image} is in the {other} split already, and this is for "
                    f"{example.split}.",
                )
        if _shown(example) in self._shown:
            return Refused(
                Rejection.DUPLICATE, "The same images with the same question are kept already."
            )
        near = self._prints.get(_asks(example), ())
        if any(apart(draft.fingerprint, other) <= _ALIKE for other in near):
            what = "Something" if example.kind == "photograph" else "The same"
            return Refused(
                Rejection.DUPLICATE, f"{what} is asked already of a picture that looks the same."
            )
        return None

    def _remember(self, example: Example, print_: int) -> None:
        for image in _images(example):
            self._splits.setdefault(image, example.split)
        self._prints.setdefault(_asks(example), []).append(print_)
        self._shown.add(_shown(example))
        self.kept += 1


def _images(example: Example) -> list[str]:
    """Digests of all its images."""
    return [file.removeprefix("images/").removesuffix(".png") for file in example.images]


def _asks(example: Example) -> bytes:
    """A 16-byte digest of the goal, what is told and the correct answer.

    All photographs have the same: those that look alike could be in different splits.
    """
    if example.kind == "photograph":
        return _digest()
    return _digest(example.goal, example.text, example.right)


def _shown(example: Example) -> bytes:
    """A 16-byte digest of the images and the goal: the same must not be asked twice of them."""
    return _digest(*_images(example), example.goal if example.kind != "recognition" else "")


def _digest(*texts: str) -> bytes:
    return hashlib.sha256("\n".join(texts).encode()).digest()[:16]


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
        drafts: list[Draft] = []
        refused: list[Refused] = []
        for group in _groups(made.pieces):
            if isinstance(group, Refused):
                refused.append(group)
                continue
            if self.kept >= self._wanted:
                break
            why = self._novelty.judge(group)
            if why is not None:
                refused.append(why)
            else:
                drafts += group
        attempt = AttemptLine(
            number=made.number,
            task=made.task,
            change=made.change,
            reading=made.reading,
            rejected=tuple(refused),
            tokens=made.tokens,
        )
        self._journal.add(attempt, drafts, made.seconds)


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
