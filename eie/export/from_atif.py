"""Run folders from ATIF files that `inhabit export --format atif` wrote: records and images.

Text, images and actions are read from where ATIF has them, and the rest of each line of the record
from `extra`. What was read is exported again and has to be what the file says: so nothing that a
file holds is passed over. A run whose episodes were all exported comes back byte for byte, but for
attempts that a fault cut short, and images that a model was sent beside those of the episode.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal, NoReturn

from pydantic import BaseModel, BeforeValidator, Field, JsonValue, ValidationError

from inhabit.eie.export.atif import trajectory
from inhabit.eie.export.files import claim
from inhabit.envs.core import Task
from inhabit.envs.entries import first_problem
from inhabit.envs.files import LONGEST, read_whole
from inhabit.episodes.recording.disk import MOST_BYTES, DiskError, write_whole
from inhabit.episodes.recording.folder import begin
from inhabit.episodes.recording.reader import (
    LINE,
    EpisodeRecord,
    RecordError,
    Run,
    attempts_of,
    readable,
)
from inhabit.episodes.recording.schema import Line, RunHeader, SeeLine, StartLine

_Fields = Mapping[str, JsonValue]
_NAME = r"^[^./\\\p{Cc}\p{Cf}][^/\\\p{Cc}\p{Cf}]{0,199}$"
"""Names of run folders: neither paths, nor hidden, nor with control characters."""


class _Source(BaseModel):
    path: str = Field(pattern=r"^images/[0-9a-f]{64}\.jpg$")


class _Part(BaseModel):
    type: Literal["text", "image"]
    text: str = ""
    source: _Source | None = None


class _Rests(BaseModel):
    """What an `extra` holds of lines."""

    see: _Fields | None = None
    decide: _Fields | None = None
    act: _Fields | None = None


class _Result(BaseModel):
    content: list[_Part]
    extra: _Rests


class _Observation(BaseModel):
    results: list[_Result] = Field(min_length=1, max_length=1)


class _Arguments(BaseModel):
    action: str


class _Call(BaseModel):
    arguments: _Arguments


class _Step(BaseModel):
    message: Annotated[list[_Part], BeforeValidator(lambda said: [] if type(said) is str else said)]
    """Message of the user; what an agent said stands in the step's `extra`, too."""
    tool_calls: list[_Call] = Field(default=[], max_length=1)
    observation: _Observation | None = None
    extra: _Rests


class _Metrics(BaseModel):
    extra: _Fields


class _Whole(BaseModel):
    run: RunHeader
    start: _Fields


class _Trajectory(BaseModel):
    session_id: str = Field(pattern=_NAME)
    trajectory_id: str = Field(pattern=r"/[0-9]{5,9}$")
    steps: list[_Step] = Field(min_length=1)
    final_metrics: _Metrics
    extra: _Whole

    @property
    def number(self) -> int:
        """Number of the episode in its run."""
        return int(self.trajectory_id.rpartition("/")[2])


@dataclass(frozen=True, slots=True)
class _Told:
    """One file."""

    file: Path
    parsed: _Trajectory
    fields: _Fields
    """All that the file says."""

    def refuse(self, why: str) -> NoReturn:
        raise _refused(self.file, why)


def read(folder: Path, out: Path) -> Mapping[str, tuple[int, int]]:
    """Make a run folder in `out` of each run in `folder`; what fails leaves nothing there.

    `out` is new or empty; each run gets a folder of its name there.

    Returns:
        Name of a run -> how many episodes there are, and how many it had. They are numbered anew.

    Raises:
        RecordError: `out` is taken, or a file is no such episode; names it.
        DiskError: something can't be written.
    """
    runs: dict[str, list[tuple[int, Path]]] = {}
    for file in sorted(folder.glob("*.json")):
        told = _read(file, folder).parsed
        runs.setdefault(told.session_id, []).append((told.number, file))
    if not runs:
        raise RecordError(f"{folder} has no JSON files: give a folder of `export --format atif`.")
    claim(out)
    try:
        with TemporaryDirectory(dir=out, prefix=".import-") as half:
            made = [_write(Path(half) / name, folder, sorted(runs[name])) for name in runs]
            for name in runs:
                (Path(half) / name).rename(out / name)
    except OSError as error:
        raise DiskError(out, error, "Fix this, and import again.") from error
    return dict(zip(runs, made, strict=True))


def _read(file: Path, folder: Path) -> _Told:
    with readable(file):
        content = read_whole(file, folder, most=LONGEST)
    try:
        parsed = _Trajectory.model_validate_json(content)
        fields = json.loads(content, parse_float=_finite, parse_constant=_finite)
    except ValueError as error:
        why = first_problem(error) if isinstance(error, ValidationError) else str(error)
        raise _refused(file, why) from error
    return _Told(file, parsed, fields)


def _refused(file: Path, why: str) -> RecordError:
    return RecordError(f"{file} is no episode that `inhabit export --format atif` wrote: {why}.")


