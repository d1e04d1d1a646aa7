"""Images of a run, as text that stands in a page."""

from __future__ import annotations

import base64
from pathlib import Path

import numpy as np

from inhabit.envs.files import read_whole, state_of
from inhabit.episodes.recording.disk import FRAMES, MOST_BYTES, decoded, jpeg, read_picture
from inhabit.episodes.recording.reader import Attempt, EpisodeRecord
from inhabit.episodes.recording.schema import RunHeader
from inhabit.episodes.reports.video.slide import draw
from inhabit.episodes.reports.video.slides import ending

_QUALITY = 80


def inline(file: Path, run: Path) -> str | None:
    """The image as a `data:` address; None where it is missing or no JPEG."""
    try:
        content = read_whole(file, run, most=MOST_BYTES)
    except OSError:
        return None
    return None if decoded(content, FRAMES) is None else _address(content)


def thumbnail(file: Path, run: Path, side: int = 160) -> str | None:
    """The image no larger than `side` pixels, as a `data:` address; None as with `inline`."""
    picture = read_picture(file, run, FRAMES)
    if picture is None:
        return None
    picture.thumbnail((side, side))
    return _address(jpeg(np.asarray(picture.convert("RGB")), _QUALITY))


def poster(episode: EpisodeRecord, attempt: Attempt, header: RunHeader) -> str:
    """The last slide of the video, as a `data:` address.

    In full size where the episode was rendered again for its video, else half of it.
    """
    file = episode.folder / "poster.jpg"
    made, grown = state_of(file, episode.run), state_of(episode.file, episode.run)
    if made is not None and grown is not None and made.st_mtime >= grown.st_mtime:
        rendered = inline(file, episode.run)
        if rendered is not None:
            return rendered
    slide = draw(ending(episode, attempt, header))
    half = slide.resize((slide.width // 2, slide.height // 2))
    return _address(jpeg(np.asarray(half), _QUALITY))


def _address(content: bytes) -> str:
    return "data:image/jpeg;base64," + base64.b64encode(content).decode()
