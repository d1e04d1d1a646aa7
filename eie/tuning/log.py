"""The log of a training: one line per step or evaluation, append-only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ValidationError


class LogLine(BaseModel, frozen=True, extra="forbid"):
    """A training step, or an evaluation on the validation split after `step` steps."""

    kind: Literal["step", "judge"]
    step: int
    loss: float
    """Mean loss over the examples."""
    accuracy: float | None = None
    """Share of examples whose answer has the highest summed log-probability, among those that were
    read with more than one candidate. None if no other candidate was read."""
    chance: float | None = None
    """Accuracy of random guessing, in a judge line."""
    rate: float | None = None
    norm: float | None = None
    """Gradient norm of a step, before clipping."""
    examples: int = 0
    seconds: float = 0.0


_BEGIN = b'{"kind":"begin"}'


def begin(file: Path) -> None:
    """Say that what follows is of a training from its start. Nothing is written to a new file."""
    if file.exists():
        with file.open("ab", buffering=0) as stream:
            stream.write(b"\n" + _BEGIN + b"\n")


def append(file: Path, line: LogLine) -> None:
    """Append `line` in a single write."""
    with file.open("ab", buffering=0) as stream:
        stream.write(line.model_dump_json(exclude_none=True).encode() + b"\n")


def lines(file: Path) -> Sequence[LogLine]:
    """The lines of the last training in order of their steps; of repeated steps, the last.

    Incomplete lines are skipped.
    """
    found: dict[tuple[str, int], LogLine] = {}
    for text in file.read_bytes().split(b"\n") if file.exists() else ():
        if text == _BEGIN:
            found.clear()
            continue
        try:
            line = LogLine.model_validate_json(text)
        except ValidationError:
            continue
        found[line.kind, line.step] = line
    return sorted(found.values(), key=lambda line: (line.step, line.kind))
