"""The folder of a set: `set.json`, `attempts.jsonl`, `examples.jsonl`, `images/`, `data/`.

`attempts.jsonl` is the funnel: a line is appended for every attempt, after the pictures and the
examples that it gave. So whatever has no line there did not happen, and is taken away when the
set is taken up again. Nothing in these files depends on when or how fast they were written; how
long attempts took stands in `times.jsonl`.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from inhabit.eie.checking.pictures import png
from inhabit.eie.examples.example import Example, Rejection
from inhabit.envs.errors import ExitCode, UserError

VERSION = 1

T = TypeVar("T", bound=BaseModel)


class SetError(UserError, RuntimeError):
    """A set can't be read or written. Says where, why, and what to do."""

    exit_code = ExitCode.STOPPED


class SetHeader(BaseModel):
    """`set.json`: what was asked for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int = VERSION
    command: tuple[str, ...]
    env: str
    backend: str
    author: str
    seed: int
    n: int
    """Examples that are wanted."""
    settings: Mapping[str, Mapping[str, JsonValue]]
    """Of "env", of "synth", and of the author's "model" where it has one."""
    software: Mapping[str, str]
    """Distribution -> version."""
    finished: bool = False
    """Whether `data/` holds all of it."""


class RejectedItem(BaseModel):
    """Something of an attempt that was not kept."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rejection: Rejection
    sentence: str


class AttemptLine(BaseModel):
    """A line of `attempts.jsonl`: one task of an author and everything that was cut from it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    number: int = Field(ge=0)
    task: str = ""
    """Its id; empty where an author did not answer."""
    kept: tuple[str, ...] = ()
    """Ids of examples, in their order in `examples.jsonl`."""
    prints: tuple[str, ...] = ()
    """Fingerprints of their pictures, hexadecimal: by which near copies are found."""
    rejected: tuple[RejectedItem, ...] = ()
    """One for the whole of it, or for each moment that gave no example."""
    tokens: Mapping[str, int] = Field(default_factory=dict)
    """What its author was paid: "in" and "out"."""


class SetFolder:
    """A set on disk, to be read or gone on with."""

    def __init__(self, folder: Path, header: SetHeader) -> None:
        self.folder = folder
        self.header = header

    @classmethod
    def open(cls, folder: Path) -> SetFolder:
        """The set in `folder`.

        Raises:
            SetError: there is none, or it was written by another version.
        """
        file = folder / "set.json"
        try:
            plain = json.loads(file.read_bytes())
        except OSError as error:
            raise SetError(f"{file} can't be read: {error.strerror}.") from error
        except ValueError as error:
            raise SetError(f"{file} is no JSON: {error}. Choose another --out.") from error
        version = plain.get("version") if isinstance(plain, dict) else None
        if version != VERSION:
            raise SetError(
                f"{folder} is a set of version {version!r}, and this reads version {VERSION}. "
                "Make it anew in another folder."
            )
        try:
            return cls(folder, SetHeader.model_validate(plain))
        except ValidationError as error:
            raise SetError(f"{file} is no description of a set: {error}.") from error

    @classmethod
    def begin(cls, folder: Path, header: SetHeader) -> SetFolder:
        """A new one. Until `set.json` is in place nothing has begun.

        Raises:
            SetError: it can't be written, or the folder holds something else.
        """
        if others := sorted(p.name for p in folder.iterdir() if p.name != "set.json.half"):
            raise SetError(
                f"{folder} holds {others[0]!r} but no set.json, so it is no set. Choose another "
                "--out."
            )
        made = cls(folder, header)
        made._write_header(header)
        return made

    def attempts(self) -> Iterator[AttemptLine]:
        """Every whole line of the funnel, in order.

        Raises:
            SetError: a line is none of ours.
        """
        yield from _lines(self.folder / "attempts.jsonl", AttemptLine)

    def examples(self) -> Iterator[Example]:
        """Every example, in order.

        Raises:
            SetError: a line is none of ours.
        """
        yield from _lines(self.folder / "examples.jsonl", Example)

    def finish(self) -> None:
        """Mark it as finished.

        Raises:
            SetError: it can't be written.
        """
        self._write_header(self.header.model_copy(update={"finished": True}))

    def _write_header(self, header: SetHeader) -> None:
        written = header.model_dump_json(indent=2) + "\n"
        write_whole(self.folder / "set.json", written.encode())
        self.header = header


