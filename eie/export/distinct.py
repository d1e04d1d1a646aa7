"""Which rows of an export are left out: repeated ones, contradictory ones, and still videos.

Two rows of one file that show equal images and words and have different answers can't both be
learned, so neither is written. Of rows that are equal throughout, the first is written. A video
whose frames are all equal shows no action.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

from inhabit.eie.export.files import ExportImage
from inhabit.episodes.reports.wording import counted

T = TypeVar("T")
REASONS: Mapping[str, str] = {
    "repeated": "with the images, words and answer of an earlier row",
    "contradictory": "with equal images and words, and different answers",
    "still": "with a video in which no frame differs from the others",
    "images": "with several images, where this format has one",
    "no_trajectory": "of another kind than trajectory",
    "no_recognition": "of another kind than recognition",
    "choices": "with too few wrong answers",
}
"""Reason -> what is said of the rows that are left out for it."""
_CLASH = b""


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """What decides whether a row of an export is written."""

    file: str
    """The exported file that the row goes to."""
    words: tuple[str, ...]
    images: tuple[ExportImage, ...]
    answer: str
    video: bool = False
    """Whether the images are the frames of a video, of which some have to differ."""


@dataclass(slots=True)
class LeftOut:
    """Leaves out rows and counts them by reason, a key of `REASONS`."""

    counts: Counter[str] = field(default_factory=Counter)
    _images: dict[Path, bytes] = field(default_factory=dict)

    def kept(
        self, rows: Callable[[], Iterable[T]], describe: Callable[[T], ComparedRow]
    ) -> Iterator[T]:
        """The rows to write, in their order. `rows` is called twice. Memory: about 100 bytes a row.

        Raises:
            RecordError: an image is gone.
        """
        answers: dict[bytes, bytes] = {}
        for one in rows():
            row = describe(one)
            asked, answer = self._asked(row), _digest(row.answer.encode())
            answers[asked] = answer if answers.get(asked, answer) == answer else _CLASH
        written: set[bytes] = set()
        for one in rows():
            row = describe(one)
            asked = self._asked(row)
            if row.video and len(set(map(self._image, row.images))) < 2:
                self.counts["still"] += 1
            elif answers[asked] == _CLASH:
                self.counts["contradictory"] += 1
            elif asked in written:
                self.counts["repeated"] += 1
            else:
                written.add(asked)
                yield one

    def sentence(self) -> str:
        """What was left out and why; empty if nothing was."""
        total = self.counts.total()
        parts = [f"{self.counts[r]} {said}" for r, said in REASONS.items() if self.counts[r]]
        if not parts:
            return ""
        return f"Left out {counted(total, 'row')}: {'; '.join(parts)}."

    def _asked(self, row: ComparedRow) -> bytes:
        words = "\0".join((row.file, *row.words)).encode("utf-8", "replace")
        return _digest(_digest(words) + b"".join(map(self._image, row.images)))

    def _image(self, image: ExportImage) -> bytes:
        if image.file not in self._images:
            self._images[image.file] = _digest(image.read())
        return self._images[image.file]


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=12).digest()
