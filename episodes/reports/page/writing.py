"""Puts pages beside what they show: `index.html` of a run, of each episode, of a folder of runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from inhabit.episodes.recording.disk import DiskError, write_whole
from inhabit.episodes.recording.index import Index
from inhabit.episodes.recording.reader import Episode, RecordError, Run
from inhabit.episodes.reports.page.episode_data import NO_SCORES, StepScores
from inhabit.episodes.reports.page.judged import scores_of
from inhabit.episodes.reports.page.pages import (
    AT_FIRST,
    Shown,
    episode_page,
    gallery_page,
    run_page,
)
from inhabit.episodes.reports.page.summary import row
from inhabit.episodes.reports.video import encode as video
from inhabit.episodes.scoring.metrics import score


@dataclass(frozen=True, slots=True)
class Films:
    """Which films to make beside the pages, where there is none of the record as it is now."""

    mp4: bool = False
    gif: bool = False


def find_runs(folder: Path) -> Sequence[Run]:
    """The run that `folder` is, or those that lie directly in it, by name.

    Raises:
        RecordError: there is none, or one of them is broken.
    """
    if (folder / "run.json").exists():
        return [Run.open(folder)]
    try:
        inside = sorted(path.parent for path in folder.glob("*/run.json"))
    except OSError as error:
        raise RecordError(f"{folder} can't be read: {error.strerror}.") from error
    if not inside:
        raise RecordError(f"{folder} is no run folder, and no run lies in it.")
    return [Run.open(path) for path in inside]


ALL_PAGES = 200
"""Episodes of a run that all get a page unasked; of a longer one only those that are named."""


def write_run(
    run: Run,
    films: Films,
    watch: Callable[[Episode], None],
    chosen: Sequence[Episode] | None = None,
) -> Shown:
    """Write the page of `run`, and those of its episodes.

    Args:
        run: which.
        films: what to make beside the pages of episodes.
        watch: told of each episode once its page is there.
        chosen: the episodes that get a page, if they were begun; without it all of a short run
            and none of a long one.

    Raises:
        RecordError: the record of an episode is broken.
        DiskError: a page can't be written.
    """
    if chosen is None:
        chosen = list(run.episodes()) if len(run.tasks) <= ALL_PAGES else []
    scores = scores_of(run)
    for episode in chosen:
        _write_episode(run, episode, films, scores.get(episode.number, NO_SCORES))
        watch(episode)
    index = Index(run)
    rows = [
        row(episode, index.entry(episode), small=episode.number < AT_FIRST)
        for episode in run.episodes()
    ]
    figures = score(run, index)
    _write(run.folder / "index.html", run_page(run, figures, rows))
    index.save()
    return Shown(run.folder.name, run, figures, rows)


def write_gallery(folder: Path, runs: Sequence[Shown]) -> Path:
    """Write the page of `folder`, whose subfolders are `runs`, and return it.

    Raises:
        DiskError: it can't be written.
    """
    return _write(folder / "index.html", gallery_page(folder.resolve().name, runs))


def _write_episode(run: Run, episode: Episode, films: Films, scores: StepScores) -> None:
    if (attempt := episode.last()) is None:
        return
    for gif in _wanted(episode, films):
        video.write(episode, run.header, gif=gif)
    _write(episode.folder / "index.html", episode_page(run, episode, attempt, scores))


def _wanted(episode: Episode, films: Films) -> Iterator[bool]:
    """For each film to make, whether it is the GIF."""
    if films.mp4 and _is_old(episode.folder / "episode.mp4", episode.file):
        yield False
    if films.gif and _is_old(episode.folder / "episode.gif", episode.file):
        yield True


def _is_old(film: Path, record: Path) -> bool:
    """Whether there is none, or the record has grown since."""
    return not film.exists() or film.stat().st_mtime < record.stat().st_mtime


def _write(file: Path, page: str) -> Path:
    try:
        # What can't be encoded (half of a surrogate pair) is shown as a question mark.
        write_whole(file, page.encode("utf-8", "replace"))
    except OSError as error:
        raise DiskError(file, error) from error
    return file
