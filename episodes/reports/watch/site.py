"""The pages and files of a run by their addresses, made when they are asked for."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from inhabit.envs.files import is_regular, read_whole, size_of
from inhabit.episodes.recording.index import Index
from inhabit.episodes.recording.reader import EpisodeRecord, Run
from inhabit.episodes.reports.page.episode_data import NO_SCORES
from inhabit.episodes.reports.page.judged import judgement_of, scores_of
from inhabit.episodes.reports.page.pages import episode_page, run_page
from inhabit.episodes.reports.page.summary import LiveEpisode, playing, row
from inhabit.episodes.reports.page.value import credits_of
from inhabit.episodes.scoring.metrics import score

_EPISODE = re.compile(r"/episodes/(\d{5,9})/index\.html")
_FILE = re.compile(
    r"/(episodes/\d{5,9}/(?:(?:frames|images)/[0-9a-f-]{1,64}\.jpg|episode\.(?:mp4|gif)))"
)
_TYPES: Mapping[str, str] = MappingProxyType(
    {".jpg": "image/jpeg", ".mp4": "video/mp4", ".gif": "image/gif"}
)


@dataclass(frozen=True, slots=True)
class Response:
    """What is sent for an address."""

    content: bytes
    type: str


class Site:
    """A run as it is now. Several threads may ask at once."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._index = Index(run)
        self._lock = threading.Lock()

    def answer(self, path: str) -> Response | None:
        """What stands at `path`; None where nothing does.

        Raises:
            RecordError: a record is broken.
        """
        if path in ("/", "/index.html"):
            return _html(self._run_page())
        if (found := _EPISODE.fullmatch(path)) is not None:
            number = int(found[1])
            return self._episode(number) if number < len(self._run.tasks) else None
        if (found := _FILE.fullmatch(path)) is not None:
            return _file(self._run.folder, Path(found[1]))
        return None

    def _run_page(self) -> str:
        with self._lock:
            rows = [
                row(episode, self._index.entry(episode), small=False, always=True)
                for episode in self._run.episodes()
            ]
            scores = score(self._run, self._index)
        return run_page(
            self._run, scores, rows, now=self._playing(), judgement=judgement_of(self._run)
        )

    def _playing(self) -> list[LiveEpisode]:
        with self._lock:
            going_on = Changes(self._run, self._index).playing()
        found = (_now(episode) for episode in going_on)
        return [one for one in found if one is not None]

    def _episode(self, number: int) -> Response | None:
        episode = self._run.episode(number)
        attempt = episode.last()
        if attempt is None:
            return None
        scores = scores_of(self._run).get(number, NO_SCORES)
        judgement = judgement_of(self._run)
        mistake = None if judgement is None else judgement.mistakes.get(number)
        credit = credits_of(self._run).get(number)
        page = episode_page(
            self._run, episode, attempt, scores, mistake=mistake, credit=credit, live=True
        )
        return _html(page)


def _now(episode: EpisodeRecord) -> LiveEpisode | None:
    attempt = episode.last()
    return None if attempt is None else playing(episode, attempt)


def _html(page: str) -> Response:
    return Response(page.encode("utf-8", "replace"), "text/html; charset=utf-8")


def _file(folder: Path, path: Path) -> Response | None:
    """A file of the run; never what a symbolic link leads to."""
    try:
        return Response(read_whole(folder / path, folder), _TYPES[path.suffix])
    except OSError:
        return None


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