def _finite(number: str) -> float:
    found = float(number)
    if not math.isfinite(found):
        raise ValueError(f"{number[:20]} is no finite number")
    return found


def _write(place: Path, folder: Path, episodes: Sequence[tuple[int, Path]]) -> tuple[int, int]:
    """Write a run, and return how many episodes there are, and how many it had."""
    first = episodes[0][1]
    run = Run(place, _read(first, folder).parsed.extra.run, ())
    tasks: list[Task] = []
    for number, (was, file) in enumerate(episodes):
        told = _read(file, folder)
        if told.parsed.extra.run != run.header:
            told.refuse(f"{first} is of another run of that name")
        if number and was == episodes[number - 1][0]:
            told.refuse(f"{episodes[number - 1][1]} is the same episode")
        tasks.append(_write_episode(run, number, folder, told))
    begin(place, run.header.model_copy(update={"episodes": len(tasks)}), tasks)
    return len(tasks), run.header.episodes


def _write_episode(run: Run, number: int, folder: Path, told: _Told) -> Task:
    try:
        lines = list(_lines(told.parsed))
    except ValidationError as error:
        told.refuse(first_problem(error))
    start, place = lines[0], run.folder / "episodes" / f"{number:05d}"
    assert isinstance(start, StartLine)
    for frame, path in _frames(told, lines):
        write_whole(place / frame, run.folder, _image(folder / path, folder, told))
    write_whole(place / "episode.jsonl", run.folder, b"".join(map(_written, lines)))
    (attempt,) = attempts_of(told.file, lines)
    # Its number there may be another one.
    episode = EpisodeRecord(place, told.parsed.number, start.task)
    again = trajectory(run, episode, attempt, lambda name, content: name)
    for name in told.fields.keys() - {"schema_version", "agent"}:
        if other := _difference(told.fields[name], again.get(name), name):
            told.refuse(f"{other[:100]} is not what it writes of such an episode")
    return start.task


def _lines(told: _Trajectory) -> Iterator[Line]:
    """The lines of an episode's record, in order."""
    yield _line("start", told.extra.start)
    for step in told.steps:
        if step.extra.decide is not None:
            action = step.tool_calls[0].arguments.action if step.tool_calls else None
            yield _line("decide", step.extra.decide, action=action)
        yield from _seen(step.message[1:], step.extra)
        if step.observation is not None:
            (result,) = step.observation.results
            content, act = result.content, result.extra.act
            if act is not None:
                yield _line("act", act, feedback=content[0].text if content else "")
                content = content[1:]
            yield from _seen(content, result.extra)
    yield _line("end", told.final_metrics.extra)


def _seen(content: Sequence[_Part], extra: _Rests) -> Iterator[Line]:
    if extra.see is not None:
        texts = [part.text for part in content if part.type == "text"]
        yield _line("see", extra.see, text=texts[0] if texts else "")


def _line(kind: str, rest: _Fields, **told: JsonValue) -> Line:
    return LINE.validate_python({**rest, **told, "kind": kind})


def _frames(told: _Told, lines: Sequence[Line]) -> Iterator[tuple[str, str]]:
    """Each image's place in the episode's folder, and in the export."""
    steps = told.parsed.steps
    results = [one.content for s in steps if s.observation for one in s.observation.results]
    contents = [*(step.message for step in steps), *results]
    paths = [p.source.path for parts in contents for p in parts if p.source]
    named = (line.frame for line in lines if isinstance(line, SeeLine) and line.frame)
    frames = list(dict.fromkeys(named))
    if len(paths) != len(frames):
        told.refuse(f"it shows {len(paths)} images, and its record names {len(frames)}")
    return zip(frames, paths, strict=True)


def _image(file: Path, folder: Path, told: _Told) -> bytes:
    try:
        content = read_whole(file, folder, most=MOST_BYTES)
    except OSError as error:
        raise RecordError(f"{file}, which {told.file} names: {error.strerror}.") from error
    if hashlib.sha256(content).hexdigest() != file.stem:
        raise RecordError(f"{file} is not the image that {told.file} names: it was changed.")
    return content


def _difference(told: JsonValue, again: JsonValue, place: str) -> str:
    """Where `told` says what `again` does not, as in "steps.0.message"; empty if nowhere.

    What only `again` has came to the record later.
    """
    pairs: list[tuple[JsonValue, JsonValue, str]]
    if isinstance(told, dict) and isinstance(again, dict) and told.keys() <= again.keys():
        pairs = [(one, again[key], key) for key, one in told.items()]
    elif isinstance(told, list) and isinstance(again, list) and len(told) == len(again):
        pairs = [(a, b, str(n)) for n, (a, b) in enumerate(zip(told, again, strict=True))]
    else:
        return "" if told == again else place
    found = (_difference(one, other, f"{place}.{key}") for one, other, key in pairs)
    return next(filter(None, found), "")


def _written(line: Line) -> bytes:
    fields = line.model_dump(mode="json", by_alias=True)
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return text.encode() + b"\n"
