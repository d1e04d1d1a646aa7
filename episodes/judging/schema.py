"""What judging writes down: files of lines in the run's folder, only ever appended to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, TypeAdapter

from inhabit.episodes.judging.errors import Mistake
from inhabit.episodes.judging.scores import AgentAnswer, Judged
from inhabit.episodes.recording.index import Index
from inhabit.episodes.recording.reader import Run, read_rows


class _Line(BaseModel, frozen=True, extra="ignore"):
    """A line of a file."""


class JudgeLine(_Line):
    """The first line of a file: who judges."""

    kind: Literal["judge"] = "judge"
    version: Literal[1] = 1
    judge: str
    """`oracle`, or KIND:NAME of a model."""


class StepLine(_Line):
    """A step, what was right in it, and the verdicts."""

    kind: Literal["step"] = "step"
    episode: int
    step: int
    domain: str
    """The task's kind."""
    answer: AgentAnswer
    """The agent's answer without its choices, which stand in the run's own record."""
    options: int
    """How many candidates there were to choose from."""
    best_options: int
    """How many candidates are best actions."""
    first_is_best: bool
    best: tuple[str, ...] | None
    complete: bool = True
    """Whether `best` has all best actions."""
    ahead: int
    """Actions of the expert's plan from here."""
    key_concepts: tuple[str, ...]
    reason: str
    confidence: float | None = Field(default=None, ge=0.0, le=1.0)
    """The share of its action of the probability that the recorded candidates have together; None
    where nothing was ranked."""
    judged: Judged


class EpisodeLine(_Line):
    """An episode is judged to its end. Without this line its steps don't count."""

    kind: Literal["episode"] = "episode"
    episode: int
    attempt: int | None = None
    """Number of the attempt at the episode; None in older files."""
    domain: str
    success: bool
    mistake: Mistake | None
    """The first mistake; None where there is none, or that isn't known."""
    failures: Mapping[str, int] = Field(default_factory=dict)
    """How often each of EgoPlan's types of failure was seen."""


Line = JudgeLine | StepLine | EpisodeLine
_LINE: TypeAdapter[Line] = TypeAdapter(Annotated[Line, Field(discriminator="kind")])


def files(run: Run) -> list[Path]:
    """The judgements of a run, oldest first."""
    return sorted((run.folder / "judgements").glob("[0-9][0-9][0-9][0-9].jsonl"))


def file_of(run: Run, judge: str) -> Path:
    """Where the judgements of `judge` stand, or will.

    Raises:
        RecordError: what is there can't be read.
    """
    found = files(run)
    for file in found:
        head = next(read(file), None)
        if isinstance(head, JudgeLine) and head.judge == judge:
            return file
    number = int(found[-1].stem) + 1 if found else 1
    return run.folder / "judgements" / f"{number:04d}.jsonl"


def read(file: Path) -> Iterator[Line]:
    """Every whole line of a run's file of judgements; none where there is no file.

    Raises:
        RecordError: a complete line is not a judgement.
    """
    return read_rows(file, file.parents[1], _LINE.validate_json)


def judged(run: Run, file: Path) -> tuple[list[StepLine], list[EpisodeLine]]:
    """What `whole` reads, without episodes of `run` that have been played again since then.

    Raises:
        RecordError: a line is not a judgement, or a record can't be read.
    """
    steps, episodes = whole(file)
    ends = dict(enumerate(Index(run).ends())) if episodes else {}
    last = [e for e in episodes if (end := ends.get(e.episode)) and end.is_of(e.attempt)]
    numbers = {line.episode for line in last}
    return [step for step in steps if step.episode in numbers], last


def whole(file: Path) -> tuple[list[StepLine], list[EpisodeLine]]:
    """The steps and the episodes that are judged to their end; the last judgement counts.

    Raises:
        RecordError: a line is not a judgement.
    """
    steps: dict[int, list[StepLine]] = {}
    ended: dict[int, tuple[list[StepLine], EpisodeLine]] = {}
    for line in read(file):
        match line:
            case StepLine():
                so_far = steps.setdefault(line.episode, [])
                if so_far and line.step <= so_far[-1].step:
                    so_far.clear()  # It was cut off there, and judged anew.
                so_far.append(line)
            case EpisodeLine():
                ended[line.episode] = (steps.pop(line.episode, []), line)
            case JudgeLine():
                continue
    ordered = [ended[number] for number in sorted(ended)]
    return [step for judged, _ in ordered for step in judged], [line for _, line in ordered]
