"""Writes MP4 videos with one frame per second and fast random access."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from inhabit.eie.export.files import half_written

FRAMES_PER_SECOND = 1
_OPTIONS = {"preset": "veryfast", "crf": "18", "g": "2"}
"""Every other frame is whole, so that any of them is found quickly."""


class VideoFile:
    """An MP4 file (H.264) in the making."""

    def __init__(self, container: Any, file: Path) -> None:
        self._container = container
        self._file = file
        self._stream: Any = None
        self.frames = 0

    def add(self, rgb: NDArray[np.uint8]) -> None:
        """Add a frame, uint8 (H, W, 3). The caller gives all of one size; an odd side loses one."""
        rgb = np.ascontiguousarray(rgb[: rgb.shape[0] // 2 * 2, : rgb.shape[1] // 2 * 2])
        if self._stream is None:
            self._stream = self._container.add_stream("libx264", rate=FRAMES_PER_SECOND)
            self._stream.height, self._stream.width = rgb.shape[:2]
            self._stream.pix_fmt = "yuv420p"
            self._stream.codec_context.thread_count = 1
            self._stream.codec_context.options = _OPTIONS
        frame = av.VideoFrame.from_ndarray(rgb)
        frame.pts, frame.time_base = self.frames, Fraction(1, FRAMES_PER_SECOND)
        self._container.mux(self._stream.encode(frame))
        self.frames += 1

    @property
    def size(self) -> int:
        """Bytes on disk by now; 0 while the encoder has written nothing."""
        return self._file.stat().st_size if self._file.exists() else 0

    def finish(self) -> None:
        """Write what the encoder still holds."""
        if self._stream is not None:
            self._container.mux(self._stream.encode(None))


@contextmanager
def new_video(file: Path) -> Iterator[VideoFile]:
    """Write the video `file`; it is there when all of it is.

    Raises:
        DiskError: it can't be written.
    """
    # Without the encoder's name and the date in the file, equal videos are equal bytes.
    exact = {"fflags": "+bitexact"}
    with (
        half_written(file) as half,
        av.open(str(half), "w", format="mp4", container_options=exact) as container,
    ):
        made = VideoFile(container, half)
        yield made
        made.finish()
