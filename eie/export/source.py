"""What is exported: the episodes of runs, or the examples of a set. Iterates again each time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from inhabit.eie.examples.example import Example
from inhabit.eie.export.demonstrations import Demonstration, demonstrations
from inhabit.eie.export.distinct import LeftOut
from inhabit.eie.export.exporter import ExportOptions
from inhabit.eie.sets.folder import SetFolder
from inhabit.episodes.recording.reader import Run


@dataclass(frozen=True)
class RunSource:
    """The successful episodes of a run."""

    run: Run
    options: ExportOptions = field(default_factory=ExportOptions)
    more: tuple[Run, ...] = ()
    """Further runs, for a format that is of every episode."""
    left_out: LeftOut = field(default_factory=LeftOut)

    def __iter__(self) -> Iterator[Demonstration]:
        return demonstrations(self.run)


@dataclass(frozen=True)
class SetSource:
    """The examples of a set."""

    opened: SetFolder
    options: ExportOptions = field(default_factory=ExportOptions)
    left_out: LeftOut = field(default_factory=LeftOut)

    def __iter__(self) -> Iterator[Example]:
        return self.opened.examples()
