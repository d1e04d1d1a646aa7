"""Writes the video of an episode, as MP4 or animated GIF: of its recorded images, or rendered
again, larger and with the way between two steps.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from inhabit.envs.core import Determinism, Env, SceneError, SimulatorError
from inhabit.envs.files import replacing
from inhabit.envs.host.checked_env import checked
from inhabit.envs.registry import find
from inhabit.episodes.episode import Episode
from inhabit.episodes.playing.from_record import settings_of_env
from inhabit.episodes.playing.plan import find_backend
from inhabit.episodes.playing.retrace import DivergedError, retrace
from inhabit.episodes.recording.disk import jpeg, refused, write_whole
from inhabit.episodes.recording.reader import Attempt, EpisodeRecord, RecordError, Run
from inhabit.episodes.recording.schema import RunHeader
from inhabit.episodes.reports.video.side_by_side import Frame, Side, frames_together
from inhabit.episodes.reports.video.slide import draw
from inhabit.episodes.reports.video.slides import shots


class RerenderError(RecordError):
    """An episode comes out differently than it was recorded."""


@dataclass(frozen=True, slots=True)
class VideoCamera:
    """Re-executes episodes of one run for the camera."""

    make: Callable[[], Env]
    run: Run

    def views(self, attempt: Attempt) -> Iterator[Sequence[Image.Image]]:
        """What was seen since the step before, oldest first, for one step at a time.

        Raises:
            RerenderError: a step differs from the record.
            SimulatorError, UnavailableError: the environment does not start.
        """
        start, choice = attempt.start, self.run.header.candidates
        filmed: Sequence[NDArray[np.uint8]] = ()
        with Episode(self.make(), start.task, start.seed, candidates=choice) as episode:
            try:
                # Images have another size, so that only states and texts can be equal.
                for _, now in retrace(episode, attempt.steps, Determinism.STATE):
                    seen = now.observation
                    # A step in which nothing is executed has no film: the view is as it was.
                    filmed = [f for clip in seen.clips for f in clip.frames] or filmed[-1:]
                    own = [] if seen.rgb is None else [seen.rgb]
                    yield [Image.fromarray(frame) for frame in filmed or own]
            except SceneError as error:
                raise RerenderError(str(error)) from error
            except SimulatorError as error:
                raise RerenderError(f"The simulator failed: {error}") from error
            except DivergedError as error:
                step, what = error.difference.step, error.difference.what
                raise RerenderError(
                    f"step {step} differs from the record when it is re-executed: {what} has "
                    "changed"
                ) from error


def video_camera(
    run: Run, size: tuple[int, int], assignments: Sequence[str], *, trusted: bool
) -> VideoCamera | str:
    """A camera for the run, of `size` in pixels (width, height), or why there is none.

    Raises:
        UnknownNameError: there is no such environment or backend here.
        SettingError: the record names a place that is not said again, or a setting is wrong.
    """
    header = run.header
    registration = find(header.env)
    backend = find_backend(registration, header.backend)
    if registration.video_settings is None:
        return f"{header.env} can't render recorded episodes again."
    if header.determinism is Determinism.NONE:
        return f"The backend {backend} of {header.env} does not repeat itself."
    recorded = settings_of_env(
        registration, header.settings.env, run.tasks, assignments, where=run.folder, trusted=trusted
    )
    settings = registration.video_settings(backend, recorded, *size)
    if settings is None:
        return f"{header.env} shows no images with the backend and settings of this run."
    return VideoCamera(lambda: checked(registration.make(backend, settings)), run)


FRAMES_PER_SECOND = 2


_X264 = {"preset": "superfast", "crf": "23", "tune": "stillimage"}
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
    written = _put(file, episode.run, frames(), rate)
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
    return _put(file, file.parent, frames_together(sides))


def _put(file: Path, inside: Path, frames: Iterator[Frame], rate: int = FRAMES_PER_SECOND) -> Path:
    # The encoder opens files by their names, and the folder may be somebody else's.
    with refused(file), TemporaryDirectory(prefix="inhabit-video-") as folder:
        draft = Path(folder) / file.name
        with refused(draft):
            if file.suffix == ".gif":
                _write_gif(frames, draft, rate)
            else:
                with mp4(draft, rate, _X264, movflags="+faststart") as made:
                    for shown, count in frames:
                        made.add(np.asarray(shown), count)
        with draft.open("rb") as source, replacing(file, inside, shared=True) as target:
            shutil.copyfileobj(source, target)
    return file


class Mp4File:
    """An MP4 file (H.264) in the making."""

    def __init__(self, container: Any, rate: int, options: Mapping[str, str]) -> None:
        self._container, self._rate, self._options = container, rate, options
        self._stream: Any = None
        self.frames = 0

    def add(self, rgb: NDArray[np.uint8], count: int = 1) -> None:
        """Show an image, uint8 (H, W, 3), for `count` frames. All are of one size, even ones."""
        if self._stream is None:
            self._stream = self._container.add_stream("libx264", rate=self._rate)
            self._stream.height, self._stream.width = rgb.shape[:2]
            self._stream.pix_fmt = "yuv420p"
            self._stream.codec_context.thread_count = 1
            self._stream.codec_context.options = dict(self._options)
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(rgb)).reformat(format="yuv420p")
        frame.time_base = Fraction(1, self._rate)
        for _ in range(count):
            frame.pts = self.frames
            self.frames += 1
            self._container.mux(self._stream.encode(frame))

    def finish(self) -> None:
        """Write what the encoder still holds."""
        if self._stream is not None:
            self._container.mux(self._stream.encode(None))


@contextmanager
def mp4(file: Path, rate: int, options: Mapping[str, str], **more: str) -> Iterator[Mp4File]:
    """Write a video of `rate` frames a second, with `options` of x264 and `more` of the file."""
    # Without the encoder's name and the date in the file, equal videos are equal bytes.
    exact = {"fflags": "+bitexact", **more}
    with av.open(str(file), "w", format="mp4", container_options=exact) as container:
        made = Mp4File(container, rate, options)
        yield made
        made.finish()


def _write_gif(frames: Iterator[Frame], file: Path, rate: int) -> None:
    pictures: list[Image.Image] = []
    durations: list[int] = []
    for full, count in frames:
        half = full.resize((full.width // 2, full.height // 2), Image.Resampling.LANCZOS)
        pictures.append(half.quantize(128, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE))
        durations.append(1000 * count // rate)
    first, *rest = pictures
    first.save(file, "GIF", save_all=True, append_images=rest, duration=durations, loop=0)
