"""What training came to, a line for each step: appended, never rewritten."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError


class LogLine(BaseModel):
    """A step, or a measurement on the validation split after `step` steps."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["step", "judge"]
    step: int
    loss: float
    """Mean over the examples."""
    accuracy: float
    """Share of the examples whose answer is the likeliest candidate, by the sum."""
    chance: float | None = None
    """Of a judge line: the same for a blind guess."""
    rate: float | None = None
    norm: float | None = None
    """Of a step's gradients, before they are cut."""
    examples: int = 0
    seconds: float = 0.0


def append(file: Path, line: LogLine) -> None:
    """Add `line` by one write."""
    with file.open("ab", buffering=0) as stream:
        stream.write(line.model_dump_json(exclude_none=True).encode() + b"\n")


def lines(file: Path) -> Sequence[LogLine]:
    """The lines that count, by kind and step: of steps that were done again, the last.

    What was cut short by a kill is left out.
    """
    found: dict[tuple[str, int], LogLine] = {}
    for text in file.read_bytes().split(b"\n") if file.exists() else ():
        try:
            line = LogLine.model_validate_json(text)
        except ValidationError:
            continue
        found[line.kind, line.step] = line
    return sorted(found.values(), key=lambda line: (line.step, line.kind))
