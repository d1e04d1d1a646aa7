"""What a run left on disk: the reader for everything that scores, replays or shows it.

Reading never writes, never follows a path that a record names out of its own folder, and never
needs the environment or the agent. The types of what is read stand in
`inhabit.episodes.recording.schema`.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Self, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from inhabit.envs.core import Task, TaskError
from inhabit.envs.entries import first_problem
from inhabit.envs.errors import UserError
from inhabit.envs.files import LONGEST, check_folder, open_reading, read_whole, size_of
from inhabit.envs.files import read_lines as lines_of
from inhabit.episodes.recording.schema import (
    ActLine,
    DecideLine,
    EndLine,
    Line,
    RunHeader,
    SeeLine,
    StartLine,
    is_sound,
)

T = TypeVar("T")

LINE: TypeAdapter[Line] = TypeAdapter(Annotated[Line, Field(discriminator="kind")])
"""Reads any line of a record by its kind."""


class RecordError(UserError, ValueError):
    """A run folder can't be read or written. Names the file, the line, and what is wrong."""


@contextmanager
def readable(file: Path, kind: type[UserError] = RecordError) -> Iterator[None]:
    """Raises `kind` for `file` where the system refuses what is done in the block."""
    try:
        yield
    except OSError as error:
        raise kind(f"{file} can't be read: {error.strerror}.") from error


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step: what was seen, decided and done. The last one of an episode was only seen."""

    number: int
    see: SeeLine
    candidates: tuple[str, ...]
    """What could be chosen from, wherever the record wrote it down."""
    decide: DecideLine | None
    act: ActLine | None
    """What came of the decision; None where the agent stopped, or the attempt was cut off here."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One go at an episode, as far as it came."""

    start: StartLine
    steps: tuple[StepRecord, ...]
    end: EndLine | None
    """How the attempt ended; None where it was cut off."""


@dataclass(frozen=True, slots=True)
class EpisodeRecord:
    """One task of a run and what was recorded of it. Nothing is read before it is asked for."""

    folder: Path
    number: int
    """Place of the task in `tasks.jsonl`, from 0; names the folder."""
    task: Task

    @property
    def file(self) -> Path:
        """The record itself; absent before the first attempt."""
        return self.folder / "episode.jsonl"

    @property
    def run(self) -> Path:
        """The folder of its run, below which no link is followed."""
        return self.folder.parents[1]

    def attempts(self) -> tuple[Attempt, ...]:
        """Every attempt in order.

        Raises:
            RecordError: a line is whole and yet no record, or the record is of another scene.
        """
        found = tuple(attempts_of(self.file, read_lines(self.file, self.run)))
        asked = (self.task.env, self.task.scene)
        if any((a.start.task.env, a.start.task.scene) != asked for a in found):
            raise RecordError(f"{self.file} is the record of another scene than tasks.jsonl names.")
        return found

    def last(self) -> Attempt | None:
        """The attempt that counts; None before the first one."""
        attempts = self.attempts()
        return attempts[-1] if attempts else None

    def steps(self) -> tuple[StepRecord, ...]:
        """The steps of the attempt that counts; none before the first one."""
        attempt = self.last()
        return () if attempt is None else attempt.steps

    def end(self) -> EndLine | None:
        """How it ended, from the last line alone; None while it has not."""
        line = _last_line(self.file, self.run)
        if line is None or b'"kind":"end"' not in line.replace(b" ", b""):
            return None
        found = _parse(line, self.file, "the last line")
        return found if isinstance(found, EndLine) and not found.again else None

    def frame(self, see: SeeLine) -> Path | None:
        """The image of an observation; None where there is none, or it lies outside the folder."""
        if see.frame is None:
            return None
        file = self.folder / see.frame
        return None if size_of(file, self.run) is None else file


@dataclass(frozen=True, slots=True)
class Run:
    """A run folder."""

    folder: Path
    header: RunHeader
    tasks: tuple[Task, ...]

    @classmethod
    def open(cls, folder: Path | str) -> Self:
        """Read what was asked for. Episodes are read when asked for.

        Raises:
            RecordError: there is no run here, or `run.json` or `tasks.jsonl` is broken.
        """
        folder = Path(folder)
        header = read_header(folder / "run.json")
        with readable(folder / "episodes"):
            check_folder(folder / "episodes", folder)
        try:
            tasks = tuple(read_tasks(folder / "tasks.jsonl"))
        except TaskError as error:
            raise RecordError(str(error)) from error
        # More are left where a run that was to get more tasks was cut off.
        if not 0 < header.episodes <= len(tasks):
            raise RecordError(
                f"{folder / 'tasks.jsonl'} holds {len(tasks)} tasks, "
                f"but run.json says {header.episodes}."
            )
        return cls(folder, header, tasks[: header.episodes])

    @property
    def name(self) -> str:
        """Name of its folder."""
        given = self.folder.name
        return self.folder.resolve().name if given in ("", "..") else given

    def episode(self, number: int) -> EpisodeRecord:
        """The episode of that number, from 0."""
        return EpisodeRecord(self.folder / "episodes" / f"{number:05d}", number, self.tasks[number])

    def episodes(self) -> Iterator[EpisodeRecord]:
        """Every episode in order, begun or not."""
        return map(self.episode, range(len(self.tasks)))

    def ended(self) -> Iterator[tuple[EpisodeRecord, Attempt]]:
        """The episodes that have ended, and the last attempt at each."""
        for episode in self.episodes():
            attempt = episode.last()
            if attempt is not None and attempt.end is not None and not attempt.end.again:
                yield episode, attempt

    def find(self, name: str) -> EpisodeRecord:
        """The episode with that task id or number.

        Raises:
            RecordError: no episode has it.
        """
        numbers = [i for i, task in enumerate(self.tasks) if task.id == name]
        # `int` refuses thousands of digits.
        is_number = name.isascii() and name.isdigit() and len(name) <= 20
        if not numbers and is_number and int(name) < len(self.tasks):
            numbers = [int(name)]
        if not numbers:
            last = len(self.tasks) - 1
            raise RecordError(
                f"{self.folder} has no episode {name[:80]!r}: give a task id or 0..{last}."
            )
        return self.episode(numbers[0])


