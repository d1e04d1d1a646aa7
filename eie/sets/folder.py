"""The folder of a set: `set.json`, `attempts.jsonl`, `examples.jsonl`, `images/`, `data/`.

A line of `attempts.jsonl` is appended after the images and examples of its attempt are written.
Examples of an attempt without a line are removed when the set is continued. These files do not
depend on timing; the duration of attempts is in `times.jsonl`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from operator import not_
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, Field, JsonValue, StringConstraints, ValidationError

from inhabit.eie.examples.draft import Draft
from inhabit.eie.examples.example import Example, Refused
from inhabit.envs.entries import first_problem
from inhabit.envs.errors import ExitCode, UserError
from inhabit.envs.files import (
    LONGEST,
    make_folder,
    open_appending,
    read_lines,
    read_whole,
    size_of,
)
from inhabit.envs.pictures import png
from inhabit.episodes.recording.disk import DiskError, LineFile, write_whole
from inhabit.episodes.recording.folder import LOCK_FILE, HeldError, LockError, locked
from inhabit.episodes.recording.reader import readable

VERSION = 1

T = TypeVar("T", bound=BaseModel)
SetSettings = Mapping[str, Mapping[str, JsonValue]]
"""Owner, such as "synth" -> its settings."""
_SAME = ("env", "backend", "author", "reader", "seed", "n", "settings")
"""What has to be the same to continue a data set."""


class SetError(UserError, RuntimeError):
    """A set can't be read or written."""

    exit_code = ExitCode.STOPPED


class SetHeader(BaseModel, frozen=True, extra="forbid"):
    """`set.json`: the request."""

    version: int = VERSION
    command: tuple[str, ...]
    env: str
    backend: str
    author: str
    reader: str = Field(default="", exclude_if=not_)
    """The model that reads the author's goals; empty if there is none."""
    seed: int
    n: int
    """Number of requested examples."""
    settings: SetSettings
    """Settings of "env", "synth", the author's "model" and its "reader", if there are such."""
    software: Mapping[str, str]
    """Distribution -> version."""
    finished: bool = False
    """Whether `data/` is complete."""


class AttemptLine(BaseModel, frozen=True, extra="forbid"):
    """A line of `attempts.jsonl`: one task of an author, and its examples and rejections."""

    number: int = Field(ge=0)
    task: str = ""
    """Id of the task; empty if the author did not answer."""
    change: str | None = None
    """The change that evolved the task, empty for a seed; None in sets of earlier versions."""
    reading: str = ""
    """The task's goal as a second model says it, if there is one."""
    kept: tuple[str, ...] = ()
    """Ids of examples, in their order in `examples.jsonl`."""
    prints: tuple[Annotated[str, StringConstraints(pattern="^[0-9a-f]+$")], ...] = ()
    """Fingerprints of the examples' images, hexadecimal, to find near duplicates."""
    rejected: tuple[Refused, ...] = ()
    """Rejections: one for the whole task, or one for each step that gave no example."""
    tokens: Mapping[str, int] = Field(default_factory=dict)
    """Tokens of the models, "in" and "out": of the author, and of the reader of its goals."""