class SetWriter:
    """Appends to a set. What was cut off by a kill is taken away first."""

    def __init__(self, opened: SetFolder) -> None:
        """Go on with a set.

        Raises:
            SetError: it can't be read or written.
        """
        self._folder = opened.folder
        images = self._folder / "images"
        try:
            images.mkdir(exist_ok=True)
        except OSError as error:
            raise _full(images, error) from error
        self._attempts = _Lines(self._folder / "attempts.jsonl")
        self._times = _Lines(self._folder / "times.jsonl")
        self.past: Sequence[AttemptLine] = tuple(opened.attempts())
        known = sum(len(attempt.kept) for attempt in self.past)
        self._examples = _Lines(self._folder / "examples.jsonl", most=known)
        if self._examples.count < known:
            raise SetError(
                f"{self._folder / 'examples.jsonl'} holds {self._examples.count} examples, and "
                f"attempts.jsonl tells of {known}: it was changed by hand. Make the set anew."
            )

    def add(
        self,
        attempt: AttemptLine,
        examples: Sequence[Example],
        pictures: Mapping[str, NDArray[np.uint8]],
        seconds: float,
    ) -> None:
        """Write one attempt with all that it gave; pictures by their digest.

        Raises:
            SetError: the disk refuses. What was written before stays as it is.
        """
        for digest, rgb in pictures.items():
            file = self._folder / "images" / f"{digest}.png"
            if not file.exists():
                write_whole(file, png(rgb))
        self._examples.append([e.model_dump_json(exclude_defaults=True) for e in examples])
        self._attempts.append([attempt.model_dump_json(exclude_defaults=True)])
        self._times.append([json.dumps({"number": attempt.number, "seconds": round(seconds, 3)})])

    def close(self) -> None:
        """Let go of the files. Safe to call twice."""
        for lines in (self._attempts, self._times, self._examples):
            lines.close()


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold `folder`, made if need be, so that nobody else writes into it.

    Raises:
        SetError: it can't be made, or is held already.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise SetError(
            f"{folder} can't be a set: {error.strerror}. Choose another --out."
        ) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise SetError(f"{folder} is being written to already. Choose another --out.") from None
    finally:
        os.close(descriptor)


def write_whole(file: Path, content: bytes) -> None:
    """Put `file` in place with all its content, or leave everything as it was.

    Raises:
        SetError: it can't be written.
    """
    half = file.with_name(file.name + ".half")
    try:
        half.write_bytes(content)
        half.replace(file)
    except OSError as error:
        raise _full(file, error) from error


class _Lines:
    """A file that lines are appended to. A torn last line, and any after `most`, are cut off."""

    def __init__(self, file: Path, most: int | None = None) -> None:
        self._file = file
        try:
            self._stream = file.open("ab+", buffering=0)
            self.count, size = _whole_lines(file, most)
            self._stream.truncate(size)
        except OSError as error:
            raise _full(file, error) from error
        self._size = size

    def append(self, lines: Sequence[str]) -> None:
        """Add whole lines, or none of them."""
        whole = rest = "".join(f"{line}\n" for line in lines).encode()
        try:
            while rest:
                rest = rest[self._stream.write(rest) :]
        except OSError as error:
            self._stream.truncate(self._size)
            raise _full(self._file, error) from error
        self._size += len(whole)
        self.count += len(lines)

    def close(self) -> None:
        self._stream.close()


def _whole_lines(file: Path, most: int | None) -> tuple[int, int]:
    """How many whole lines a file begins with, `most` at the most, and how many bytes they are."""
    count = size = 0
    with file.open("rb") as stream:
        for line in stream:
            if not line.endswith(b"\n") or count == most:
                break
            count, size = count + 1, size + len(line)
    return count, size


def _lines(file: Path, kind: type[T]) -> Iterator[T]:
    if not file.exists():
        return
    with file.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if not line.endswith(b"\n"):
                return
            try:
                yield kind.model_validate_json(line)
            except ValidationError as error:
                raise SetError(
                    f"{file}, line {number} is not of this version: {error.errors()[0]['msg']}. "
                    "Make the set anew in another folder."
                ) from error


def _full(file: Path, error: OSError) -> SetError:
    return SetError(
        f"{file} can't be written: {error.strerror}. What was kept so far is whole; put that right "
        "and give the same command again to go on."
    )
