"""Writing of exports: whole files, JSON arrays element by element, each image once."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pydantic import JsonValue

from inhabit.eie.checking.splits import Split
from inhabit.envs.files import read_whole
from inhabit.episodes.recording.disk import MOST_BYTES, DiskError, decoded
from inhabit.episodes.recording.reader import EpisodeRecord, RecordError, StepRecord

_REMEDY = "Fix this, and export again into an empty folder: an export is not continued."
_PLAIN = re.compile(r"[0-9A-Za-z_-]+(\.[0-9A-Za-z]+)?")
AddElement = Callable[[Mapping[str, JsonValue]], None]
"""Adds an element to a JSON array."""


def claim(out: Path) -> None:
    """Make the folder `out`, or take it as it is where it is empty.

    Raises:
        RecordError: something lies in it already.
        DiskError: it can't be made.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()):
            raise RecordError(f"{out} is not empty. Choose another --out.")
    except OSError as error:
        raise DiskError(out, error, _REMEDY) from error


@contextmanager
def half_written(file: Path) -> Iterator[Path]:
    """A name to write under; it becomes `file` when all of it is there, and is gone otherwise.

    Raises:
        DiskError: it can't be written.
    """
    half = file.with_name(file.name + ".half")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        yield half
        half.replace(file)
    except OSError as error:
        raise DiskError(file, error, _REMEDY) from error
    finally:
        half.unlink(missing_ok=True)


def json_text(fields: Mapping[str, JsonValue]) -> str:
    """JSON on one line. Half a surrogate pair, which models may say, has no place in UTF-8."""
    return json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace").decode()


@contextmanager
def _json_array(file: Path) -> Iterator[AddElement]:
    before = "[\n"
    with half_written(file) as half, half.open("w", encoding="utf-8") as stream:

        def add(element: Mapping[str, JsonValue]) -> None:
            nonlocal before
            stream.write(before + json_text(element))
            before = ",\n"

        yield add
        stream.write("\n]\n")
    if before == "[\n":
        file.unlink()


@contextmanager
def json_arrays(files: Mapping[Split, Path]) -> Iterator[Mapping[Split, AddElement]]:
    """Write a file for each split that is one JSON array, an element at a time.

    Splits without an element have no file: `datasets` reads no folder with an empty one.

    Raises:
        DiskError: it can't be written.
    """
    with ExitStack() as stack:
        yield {split: stack.enter_context(_json_array(file)) for split, file in files.items()}


@dataclass(frozen=True, slots=True)
class ExportImage:
    """An image on disk, and what it is called in an export."""

    file: Path
    name: str
    """A plain name such as "3f2a.png": never a path."""
    inside: Path
    """The folder that the user named, above `file`. Below it no link is followed."""

    def read(self) -> bytes:
        """Content of the file.

        Raises:
            RecordError: it is gone, a link, too large, or no whole image.
        """
        return self._read()[0]

    def pixels(self) -> NDArray[np.uint8]:
        """What it shows: uint8 (H, W, 3).

        Raises:
            RecordError: as `read`.
        """
        return np.asarray(self._read()[1].convert("RGB"))

    def _read(self) -> tuple[bytes, Image.Image]:
        try:
            content = read_whole(self.file, self.inside, most=MOST_BYTES)
        except OSError as error:
            raise self.lost(str(error.strerror)) from error
        if (found := decoded(content, ("PNG", "JPEG"))) is None:
            raise self.lost("it is no image, or not a whole one")
        return content, found

    def lost(self, why: str) -> RecordError:
        """What to tell where it can't be had."""
        return RecordError(
            f"{self.file} can't be read, so what it belongs to can't be exported: {why}."
        )


def picture(folder: Path, place: str, prefix: str = "", root: Path | None = None) -> ExportImage:
    """The image that a record of `folder` calls `place`, such as "images/3f2a.png".

    Args:
        folder: of a set, or of an episode.
        place: seen from there.
        prefix: of its name in the export.
        root: the folder that the user named, where it is not `folder`.

    Raises:
        RecordError: `place` leads elsewhere.
    """
    inside, _, name = place.rpartition("/")
    if inside not in ("images", "frames") or not _PLAIN.fullmatch(name):
        raise RecordError(f"{folder} names an image {place!r}, which is not a path inside the set.")
    return ExportImage(folder / inside / name, prefix + name, root or folder)


def frame(episode: EpisodeRecord, step: StepRecord, prefix: str = "") -> ExportImage | None:
    """What an agent saw before a step; None if there is no image of it."""
    place = step.see.frame
    return None if place is None else picture(episode.folder, place, prefix, episode.run)


@dataclass(slots=True)
class ImageFolder:
    """The folder of an export's images. An image that comes again is not copied again."""

    folder: Path
    _taken: set[str] = field(default_factory=set)

    def copy(self, one: ExportImage) -> str:
        """Have the image in the folder, and return its name.

        Raises:
            RecordError: it is gone.
            DiskError: it can't be copied.
        """
        return one.name if one.name in self._taken else self.add(one.name, one.read())

    def add(self, name: str, content: bytes) -> str:
        """Have an image of that content in the folder, and return its name.

        Raises:
            DiskError: it can't be written.
        """
        if name not in self._taken:
            with half_written(self.folder / name) as half:
                half.write_bytes(content)
            self._taken.add(name)
        return name