class SetFolder:
    """A set on disk."""

    def __init__(self, folder: Path, header: SetHeader) -> None:
        self.folder = folder
        self.header = header

    @classmethod
    def open(cls, folder: Path) -> SetFolder:
        """The set in `folder`.

        Raises:
            SetError: there is none, or another version wrote it.
        """
        file = folder / "set.json"
        try:
            with readable(file, SetError):
                plain = json.loads(read_whole(file, folder, most=LONGEST))
        except (ValueError, RecursionError) as error:
            raise SetError(
                f"{file} is not JSON: {error}. Restore it, or make the set anew in another folder."
            ) from error
        version = plain.get("version") if isinstance(plain, dict) else None
        if version != VERSION:
            raise SetError(
                f"{folder} is a set of version {version!r}, and this reads version {VERSION}. "
                "Make it anew in another folder."
            )
        try:
            return cls(folder, SetHeader.model_validate(plain))
        except ValidationError as error:
            raise SetError(
                f"{file} is not a description of a set: {first_problem(error)}."
            ) from error

    @classmethod
    def begin(cls, folder: Path, header: SetHeader) -> SetFolder:
        """Start a new set by writing `set.json`.

        Raises:
            SetError: it can't be written, or the folder holds something else.
        """
        if others := sorted({p.name for p in folder.iterdir()} - {"set.json.half", LOCK_FILE}):
            raise SetError(
                f"{folder} holds {others[0]!r} but no set.json, so it is not a set. Choose another "
                "--out."
            )
        made = cls(folder, header)
        made._write_header(header)
        return made

    @classmethod
    def begin_or_continue(
        cls,
        out: Path,
        header: SetHeader,
        comparable: Callable[[SetSettings], SetSettings] = lambda settings: settings,
    ) -> SetFolder:
        """The data set in `out`: a new one, or one started by the same command.

        Any command may start one in which nothing was tried yet.

        `comparable` brings settings to one normal form.

        Raises:
            SetError: another command started it; or as `begin` and `open`.
        """
        if not (out / "set.json").exists():
            return cls.begin(out, header)
        opened = cls.open(out)
        for name in _SAME:
            was, now = getattr(opened.header, name), getattr(header, name)
            if name == "settings":
                was, now = comparable(was), comparable(now)
            if was != now and next(opened.attempts(), None) is None:
                # What was asked first could not be started, as with a name that is wrong.
                opened._write_header(header)
                return opened
            if was != now:
                raise SetError(
                    f"{out} was started with {name} {was!r}, not {now!r}. Run the same command to "
                    "continue it, or choose another --out."
                )
        return opened

    def attempts(self) -> Iterator[AttemptLine]:
        """Every complete line of `attempts.jsonl`, in order.

        Raises:
            SetError: a line is malformed.
        """
        yield from _lines(self.folder, "attempts.jsonl", AttemptLine)

    def examples(self) -> Iterator[Example]:
        """Every example, in order.

        Raises:
            SetError: a line is malformed, or examples are missing.
        """
        known, there = sum(len(attempt.kept) for attempt in self.attempts()), 0
        for example in _lines(self.folder, "examples.jsonl", Example):
            there += 1
            yield example
        if there < known:
            raise _lost(self.folder, there, known)

    def finish(self) -> None:
        """Mark the set as finished.

        Raises:
            SetError: it can't be written.
        """
        self._write_header(self.header.model_copy(update={"finished": True}))

    def _write_header(self, header: SetHeader) -> None:
        written = header.model_dump_json(indent=2) + "\n"
        put(self.folder, "set.json", written.encode())
        self.header = header


