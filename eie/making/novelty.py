"""Rejects duplicates: near copies of kept examples, and images in two splits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from itertools import chain

from inhabit.eie.checking.pictures import apart
from inhabit.eie.checking.splits import Split
from inhabit.eie.examples.draft import Draft
from inhabit.eie.examples.example import Example, Refused, Rejection
from inhabit.eie.sets.folder import AttemptLine

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
            return Refused(
                Rejection.DUPLICATE, "The same is asked already of a picture that looks the same."
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
    files = [example.image, *(past.image for past in example.history if past.image)]
    return [file.removeprefix("images/").removesuffix(".png") for file in files]


def _asks(example: Example) -> bytes:
    """A 16-byte digest of the goal, what is told and the correct answer."""
    return _digest(example.goal, example.text, example.candidates[example.answer])


def _shown(example: Example) -> bytes:
    """A 16-byte digest of the images and the goal: the same must not be asked twice of them."""
    return _digest(*_images(example), example.goal if example.kind != "recognition" else "")


def _digest(*texts: str) -> bytes:
    return hashlib.sha256("\n".join(texts).encode()).digest()[:16]
