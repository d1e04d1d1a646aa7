"""Writes `index.html` of a set."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from eie.coverage import Coverage, cover, evenness
from eie.export.files import half_written
from eie.folder import SetFolder
from eie.page.rows import rows
from episodes.page.document import pieces

_SPLITS = ("train", "val", "test")


def write_page(opened: SetFolder) -> Path:
    """Write the page of a set into its folder, and return its file.

    Raises:
        SetError: the set can't be read.
        DiskError: the page can't be written.
    """
    file = opened.folder / "index.html"
    covered = cover(opened)
    # Half a surrogate pair, which models may say, is shown as a question mark.
    with half_written(file) as half, half.open("w", encoding="utf-8", errors="replace") as stream:
        stream.writelines(_pieces(opened, covered))
    return file


def _pieces(opened: SetFolder, covered: Coverage) -> Iterable[str]:
    moments = covered.examples + covered.rejected.total()
    return pieces(
        "set.html",
        folder=Path(__file__).parent,
        header=opened.header,
        command=shlex.join(opened.header.command),
        covered=covered,
        moments=moments,
        splits=[(split, covered.splits[split]) for split in _SPLITS],
        even=evenness(covered.positions),
        filters=_filters(covered),
        rows=rows(opened.examples()),
    )


def _filters(covered: Coverage) -> Sequence[tuple[str, str, Sequence[str]]]:
    """Name, label and values of what the list can be narrowed to."""
    return [
        ("split", "Split", [split for split in _SPLITS if covered.splits[split]]),
        ("kind", "Kind", sorted({kind for kind, _ in covered.kinds})),
        ("verb", "Verb", sorted(covered.verbs)),
        ("object", "Object", sorted(covered.objects)),
        ("room", "Room", sorted({room for room, _ in covered.rooms})),
    ]
