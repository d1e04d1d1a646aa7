"""Rejects duplicates: near copies of kept examples, and images in two splits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from itertools import chain

from inhabit.eie.checking.pictures import apart
from inhabit.eie.examples.draft import Draft, Refused
from inhabit.eie.examples.example import Example, Rejection, Split
from inhabit.eie.sets.folder import AttemptLine

_ALIKE = 6
"""Maximum Hamming distance, of 256 bits, between the fingerprints of near duplicates."""


class Novelty:
    """Fingerprints of the kept examples."""

    def __init__(self, examples: Iterable[Example], past: Sequence[AttemptLine]) -> None:
        """Start with the accepted examples, in their order."""
        self._splits: dict[str, Split] = {}
        self._prints: dict[bytes, list[int]] = {}
        self.kept = 0
        prints = chain.from_iterable(attempt.prints for attempt in past)
        for example, print_ in zip(examples, prints, strict=True):
            self._remember(example, int(print_, 16))

    def judge(self, draft: Draft) -> Draft | Refused:
        """Accept a draft and add it, or reject it as a duplicate."""
        example = draft.example
        for image in _images(example):
            other = self._splits.get(image, example.split)
            if other != example.split:
                return Refused(
                    Rejection.DUPLICATE,
                    f"Its picture {image} is in the {other} split already, and this is for "
                    f"{example.split}.",
                )
        near = self._prints.get(_asks(example), ())
        if any(apart(draft.fingerprint, other) <= _ALIKE for other in near):
            return Refused(
                Rejection.DUPLICATE, "The same is asked already of a picture that looks the same."
            )
        self._remember(example, draft.fingerprint)
        return draft

    def _remember(self, example: Example, print_: int) -> None:
        for image in _images(example):
            self._splits.setdefault(image, example.split)
        self._prints.setdefault(_asks(example), []).append(print_)
        self.kept += 1


def _images(example: Example) -> list[str]:
    """Digests of all its images."""
    files = [example.image, *(past.image for past in example.history if past.image)]
    return [file.removeprefix("images/").removesuffix(".png") for file in files]


def _asks(example: Example) -> bytes:
    """A 16-byte digest of the question and the correct answer."""
    asked = f"{example.kind}\n{example.goal}\n{example.text}\n{example.candidates[example.answer]}"
    return hashlib.sha256(asked.encode()).digest()[:16]
