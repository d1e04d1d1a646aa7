"""Writes the video of an episode, as MP4 or animated GIF."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import av
import numpy as np
from PIL import Image

from inhabit.envs.files import replacing
from inhabit.episodes.recording.disk import DiskError
from inhabit.episodes.recording.reader import Episode, RecordError
from inhabit.episodes.recording.schema import RunHeader
from inhabit.episodes.reports.video.side_by_side import Frame, Side, frames_together, size_together
from inhabit.episodes.reports.video.slide import SIZE, draw
from inhabit.episodes.reports.video.slides import shots

FRAMES_PER_SECOND = 2


def write(episode: Episode, header: RunHeader, *, gif: bool = False) -> Path:
    """Write `episode.mp4` (H.264, 2 frames a second) or `episode.gif` into the episode's folder.

    The same record gives the same bytes with the same version of the encoder. A reader never
    finds half a film: it is written beside and then given its name.

    Args:
        episode: of which the last attempt is shown.
        header: of its run.
        gif: a GIF of half the size, for where no video is shown.

    Raises:
        RecordError: nothing was recorded yet, or the record is broken.
        DiskError: it can't be written.
    """
    attempt = episode.last()
    if attempt is None:
        raise RecordError(f"{episode.folder} has nothing to show: it was never begun.")
    film = ((draw(shot.slide), shot.frames) for shot in shots(episode, attempt, header))
    file = episode.folder / ("episode.gif" if gif else "episode.mp4")
    return _put(file, episode.run, film, SIZE)


def write_together(file: Path, sides: Sequence[Side]) -> Path:
    """Write a film of several episodes side by side, step by step, to `file`: `.mp4` or `.gif`.

    Raises:
        RecordError: a record is broken.
        DiskError: it can't be written.
    """
    return _put(file, file.parent, frames_together(sides), size_together(len(sides)))


def _put(file: Path, inside: Path, film: Iterator[Frame], size: tuple[int, int]) -> Path:
    try:
        # The encoder opens files by their names, and the folder may be somebody else's.
        with TemporaryDirectory(prefix="inhabit-film-") as made:
            draft = Path(made) / f"film{file.suffix}"
            if file.suffix == ".gif":
                _write_gif(film, draft)
            else:
                _write_mp4(film, draft, size)
            with draft.open("rb") as source, replacing(file, inside, shared=True) as target:
                shutil.copyfileobj(source, target)
    except OSError as error:
        raise DiskError(file, error) from error
    return file


def _write_mp4(film: Iterator[Frame], file: Path, size: tuple[int, int]) -> None:
    # Without the encoder's name and the date in the file, equal films are equal bytes.
    exact = {"fflags": "+bitexact", "movflags": "+faststart"}
    with av.open(str(file), "w", format="mp4", container_options=exact) as container:
        stream = container.add_stream("libx264", rate=FRAMES_PER_SECOND)
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        stream.codec_context.thread_count = 1
        stream.codec_context.options = {"preset": "superfast", "crf": "23", "tune": "stillimage"}
        at = 0
        for picture, count in film:
            frame = av.VideoFrame.from_ndarray(np.asarray(picture)).reformat(format="yuv420p")
            frame.time_base = Fraction(1, FRAMES_PER_SECOND)
            for _ in range(count):
                frame.pts = at
                at += 1
                container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def _write_gif(film: Iterator[Frame], file: Path) -> None:
    pictures: list[Image.Image] = []
    durations: list[int] = []
    for full, count in film:
        half = full.resize((full.width // 2, full.height // 2), Image.Resampling.LANCZOS)
        pictures.append(half.quantize(128, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE))
        durations.append(1000 * count // FRAMES_PER_SECOND)
    first, *rest = pictures
    first.save(file, "GIF", save_all=True, append_images=rest, duration=durations, loop=0)
