"""A sheet of judged steps for people to label, and their labels read back."""

from __future__ import annotations

import csv
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np

from inhabit.envs.printable import cell
from inhabit.episodes.judging.schema import StepLine
from inhabit.episodes.judging.scores import Dimension
from inhabit.episodes.recording.reader import EpisodeRecord, RecordError, Run

_DRAWS = 2000
"""Resamples of the bootstrap."""


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa of two lists of labels (Cohen 1960)."""

    value: float
    """Kappa: 1 where the lists agree throughout, 0 where as often as chance would have it; NaN
    where both always say the same one thing, so that there is nothing to agree on."""
    low: float
    """The bounds of its 95 % interval, by bootstrap over the items; NaN with `value`."""
    high: float
    items: int
    agreeing: float
    """Share of the items on which the lists agree."""


def kappa(one: Sequence[int], other: Sequence[int]) -> Kappa:
    """The agreement of two lists of labels about the same items.

    Raises:
        ValueError: the lists differ in length, or are empty.
    """
    if len(one) != len(other) or not one:
        raise ValueError(
            f"Two lists of the same items are needed, not {len(one)} and {len(other)}."
        )
    a, b = np.asarray(one), np.asarray(other)
    value = _kappa(a, b)
    draws = np.random.default_rng(0).integers(0, len(a), (_DRAWS, len(a)))
    values = [k for draw in draws if not math.isnan(k := _kappa(a[draw], b[draw]))]
    low, high = np.quantile(values, (0.025, 0.975)) if values else (math.nan, math.nan)
    return Kappa(value, float(low), float(high), len(a), float(np.mean(a == b)))


def _kappa(a: np.ndarray, b: np.ndarray) -> float:
    observed = float(np.mean(a == b))
    labels = set(a.tolist()) | set(b.tolist())
    expected = sum(float(np.mean(a == label)) * float(np.mean(b == label)) for label in labels)
    return math.nan if expected == 1.0 else (observed - expected) / (1.0 - expected)


_COLUMNS = (
    *("episode", "step", "picture", "goal", "told", "choices"),
    *("description", "reasoning", "answer", "best", "key_concepts", "reference"),
    *(part.value for part in Dimension),
)
"""The last three are for people to fill in: 1, 0, or nothing where it can't be told."""

Labels = Mapping[tuple[int, int], Mapping[Dimension, int]]
"""(episode, step) -> the scores that were given."""


def draw(steps: Sequence[StepLine], n: int, *, seed: int = 0) -> list[StepLine]:
    """`n` of the steps (all where there are fewer), in order; the same for the same seed."""
    chosen = random.Random(f"sheet {seed}").sample(range(len(steps)), min(n, len(steps)))
    return [steps[i] for i in sorted(chosen)]


def write(steps: Sequence[StepLine], run: Run, stream: TextIO) -> None:
    """Write a sheet as CSV. What the judge said is not in it."""
    table = csv.writer(stream, lineterminator="\n")
    table.writerow(_COLUMNS)
    for step in steps:
        answer = step.answer
        picture, choices = _seen(run.episode(step.episode), step.step)
        texts = (
            *(picture, answer.goal, answer.told, choices),
            *(answer.description, answer.reasoning, answer.action or ""),
            *("; ".join(step.best or ()), "; ".join(step.key_concepts), step.reason),
        )
        table.writerow([step.episode, step.step, *map(cell, texts), *("" for _ in Dimension)])


def read(file: Path) -> Labels:
    """The labels in a sheet.

    Raises:
        RecordError: it can't be read, or a label is neither 0, 1 nor empty; names the row.
    """
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            rows = enumerate(csv.DictReader(stream), 2)
            return dict(_row(row, number, file) for number, row in rows)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise RecordError(f"{file} can't be read: {error}.") from error


def _row(
    row: Mapping[str, str], number: int, file: Path
) -> tuple[tuple[int, int], dict[Dimension, int]]:
    try:
        place = int(row["episode"]), int(row["step"])
    except (KeyError, TypeError, ValueError):
        raise RecordError(f"{file}, row {number}: it names no episode and step.") from None
    labels: dict[Dimension, int] = {}
    for part in Dimension:
        said = (row.get(part.value) or "").strip()
        if said not in ("", "0", "1"):
            raise RecordError(f"{file}, row {number}: {part.value} is {said!r}, not 0, 1 or empty.")
        if said:
            labels[part] = int(said)
    return place, labels


def _seen(episode: EpisodeRecord, number: int) -> tuple[str, str]:
    """The image of a step, and what there was to choose from; empty where there was none."""
    step = next((step for step in episode.steps() if step.number == number), None)
    if step is None:
        return "", ""
    frame = episode.frame(step.see)
    return "" if frame is None else str(frame), "; ".join(step.candidates)
