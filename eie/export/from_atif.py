"""Run folders from ATIF files that `inhabit export --format atif` wrote: records and images.

Text, images and actions are read from where ATIF has them, and the rest of each line of the record
from `extra`. A run whose episodes were all exported comes back byte for byte, but for attempts that
a fault cut short, and images that a model was sent beside those of the episode.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, JsonValue, ValidationError

from inhabit.eie.export.files import claim
from inhabit.envs.entries import first_problem
from inhabit.envs.files import LONGEST, read_whole
from inhabit.episodes.recording.disk import DiskError, write_whole
from inhabit.episodes.recording.folder import begin
from inhabit.episodes.recording.reader import LINE, RecordError
from inhabit.episodes.recording.schema import (
    Line,
    RunHeader,
    SeeLine,
    StartLine,
)

_Fields = Mapping[str, JsonValue]


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
    source: Literal["user", "agent"]
    message: str | list[_Part]
    tool_calls: list[_Call] = Field(default=[], max_length=1)
    observation: _Observation | None = None
    extra: _Rests


class _Metrics(BaseModel):
    extra: _Fields


class _Whole(BaseModel):
    run: RunHeader
    start: _Fields


class _Trajectory(BaseModel):
    session_id: str = Field(pattern=r"^[^./\\\x00][^/\\\x00]{0,199}$")
    trajectory_id: str
    steps: list[_Step] = Field(min_length=1)
    final_metrics: _Metrics
    extra: _Whole


def read(folder: Path, out: Path) -> int:
    """Make a run folder in `out` of each run in `folder`, and return how many episodes there are.

    Args:
        folder: of an export: JSON files, and images below it.
        out: new or empty; each run gets a folder of its name there.

    Raises:
        RecordError: `out` is taken, or a file is no such episode; names it.
        DiskError: something can't be written.
    """
    runs: dict[str, list[tuple[Path, _Trajectory]]] = {}
    for file in sorted(folder.glob("*.json")):
        found = _read(file, folder)
        runs.setdefault(found.session_id, []).append((file, found))
    if not runs:
        raise RecordError(f"{folder} has no JSON files: give a folder of `export --format atif`.")
    claim(out)
    for name, episodes in runs.items():
        _write(out / name, folder, episodes)
    return sum(map(len, runs.values()))


def _read(file: Path, folder: Path) -> _Trajectory:
    try:
        return _Trajectory.model_validate_json(read_whole(file, folder, most=LONGEST))
    except OSError as error:
        raise RecordError(f"{file} can't be read: {error.strerror}.") from error
    except ValidationError as error:
        raise RecordError(
            f"{file} is no episode that `inhabit export --format atif` wrote: "
            f"{first_problem(error)}."
        ) from error


def _write(run: Path, folder: Path, episodes: Sequence[tuple[Path, _Trajectory]]) -> None:
    written = []
    for number, (file, told) in enumerate(episodes):
        try:
            lines = list(_lines(told))
        except ValidationError as error:
            raise RecordError(f"{file}: {first_problem(error)}.") from error
        start = lines[0]
        assert isinstance(start, StartLine)
        written.append(start.task)
        place = run / "episodes" / f"{number:05d}"
        try:
            for line, path in _frames(told, lines):
                content = read_whole(folder / path, folder)
                if hashlib.sha256(content).hexdigest() != Path(path).stem:
                    raise RecordError(f"{folder / path} is not the image that {file} names.")
                write_whole(place / line, run, content)
            write_whole(place / "episode.jsonl", run, b"".join(map(_written, lines)))
        except OSError as error:
            raise DiskError(place, error, "Fix this, and import into an empty folder.") from error
    header = episodes[0][1].extra.run.model_copy(update={"episodes": len(written)})
    begin(run, header, written)


def _lines(told: _Trajectory) -> Iterator[Line]:
    """The lines of an episode's record, in order."""
    yield _line("start", told.extra.start)
    for step in told.steps:
        message = step.message
        if step.extra.decide is not None:
            action = step.tool_calls[0].arguments.action if step.tool_calls else None
            yield _line("decide", step.extra.decide, action=action)
        if not isinstance(message, str):
            yield from _seen(message[1:], step.extra)
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


def _frames(told: _Trajectory, lines: Sequence[Line]) -> Iterator[tuple[str, str]]:
    """Each image's place in the episode's folder, and in the export."""
    messages = [step.message for step in told.steps if not isinstance(step.message, str)]
    results = [one.content for s in told.steps if s.observation for one in s.observation.results]
    paths = [p.source.path for parts in [*messages, *results] for p in parts if p.source]
    frames = [line.frame for line in lines if isinstance(line, SeeLine) and line.frame]
    if len(paths) != len(frames):
        raise RecordError(
            f"{told.trajectory_id} shows {len(paths)} images, and its record names {len(frames)}."
        )
    return zip(frames, paths, strict=True)


def _written(line: Line) -> bytes:
    fields = line.model_dump(mode="json", by_alias=True)
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace") + b"\n"
