"""Lines and images on disk: each is whole or absent, whatever kills the program."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import BoundedSemaphore
from typing import Self

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from inhabit.envs.errors import ExitCode, UserError
from inhabit.envs.files import open_appending, read_whole, replacing
from inhabit.envs.host.credentials import credentials, redact
from inhabit.envs.pictures import read_image
from inhabit.episodes.recording.schema import is_sound

QUALITY = 90
"""Quality of recorded JPEG images: 300x300 in about 1 ms and 30 kB."""
_RECORD = {"run.json", "tasks.jsonl", "episode.jsonl"}
"""Files of a run that nothing else may replace."""
_WAITING = 64
"""Images that may wait to be written, over all episodes, before the steps wait for them."""


class DiskError(UserError, RuntimeError):
    """The disk refused to take more, in the middle of a run. What was recorded stays recorded."""

    exit_code = ExitCode.STOPPED

    def __init__(
        self,
        file: Path,
        error: OSError,
        remedy: str = "What was recorded so far is kept; fix this and run the same command again "
        "to continue.",
    ) -> None:
        super().__init__(f"{file} can't be written: {error.strerror}. {remedy}")


@contextmanager
def refused(file: Path) -> Iterator[None]:
    """Raises DiskError for `file` where the system refuses what is done in the block."""
    try:
        yield
    except OSError as error:
        raise DiskError(file, error) from error


class LineFile:
    """A file that whole lines are appended to, each by a single write.

    A line that was cut off, by a kill or a full disk, or spoilt by a loss of power, is taken away
    again: before anything is appended, and at once where the disk refuses the rest of it. Keys of
    this user are left out of every line.
    """

    def __init__(self, file: Path, inside: Path) -> None:
        """Open or make `file`, which lies somewhere below the folder `inside`.

        Raises:
            DiskError: it can't be opened for writing, or is a link.
        """
        self._file = file
        self._keys = credentials()
        with refused(file):
            self._descriptor = open_appending(file, inside)
            self._size = _cut_torn_line(self._descriptor)

    def append(self, *lines: bytes) -> None:
        """Add lines, which hold no newline themselves: all of them, or none.

        Raises:
            DiskError: there is no room left, or the disk failed.
        """
        whole = rest = b"".join(without_keys(line, self._keys) + b"\n" for line in lines)
        try:
            while rest:  # Once, unless the disk is full: then the second write says so.
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError as error:
            os.ftruncate(self._descriptor, self._size)
            raise DiskError(self._file, error) from error
        self._size += len(whole)

    @property
    def size(self) -> int:
        """Size of the file, in bytes."""
        return self._size

    async def sync(self) -> None:
        """Wait until all lines are on disk, whatever happens to the power; others go on meanwhile.

        Raises:
            DiskError: the disk failed.
        """
        with refused(self._file):
            await asyncio.to_thread(os.fsync, self._descriptor)

    def close(self) -> None:
        """Let go of the file. Safe to call twice."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class Pictures:
    """Writes images on a thread of its own, so that encoding does not hold up a step."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pictures")
        self._room = BoundedSemaphore(_WAITING)

    def write(self, file: Path, inside: Path, rgb: NDArray[np.uint8]) -> Future[None]:
        """Have `rgb`, uint8 (H, W, 3), written as JPEG to `file`, somewhere below `inside`.

        Returns:
            What is done once the file is whole; it raises `DiskError` where that failed.
        """
        self._room.acquire()
        return self._thread.submit(self._write, file, inside, rgb)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._thread.shutdown(wait=True)

    def _write(self, file: Path, inside: Path, rgb: NDArray[np.uint8]) -> None:
        try:
            with refused(file):
                write_whole(file, inside, jpeg(rgb))
        finally:
            self._room.release()


def jpeg(rgb: NDArray[np.uint8], quality: int = QUALITY) -> bytes:
    """`rgb`, uint8 (H, W, 3), as a JPEG file."""
    buffer = io.BytesIO()
    Image.fromarray(rgb).save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()


def write_whole(
    file: Path, inside: Path, content: bytes, *, sync: bool = False, shared: bool = False
) -> None:
    """Put `file` in place with all its content, or leave everything as it was.

    Args:
        file: which; its folder is made if need be.
        inside: the folder that the user named, above `file`. Below it no link is followed.
        content: all of it.
        sync: whether it is on disk when this returns.
        shared: whether others may write the same file at the same time.

    Raises:
        OSError: it can't be written.
    """
    with replacing(file, inside, sync=sync, shared=shared) as stream:
        stream.write(content)


def write_text(file: Path, inside: Path, text: str) -> Path:
    """Put a page or a list in place, as `write_whole` does, and return its file.

    What can't be encoded (half of a surrogate pair) becomes a question mark.

    Raises:
        DiskError: it can't be written.
        UserError: the file belongs to the record of a run.
    """
    in_run = any((folder / "run.json").exists() for folder in [*file.parents][:3])
    if file.name in _RECORD and file.exists() and in_run:
        raise UserError(f"{file} belongs to the record of a run, which stays: name another file.")
    with refused(file):
        write_whole(file, inside, text.encode("utf-8", "replace"), shared=True)
    return file


def without_keys(line: bytes, keys: Sequence[str]) -> bytes:
    """A line of JSON with "[key]" in place of keys of this user."""
    if not any(key.encode(errors="replace") in line or '"' in key or "\\" in key for key in keys):
        return line
    return redact(line.decode("utf-8", "surrogateescape"), keys).encode("utf-8", "surrogateescape")


def _cut_torn_line(descriptor: int) -> int:
    """Drop what follows the last newline, and a last line that is spoilt; returns the size left."""
    size = os.fstat(descriptor).st_size
    end = _newline_before(descriptor, size) + 1
    begin = _newline_before(descriptor, end - 1) + 1
    if end and not is_sound(os.pread(descriptor, end - begin, begin)):
        end = begin
    if end < size:
        os.ftruncate(descriptor, end)
    return end


def _newline_before(descriptor: int, position: int) -> int:
    """Where the last newline before `position` is; -1 if there is none."""
    while position > 0:
        begin = max(0, position - (1 << 16))
        newline = os.pread(descriptor, position - begin, begin).rfind(b"\n")
        if newline >= 0:
            return begin + newline
        position = begin
    return -1


FRAMES = ("JPEG",)
"""The formats of images in a run."""
MOST_BYTES = 1 << 26
"""Largest image file that is read, in bytes."""


def read_picture(file: Path, inside: Path, formats: tuple[str, ...]) -> Image.Image | None:
    """The image in a file below the folder `inside`; None where there is none that can be shown.

    Args:
        file: which. It may be missing, a link, or no image.
        inside: the folder that the user named. Below it no link is followed.
        formats: what it may be, such as ("JPEG",).
    """
    try:
        content = read_whole(file, inside, most=MOST_BYTES)
    except OSError:
        return None
    return decoded(content, formats)


def decoded(content: bytes, formats: tuple[str, ...]) -> Image.Image | None:
    """The image that `content` is; None where it is none, or is too large."""
    try:
        return read_image(io.BytesIO(content), formats)
    except ValueError:
        return None
