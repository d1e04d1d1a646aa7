"""Puts pages beside what they show: `index.html` of a run, of each episode, of a folder of runs."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from inhabit.envs.core import SimulatorError
from inhabit.envs.files import check_folder, state_of
from inhabit.episodes.credit.credit import credits_of
from inhabit.episodes.credit.schema import EpisodeCredit
from inhabit.episodes.judging.errors import Mistake
from inhabit.episodes.recording.disk import DiskError, write_text
from inhabit.episodes.recording.index import Index
from inhabit.episodes.recording.reader import EpisodeRecord, RecordError, Run, readable
from inhabit.episodes.reports.page.episode_data import NO_SCORES, StepScores
from inhabit.episodes.reports.page.pages import (
    AT_FIRST,
    Shown,
    episode_page,
    gallery_page,
    run_page,
)
from inhabit.episodes.reports.page.summary import judgement_of, row
from inhabit.episodes.reports.video import encode as video
from inhabit.episodes.reports.video.encode import RerenderError, VideoCamera
from inhabit.episodes.scoring.scores import score


@dataclass(frozen=True, slots=True)
class Videos:
    """Which videos to make beside the pages, where there is none of the record as it is now."""

    mp4: bool = False
    gif: bool = False
    camera: VideoCamera | None = None
    """Renders the episodes again; each of these videos is made anew."""
    leave_out: Callable[[str], None] = lambda why: None
    """Told why an episode is shown by its recorded images all the same."""


def find_runs(
    folder: Path, leave_out: Callable[[str], None], inside: str = "*/run.json"
) -> Sequence[Run]:
    """The run that `folder` is, or those that lie in it, by name.

    Args:
        folder: of one run, or of several.
        leave_out: told what is wrong with a run among others that is broken.
        inside: where in `folder` runs are; directly in it by default.

    Raises:
        RecordError: there is none, or none that is whole.
    """
    if os.path.lexists(folder / "run.json"):
        return [Run.open(folder)]
    with readable(folder):
        places = sorted(file.parent for file in folder.glob(inside))
    found: list[Run] = []
    broken: list[str] = []
    for place in places:
        try:
            with readable(place):
                check_folder(place, folder)
            found.append(Run.open(place))
        except RecordError as error:
            broken.append(str(error))
    if not found:
        none = (
            "is no run folder (run.json) and contains none" if folder.exists() else "does not exist"
        )
        raise RecordError(broken[0] if broken else f"{folder} {none}.")
    for why in broken:
        leave_out(why)
    return found


ALL_PAGES = 200
"""Episodes of a run that all get a page unasked; of a longer one only those that are named."""


def write_run(
    run: Run,
    videos: Videos,
    watch: Callable[[EpisodeRecord], None],
    chosen: Sequence[EpisodeRecord] | None = None,
) -> Shown:
    """Write the page of `run`, and those of its episodes.

    Args:
        run: which.
        videos: what to make beside the pages of episodes.
        watch: told of each episode once its page is there.
        chosen: the episodes that get a page, if they were begun; without it all of a short run
            and none of a long one.

    Raises:
        RecordError: the record of an episode is broken.
        DiskError: a page can't be written.
    """
    if chosen is None:
        chosen = list(run.episodes()) if len(run.tasks) <= ALL_PAGES else []
    judgement, credits = judgement_of(run), credits_of(run)
    scores, mistakes = (judgement.scores, judgement.mistakes) if judgement else ({}, {})
    for episode in chosen:
        number = episode.number
        shown = scores.get(number, NO_SCORES), mistakes.get(number), credits.get(number)
        _write_episode(run, episode, videos, *shown)
        watch(episode)
    index = Index(run)
    rows = [
        row(episode, index.entry(episode), small=episode.number < AT_FIRST)
        for episode in run.episodes()
    ]
    figures = score(run, index)
    write_text(
        run.folder / "index.html", run.folder, run_page(run, figures, rows, judgement=judgement)
    )
    # It only saves time: the page stands without it, as on a full disk.
    with contextlib.suppress(DiskError):
        index.save()
    return Shown(quote(os.fsencode(run.name)), run, figures, rows)


def write_gallery(folder: Path, runs: Sequence[Shown]) -> Path:
    """Write the page of `folder`, whose subfolders are `runs`, and return it.

    Raises:
        DiskError: it can't be written.
    """
    return write_text(folder / "index.html", folder, gallery_page(folder.resolve().name, runs))


def _write_episode(
    run: Run,
    episode: EpisodeRecord,
    videos: Videos,
    scores: StepScores,
    mistake: Mistake | None,
    credit: EpisodeCredit | None,
) -> None:
    if (attempt := episode.last()) is None:
        return
    for gif in _wanted(episode, videos):
        _make_video(run, episode, videos, gif=gif)
    page = episode_page(run, episode, attempt, scores, mistake=mistake, credit=credit)
    write_text(episode.folder / "index.html", run.folder, page)


def _make_video(run: Run, episode: EpisodeRecord, videos: Videos, *, gif: bool) -> None:
    try:
        video.write(episode, run.header, gif=gif, camera=videos.camera)
    except (RerenderError, SimulatorError) as error:
        videos.leave_out(f"Episode {episode.number} is shown by its recorded images: {error}")
        video.write(episode, run.header, gif=gif)


def _wanted(episode: EpisodeRecord, videos: Videos) -> Iterator[bool]:
    """For each video to make, whether it is the GIF."""
    if videos.mp4 and (videos.camera or _is_old(episode.folder / "episode.mp4", episode)):
        yield False
    if videos.gif and (videos.camera or _is_old(episode.folder / "episode.gif", episode)):
        yield True


def _is_old(file: Path, episode: EpisodeRecord) -> bool:
    """Whether there is none, or the record has grown since."""
    made = state_of(file, episode.run)
    grown = state_of(episode.file, episode.run)
    return made is None or (grown is not None and made.st_mtime < grown.st_mtime)
