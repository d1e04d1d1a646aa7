"""The index of a run: what lists need of each episode, so that no long record is read for it.

It is a file beside the records. A line of it is used only while the record has the size and the
last line that the index names, and while the counts are possible for that many steps. What it lacks
is read from the record. The check is no proof: whoever edits the index can name other possible
counts, which lists then show.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from inhabit.envs.core import Reason
from inhabit.envs.files import read_lines, size_of
from inhabit.episodes.recording.disk import LineFile
from inhabit.episodes.recording.reader import EpisodeRecord, Run
from inhabit.episodes.recording.schema import EndLine, FramePath

_FILE = "index.jsonl"


class IndexEntry(BaseModel, frozen=True, extra="ignore"):
    """An episode that has ended, in a line."""

    number: int
    size: int
    """Size of the episode's record, in bytes, once it had ended."""
    end: EndLine
    frame: FramePath | None = None
    """What was seen last."""
    reasons: Mapping[Reason, int] = Field(default_factory=dict)
    """Why actions had no effect, and how often."""


class Index:
    """What is known of the episodes of a run. Looks into records only for what the file lacks."""

    def __init__(self, run: Run) -> None:
        """Read the file; one that is broken or of another version counts as none."""
        self._run = run
        self._known = {entry.number: entry for entry in _read(run.folder)}
        self._added: list[IndexEntry] = []
        self._checked: set[int] = set()

    def end(self, episode: EpisodeRecord) -> EndLine | None:
        """How `episode` ended; None while it has not.

        Raises:
            RecordError: the record has to be read, and is broken.
        """
        known = self._still_known(episode)
        return episode.end() if known is None else known.end

    def ends(self) -> Iterator[EndLine | None]:
        """How every episode ended, in order.

        Raises:
            RecordError: as `end`.
        """
        return map(self.end, self._run.episodes())

    def entry(self, episode: EpisodeRecord) -> IndexEntry | None:
        """All that is known of `episode`; None while it has not ended.

        Raises:
            RecordError: as `end`.
        """
        known = self._still_known(episode)
        if known is not None:
            return known
        if episode.end() is None:
            return None
        entry = entry_of(episode)
        self._known[entry.number] = entry
        self._added.append(entry)
        return entry

    def save(self) -> None:
        """Add what had to be read from records, so that the next reader need not.

        Raises:
            DiskError: it can't be written.
        """
        append(self._run, self._added)
        self._added = []

    def _still_known(self, episode: EpisodeRecord) -> IndexEntry | None:
        """What the file says, unless the record has grown or its last line says otherwise."""
        known = self._known.get(episode.number)
        if known is None or known.size != size_of(episode.file, episode.run):
            return None
        counts = known.reasons.values()
        if min(counts, default=1) < 1 or sum(counts) > known.end.steps:
            return None
        if episode.number not in self._checked:
            if episode.end() != known.end:
                return None
            self._checked.add(episode.number)
        return known


def entry_of(episode: EpisodeRecord) -> IndexEntry:
    """What the index says of an episode that has ended, from its record."""
    attempt = episode.last()
    assert attempt is not None and attempt.end is not None, "It has ended."
    frames = [step.see.frame for step in attempt.steps if step.see.frame is not None]
    reasons = Counter(s.act.reason for s in attempt.steps if s.act and s.act.reason)
    return IndexEntry(
        number=episode.number,
        size=size_of(episode.file, episode.run) or 0,
        end=attempt.end,
        frame=frames[-1] if frames else None,
        reasons=dict(sorted(reasons.items())),
    )


def append(run: Run, entries: Sequence[IndexEntry]) -> None:
    """Add lines to the index of `run`.

    Raises:
        DiskError: it can't be written.
    """
    if not entries:
        return
    with contextlib.closing(LineFile(run.folder / _FILE, run.folder)) as lines:
        for entry in entries:
            lines.append(entry.model_dump_json(by_alias=True).encode())


def _read(run: Path) -> Iterator[IndexEntry]:
    with contextlib.suppress(OSError):
        for line in read_lines(run / _FILE, run):
            with contextlib.suppress(ValidationError):
                if line.endswith(b"\n"):
                    yield IndexEntry.model_validate_json(line)
