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
from inhabit.episodes.recording.disk import jpeg, refused, write_whole
from inhabit.episodes.recording.reader import EpisodeRecord, RecordError
from inhabit.episodes.recording.schema import RunHeader
from inhabit.episodes.reports.video.rerender import VideoCamera
from inhabit.episodes.reports.video.side_by_side import Frame, Side, frames_together, size_together
from inhabit.episodes.reports.video.slide import SIZE, draw
from inhabit.episodes.reports.video.slides import shots

FRAMES_PER_SECOND = 2


_QUICK = 8
"""Frames per second of a video with movement; each image between two steps stays for one."""


def write(
    episode: EpisodeRecord,
    header: RunHeader,
    *,
    gif: bool = False,
    camera: VideoCamera | None = None,
) -> Path:
    """Write `episode.mp4` (H.264, 2 frames a second) or `episode.gif` into the episode's folder.

    With a camera there are 8 frames a second, and the last slide becomes `poster.jpg`.

    The same record gives the same bytes with the same version of the encoder. A reader never
    finds half a video: it is written beside and then given its name.

    A GIF has half the size. `camera` renders the episode again, in place of recorded images.

    Raises:
        RecordError: nothing was recorded yet, or the record is broken.
        RerenderError: the episode comes out differently when it is re-executed.
        SimulatorError, UnavailableError: the environment of the camera does not start.
        DiskError: it can't be written.
    """
    attempt = episode.last()
    if attempt is None:
        raise RecordError(f"{episode.folder} has nothing to show: it was never begun.")
    views = None if camera is None else camera.views(attempt)
    rate = FRAMES_PER_SECOND if camera is None else _QUICK
    last: list[Image.Image] = []

    def frames() -> Iterator[Frame]:
        for shot in shots(episode, attempt, header, views):
            last[:] = [draw(shot.slide)]
            yield last[0], 1 if shot.moving else shot.frames * rate // FRAMES_PER_SECOND

    file = episode.folder / ("episode.gif" if gif else "episode.mp4")
    written = _put(file, episode.run, frames(), SIZE, rate)
    if camera is not None:
        _put_poster(episode, last[0])
    return written


def _put_poster(episode: EpisodeRecord, slide: Image.Image) -> None:
    file = episode.folder / "poster.jpg"
    with refused(file):
        write_whole(file, episode.run, jpeg(np.asarray(slide), 88), shared=True)


def write_together(file: Path, sides: Sequence[Side]) -> Path:
    """Write a video of several episodes side by side, step by step, to `file`: `.mp4` or `.gif`.

    Raises:
        RecordError: a record is broken.
        DiskError: it can't be written.
    """
    return _put(file, file.parent, frames_together(sides), size_together(len(sides)))


def _put(
    file: Path,
    inside: Path,
    frames: Iterator[Frame],
    size: tuple[int, int],
    rate: int = FRAMES_PER_SECOND,
) -> Path:
    # The encoder opens files by their names, and the folder may be somebody else's.
    with refused(file), TemporaryDirectory(prefix="inhabit-video-") as made:
        draft = Path(made) / f"video{file.suffix}"
        if file.suffix == ".gif":
            _write_gif(frames, draft, rate)
        else:
            _write_mp4(frames, draft, size, rate)
        with draft.open("rb") as source, replacing(file, inside, shared=True) as target:
            shutil.copyfileobj(source, target)
    return file


def _write_mp4(frames: Iterator[Frame], file: Path, size: tuple[int, int], rate: int) -> None:
    # Without the encoder's name and the date in the file, equal videos are equal bytes.
    exact = {"fflags": "+bitexact", "movflags": "+faststart"}
    with av.open(str(file), "w", format="mp4", container_options=exact) as container:
        stream = container.add_stream("libx264", rate=rate)
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        stream.codec_context.thread_count = 1
        stream.codec_context.options = {"preset": "superfast", "crf": "23", "tune": "stillimage"}
        at = 0
        for picture, count in frames:
            frame = av.VideoFrame.from_ndarray(np.asarray(picture)).reformat(format="yuv420p")
            frame.time_base = Fraction(1, rate)
            for _ in range(count):
                frame.pts = at
                at += 1
                container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def _write_gif(frames: Iterator[Frame], file: Path, rate: int) -> None:
    pictures: list[Image.Image] = []
    durations: list[int] = []
    for full, count in frames:
        half = full.resize((full.width // 2, full.height // 2), Image.Resampling.LANCZOS)
        pictures.append(half.quantize(128, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE))
        durations.append(1000 * count // rate)
    first, *rest = pictures
    first.save(file, "GIF", save_all=True, append_images=rest, duration=durations, loop=0)
