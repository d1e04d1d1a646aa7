"""An export format: every step of the successful episodes of a run, a row each."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from inhabit.eie.export.demonstrations import Demonstration
from inhabit.eie.export.exporter import Exporter


def write_run(demonstrations: Iterable[Demonstration], out: Path) -> int:
    """Write `steps.csv`, and return how many rows it has."""
    count = 0
    with (out / "steps.csv").open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream)
        rows.writerow(["episode", "task", "goal", "step", "action", "worked", "feedback"])
        for one in demonstrations:
            for number, step in enumerate(one.steps):
                row = (one.number, one.task.id, one.task.goal, number, step.action)
                rows.writerow([*row, step.worked, step.feedback])
                count += 1
    return count


EXPORTER = Exporter(name="csv", summary="a table of steps", write_run=write_run)
