"""Reads a file of tasks, as a run folder has one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from inhabit.envs.core import Task, TaskError
from inhabit.envs.entries import first_problem
from inhabit.envs.files import read_lines


def read_tasks(file: Path) -> Iterator[Task]:
    """Tasks of a JSONL file, in order. Blank lines are passed over.

    Raises:
        TaskError: it can't be read, or a line is not a task; names the line and the field.
    """
    try:
        for number, line in enumerate(read_lines(file, file.parent), 1):
            if line.strip():
                yield _task(line.rstrip(b"\n"), f"{file}, line {number}")
    except OSError as error:
        raise TaskError(f"{file} can't be read: {error.strerror}.") from error


def _task(line: bytes, place: str) -> Task:
    try:
        return Task.model_validate_json(line)
    except ValidationError as error:
        raise TaskError(f"{place}: {first_problem(error)}.") from error
