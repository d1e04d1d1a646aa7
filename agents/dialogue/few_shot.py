"""Few-shot examples: successful episodes with goals worded like the present one."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from inhabit.envs.core import TaskError
from inhabit.envs.entries import first_problem
from inhabit.envs.files import read_lines


@dataclass(frozen=True, slots=True)
class FewShotExample:
    """A goal, and the actions that reached it, without those that had no effect."""

    __pydantic_config__ = ConfigDict(extra="forbid")
    goal: str
    actions: Annotated[tuple[str, ...], Field(min_length=1)]


_EXAMPLE = TypeAdapter(FewShotExample)


class Examples:
    """Finds the examples whose goals are worded most like another.

    Goals are compared by the cosine similarity of their tf-idf vectors (Sparck Jones 1972).
    """

    def __init__(self, examples: Sequence[FewShotExample]) -> None:
        """Index `examples`; of equals the first wins."""
        self._examples = tuple(examples)
        counts = Counter(word for e in self._examples for word in set(_words(e.goal)))
        self._idf = {w: math.log(1 + len(self._examples) / n) for w, n in counts.items()}
        self._vectors = [self._vector(example.goal) for example in self._examples]

    @classmethod
    def read(cls, folder: Path) -> Examples:
        """Read the successful episodes of the run `folder` (docs/run-folder.md).

        A file instead of a folder holds an example on each line: a JSON object with the text `goal`
        and the list of texts `actions`.

        Raises:
            TaskError: there are none, or it can't be read.
        """
        if folder.is_file():
            return cls(_written(folder))
        files = sorted(folder.glob("episodes/*/episode.jsonl"))
        examples = [e for file in files if (e := _read(file)) is not None]
        if not examples:
            raise TaskError(
                f"{str(folder)!r} has no episode that succeeded to take examples from: name the "
                "folder of a run that went well, such as one of the expert's."
            )
        return cls(examples)

    def nearest(self, goal: str, count: int) -> tuple[FewShotExample, ...]:
        """The `count` most similar examples, best first."""
        asked = self._vector(goal)
        similarity = [_dot(asked, vector) for vector in self._vectors]
        order = sorted(range(len(similarity)), key=lambda i: -similarity[i])
        return tuple(self._examples[i] for i in order[:count])

    def _vector(self, goal: str) -> Mapping[str, float]:
        """The unit tf-idf vector of a goal; zero if no example has any of its words."""
        found = Counter(w for w in _words(goal) if w in self._idf)
        weighed = {w: n * self._idf[w] for w, n in found.items()}
        length = math.sqrt(math.fsum(x * x for x in weighed.values())) or 1.0
        return {w: x / length for w, x in weighed.items()}


def _written(file: Path) -> Sequence[FewShotExample]:
    try:
        lines = file.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, ValueError) as error:
        raise TaskError(f"{str(file)!r} can't be read for examples: {error}") from error
    numbered = enumerate(lines, start=1)
    examples = [_one(line, f"{str(file)!r}, line {n}") for n, line in numbered if line.strip()]
    if not examples:
        raise TaskError(f"{str(file)!r} holds no example.")
    return examples


def _one(line: str, place: str) -> FewShotExample:
    try:
        return _EXAMPLE.validate_json(line)
    except ValidationError as error:
        raise TaskError(
            f"{place}, is no example: {first_problem(error)}. A line is a JSON object such as "
            '{"goal": "put the mug in the sink", "actions": ["go to the mug"]}.'
        ) from error


def _read(file: Path) -> FewShotExample | None:
    try:
        return _example(file)
    except (KeyError, TypeError, AttributeError) as error:
        raise TaskError(f"{str(file)!r} can't be read for examples: {error!r}") from error


def _example(file: Path) -> FewShotExample | None:
    """The last attempt in `file`, if it succeeded."""
    goal, said = "", None
    actions: list[str] = []
    for line in _lines(file):
        match line["kind"]:
            case "start":
                goal, actions = line["task"]["goal"], []
            case "decide":
                said = line["action"]
            case "act" if line["reason"] is None and said is not None:
                actions.append(said)
            case "end" if line["success"]:
                return FewShotExample(goal, tuple(actions))
    return None


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    try:
        for line in read_lines(file, file.parents[2]):
            if line.endswith(b"\n"):  # a half line doesn't count
                yield json.loads(line)
    except (OSError, ValueError, RecursionError) as error:
        raise TaskError(f"{str(file)!r} can't be read for examples: {error}") from error


def _words(goal: str) -> list[str]:
    return re.findall(r"\w+", goal.casefold())


def _dot(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    return math.fsum(x * other[w] for w, x in one.items() if w in other)
