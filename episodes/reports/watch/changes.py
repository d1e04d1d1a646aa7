"""Which episodes of a run have changed since one looked last."""

from __future__ import annotations

from collections.abc import Sequence

from inhabit.envs.files import is_regular, size_of
from inhabit.episodes.recording.index import Index
from inhabit.episodes.recording.reader import EpisodeRecord, Run

_AHEAD = 64
"""Episodes that were not begun, one after the other, after which no later one is looked for."""


class Changes:
    """Looks at the sizes of the records that may still grow."""

    def __init__(self, run: Run, index: Index | None = None) -> None:
        """Begin with the run as it is now, by what `index` knows of it already."""
        index = Index(run) if index is None else index
        self._going_on = [e for e in run.episodes() if index.end(e) is None]
        self._sizes: dict[int, int] = {}
        self.poll()

    def poll(self) -> Sequence[int]:
        """Numbers of the episodes that have grown since the last call.

        Raises:
            RecordError: a record is broken.
        """
        grown = [e for e in self._begun() if self._has_grown(e)]
        ended = {e.number for e in grown if e.end() is not None}
        self._going_on = [e for e in self._going_on if e.number not in ended]
        return [e.number for e in grown]

    def playing(self) -> Sequence[EpisodeRecord]:
        """The episodes that have begun and not ended, as of the last call of `poll`."""
        return [e for e in self._going_on if self._sizes.get(e.number)]

    def _begun(self) -> Sequence[EpisodeRecord]:
        found: list[EpisodeRecord] = []
        ahead = 0
        for episode in self._going_on:
            if is_regular(episode.file, episode.run):
                found.append(episode)
                ahead = 0
            elif (ahead := ahead + 1) > _AHEAD:
                break
        return found

    def _has_grown(self, episode: EpisodeRecord) -> bool:
        size = size_of(episode.file, episode.run) or 0
        grown = self._sizes.get(episode.number) != size
        self._sizes[episode.number] = size
        return grown