def read_header(file: Path) -> RunHeader:
    """Read `run.json`.

    Raises:
        RecordError: it is absent, broken or of another version.
    """
    try:
        with readable(file), suppress(FileNotFoundError, NotADirectoryError):
            return RunHeader.model_validate_json(read_whole(file, file.parent, most=LONGEST))
    except ValidationError as error:
        if ("version",) in [problem["loc"] for problem in error.errors()]:
            raise RecordError(
                f"{file} is of another version of the run folder: read it with the release of "
                "inhabit that its `software` names, or with a newer one."
            ) from error
        raise RecordError(
            f"{file} is broken: {first_problem(error)}. A run needs this file: restore "
            "it, or start another run."
        ) from error
    if not file.parent.exists():
        raise RecordError(f"{file.parent} does not exist.")
    raise RecordError(f"{file.parent} is not a run folder: it has no {file.name}.")


def read_lines(file: Path, run: Path) -> Iterator[Line]:
    """Every whole line of an `episode.jsonl`; a last one that was cut off or spoilt does not count.

    No link below the folder `run` is followed.

    Raises:
        RecordError: a complete line is not a record; names the line.
    """
    for number, line in enumerate(_whole_lines(file, run), 1):
        yield _parse(line, file, f"line {number}")


def read_rows(file: Path, inside: Path, read: Callable[[bytes], T]) -> Iterator[T]:
    """What `read` makes of every whole line of a file beside a record; none where there is no file.
    A last one that was cut off or spoilt does not count.

    No link below the folder `inside` is followed.

    Raises:
        RecordError: a complete line can't be read; names the line.
    """
    for number, line in enumerate(_whole_lines(file, inside), 1):
        try:
            yield read(line)
        except ValidationError as error:
            raise RecordError(f"{file}, line {number}: {first_problem(error)}.") from error


def _whole_lines(file: Path, inside: Path) -> list[bytes]:
    lines: list[bytes] = []
    with readable(file), suppress(FileNotFoundError):
        lines = read_whole(file, inside).split(b"\n")[:-1]
    return lines if not lines or is_sound(lines[-1]) else lines[:-1]


def _parse(line: bytes, file: Path, place: str) -> Line:
    try:
        return LINE.validate_json(line)
    except ValidationError as error:
        raise RecordError(
            f"{file}, {place}: {first_problem(error)}. Repair that line, or move {file.parent} "
            "away to run its episode again."
        ) from error


def _last_line(file: Path, run: Path, block: int = 1 << 14) -> bytes | None:
    """The last sound line, read from the end so that long records stay quick to list."""
    tail = b""
    with readable(file), suppress(FileNotFoundError), open_reading(file, run) as stream:
        position = stream.seek(0, 2)
        while position > 0 and tail.count(b"\n") < 3 and len(tail) <= LONGEST:
            step = min(block, position)
            position -= step
            stream.seek(position)
            tail = stream.read(step) + tail
            block *= 2
    last_two = tail.split(b"\n")[-3:-1]
    return next((line for line in reversed(last_two) if is_sound(line)), None)


def attempts_of(file: Path, lines: Iterable[Line]) -> Iterator[Attempt]:
    """The attempts that lines of a record tell of; `file` is named where one makes no sense.

    Raises:
        RecordError: it begins with no start, or a decision or result is of a step never seen.
    """
    group: list[Line] = []
    for line in lines:
        if isinstance(line, StartLine):
            if group:
                yield _attempt(file, group)
            group = [line]
        elif not group:
            raise RecordError(f"{file} begins with {line.kind!r}; a start was expected.")
        else:
            group.append(line)
    if group:
        yield _attempt(file, group)


def _attempt(file: Path, group: list[Line]) -> Attempt:
    start, *rest = group
    assert isinstance(start, StartLine)
    candidates = start.vocabulary or ()
    steps: list[StepRecord] = []
    end: EndLine | None = None
    for line in rest:
        match line:
            case SeeLine():
                candidates = candidates if line.candidates is None else line.candidates
                steps.append(StepRecord(line.step, line, candidates, None, None))
            case DecideLine() | ActLine():
                if not steps or steps[-1].number != line.step:
                    raise RecordError(f"{file}: {line.kind!r} of step {line.step} was never seen.")
                if isinstance(line, DecideLine):
                    steps[-1] = replace(steps[-1], decide=line)
                else:
                    steps[-1] = replace(steps[-1], act=line)
            case EndLine():
                end = line
            case StartLine():  # pragma: no cover - grouped by them
                raise AssertionError(line)
    return Attempt(start, tuple(steps), end)


def read_tasks(file: Path) -> Iterator[Task]:
    """Tasks of a JSONL file, in order. Blank lines are passed over.

    Raises:
        TaskError: it can't be read, or a line is not a task; names the line and the field.
    """
    with readable(file, TaskError):
        for number, line in enumerate(lines_of(file, file.parent), 1):
            if line.strip():
                # Some editors begin a file with a mark, which stays where files are joined.
                yield _task(line.rstrip(b"\n").removeprefix(BOM_UTF8), f"{file}, line {number}")


def _task(line: bytes, place: str) -> Task:
    try:
        return Task.model_validate_json(line)
    except ValidationError as error:
        raise TaskError(f"{place}: {first_problem(error)}.") from error
