"""Reads single frames from videos, or from folders of numbered images."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from inhabit.envs.pictures import read_image

VIDEOS = frozenset({".mp4", ".mkv", ".avi", ".mov", ".webm"})
_PICTURES = frozenset({".jpg", ".jpeg", ".png"})
_NUMBER = re.compile(r"(\d+)$")


class VideoError(ValueError):
    """A video cannot be decoded or has no such frame. Names both."""


_LOCAL = {"protocol_whitelist": "file"}
"""A video that is a playlist opens no network address."""


def keyframes(start: int, stop: int, n: int) -> Sequence[int]:
    """`n` evenly spaced frame numbers from `start` to `stop`, both included; fewer in short
    clips.
    """
    return sorted({round(number) for number in np.linspace(start, stop, n).tolist()})


def find(root: Path) -> Mapping[str, Path]:
    """Videos and frame folders at any depth below `root`, by their names without suffix."""
    found: dict[str, Path] = {}
    for path in sorted(root.rglob("*")):
        if path.suffix.lower() in VIDEOS and path.is_file():
            found.setdefault(path.stem, path)
        elif path.suffix.lower() in _PICTURES and _NUMBER.search(path.stem):
            found.setdefault(path.parent.name, path.parent)
    return found


def check(video: Path) -> None:
    """Check that a video can be opened.

    Raises:
        VideoError: it cannot.
    """
    if video.is_dir():
        return
    try:
        with av.open(str(video), options=_LOCAL) as container:
            if not container.streams.video:
                raise VideoError(f"{video} has no video stream")
    except (av.FFmpegError, OSError) as error:
        raise VideoError(f"can't decode {video}: {error}") from error


def read(video: Path, numbers: Sequence[int], *, pixels: int) -> list[NDArray[np.uint8]]:
    """Frames by number, each uint8 (H, W, 3), longest side at most `pixels`.

    A number beyond the end of the video is its last frame: narrations often end after it. Where a
    video leaves frames out, the last one that was decoded stands for them.

    Raises:
        VideoError: the video cannot be decoded, or a numbered image is missing.
    """
    wanted = sorted(set(numbers))
    if not wanted:
        return []
    frames = _pictures(video, wanted) if video.is_dir() else _decoded(video, wanted)
    small = {number: _shrunk(frame, pixels) for number, frame in frames.items()}
    return [small[number] for number in numbers]


def _decoded(video: Path, wanted: Sequence[int]) -> dict[int, Image.Image]:
    found: dict[int, Image.Image] = {}
    last: av.VideoFrame | None = None
    try:
        with av.open(str(video), options=_LOCAL) as container:
            for number, frame in _from(container, wanted[0]):
                last = frame
                if number in wanted:
                    found[number] = _image(frame)
                if number >= wanted[-1]:
                    break
            if last is None:
                raise VideoError(f"{video} has no frames")
            return {n: found[n] if n in found else _image(last) for n in wanted}
    except (av.FFmpegError, OSError) as error:
        raise VideoError(f"can't decode {video}: {error}") from error


def _image(frame: av.VideoFrame) -> Image.Image:
    return Image.fromarray(frame.to_ndarray(format="rgb24"))


def _from(
    container: av.container.InputContainer, first: int
) -> Iterator[tuple[int, av.VideoFrame]]:
    """Frames with their numbers, from the last key frame before `first`."""
    stream = container.streams.video[0]
    rate = stream.average_rate or stream.guessed_rate
    if first and rate and stream.time_base:
        start = stream.start_time or 0
        container.seek(start + int(first / rate / stream.time_base), stream=stream)
        for frame in container.decode(stream):
            if frame.pts is None:
                raise VideoError("a frame has no timestamp")
            yield round(float((frame.pts - start) * stream.time_base * rate)), frame
        return
    yield from enumerate(container.decode(stream))


def _pictures(folder: Path, wanted: Sequence[int]) -> dict[int, Image.Image]:
    """Reads images whose names end in their numbers, such as frame_0000000042.jpg."""
    by_number = {
        int(match[1]): path
        for path in sorted(folder.iterdir())
        if path.suffix.lower() in _PICTURES and (match := _NUMBER.search(path.stem))
    }
    if not by_number:
        raise VideoError(f"{folder} has no numbered frames")
    found: dict[int, Image.Image] = {}
    for number in wanted:
        path = by_number.get(min(number, max(by_number)))
        if path is None:
            raise VideoError(f"{folder} has no frame {number}")
        try:
            found[number] = read_image(path).convert("RGB")
        except ValueError as error:
            raise VideoError(f"{path} can't be read: {error}") from error
    return found


def _shrunk(picture: Image.Image, pixels: int) -> NDArray[np.uint8]:
    picture.thumbnail((pixels, pixels))
    return np.asarray(picture.convert("RGB"))