class SetWriter:
    """Appends to a set, after removing the remains of an interrupted attempt."""

    def __init__(self, opened: SetFolder) -> None:
        """Continue a set.

        Raises:
            SetError: it can't be read or written.
        """
        self._folder = opened.folder
        try:
            make_folder(self._folder / "images", self._folder)
        except OSError as error:
            raise cannot_write(self._folder / "images", error) from error
        self.past: Sequence[AttemptLine] = tuple(opened.attempts())
        for place, attempt in enumerate(self.past):
            if attempt.number != place or len(attempt.prints) != len(attempt.kept):
                raise SetError(
                    f"{self._folder / 'attempts.jsonl'}, line {place + 1} was changed, or one "
                    "before it is missing. Restore it, or make the set anew in another folder."
                )
        known = sum(len(attempt.kept) for attempt in self.past)
        there = _cut(self._folder, "examples.jsonl", known)
        if there < known:
            raise _lost(self._folder, there, known)
        _check_images(opened)
        self._attempts = _append_to(self._folder, "attempts.jsonl")
        self._times = _append_to(self._folder, "times.jsonl")
        self._examples = _append_to(self._folder, "examples.jsonl")

    def add(self, attempt: AttemptLine, drafts: Sequence[Draft], seconds: float) -> None:
        """Write an attempt, and the examples and images that are kept of it.

        Raises:
            SetError: it can't be written. Earlier attempts stay intact.
        """
        for digest, rgb in chain.from_iterable(draft.pictures.items() for draft in drafts):
            name = f"images/{digest}.png"
            # A loss of power may have left a file without its content.
            if not size_of(self._folder / name, self._folder):
                put(self._folder, name, png(rgb, level=4))
        kept = tuple(draft.example.id for draft in drafts)
        prints = tuple(f"{draft.fingerprint:064x}" for draft in drafts)
        written = attempt.model_copy(update={"kept": kept, "prints": prints})
        time = json.dumps({"number": attempt.number, "seconds": round(seconds, 3)})
        try:
            self._examples.append(*(_line(draft.example) for draft in drafts))
            self._attempts.append(_line(written))
            self._times.append(time.encode())
        except DiskError as error:
            raise SetError(str(error)) from error

    def close(self) -> None:
        """Close the files. Safe to call twice."""
        for lines in (self._attempts, self._times, self._examples):
            lines.close()


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Lock `folder`, creating it if necessary, against other writers.

    Raises:
        SetError: it can't be created, or is locked already.
    """
    try:
        with locked(folder):
            yield
    except LockError as error:
        raise SetError(
            f"{folder} can't be a set: {error.strerror}. Choose another --out."
        ) from error
    except HeldError:
        raise SetError(f"{folder} is being written to already. Choose another --out.") from None


def put(folder: Path, name: str, content: bytes, *, shared: bool = False) -> None:
    """Write a file of the set atomically; `shared` if other processes may write it meanwhile.

    Raises:
        SetError: it can't be written.
    """
    try:
        write_whole(folder / name, folder, content, shared=shared)
    except OSError as error:
        raise cannot_write(folder / name, error) from error


def cannot_write(file: Path, error: OSError) -> SetError:
    """The error for a file that can't be written."""
    return SetError(
        f"{file} can't be written: {error.strerror}. The examples kept so far are complete; fix "
        "this and run the same command again to continue."
    )


def _lost(folder: Path, there: int, known: int) -> SetError:
    return SetError(
        f"{folder / 'examples.jsonl'} holds {there} examples, and attempts.jsonl tells of {known}. "
        "Restore it, or make the set anew in another folder."
    )


def _check_images(opened: SetFolder) -> None:
    """Raise SetError if an image of an example is missing: what is kept is never drawn again."""
    for example in opened.examples():
        for image in example.images:
            file = opened.folder / "images" / Path(image).name
            if not size_of(file, opened.folder):
                raise SetError(
                    f"{file}, an image of the example {example.id}, is missing or "
                    "empty. Restore it, or make the set anew in another folder."
                )


def _append_to(folder: Path, name: str) -> LineFile:
    try:
        return LineFile(folder / name, folder)
    except DiskError as error:
        raise SetError(str(error)) from error


def _line(of: BaseModel) -> bytes:
    return of.model_dump_json(exclude_defaults=True).encode()


def _cut(folder: Path, name: str, most: int) -> int:
    """Truncate a file after `most` lines; returns the number of lines left."""
    try:
        descriptor = open_appending(folder / name, folder)
        try:
            count = size = 0
            for line in read_lines(folder / name, folder):
                if not line.endswith(b"\n") or count == most:
                    break
                count, size = count + 1, size + len(line)
            os.ftruncate(descriptor, size)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise cannot_write(folder / name, error) from error
    return count


def _lines(folder: Path, name: str, kind: type[T]) -> Iterator[T]:
    file = folder / name
    with readable(file, SetError), suppress(FileNotFoundError):
        for number, line in enumerate(read_lines(file, folder), 1):
            if not line.endswith(b"\n"):
                return
            try:
                yield kind.model_validate_json(line)
            except ValidationError as error:
                raise SetError(
                    f"{file}, line {number} is not of this version: {first_problem(error)}. Make "
                    "the set anew in another folder."
                ) from error
