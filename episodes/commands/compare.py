"""`inhabit compare`: two runs of the same tasks, and whether they differ significantly."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue
from rich.console import Console
from rich.table import Table
from rich.text import Text

from inhabit.episodes.commands.options import PageFile
from inhabit.episodes.commands.output import Json, answers, facts, print_json
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.reports.wording import ENDINGS
from inhabit.episodes.scoring import comparison

_DISAGREEMENT = (
    "Interval and p disagree about significance, as they can with few tasks: the interval is an "
    "approximation over all tasks, p an exact test of the tasks on which the runs differ. Trust p."
)


def compare(
    first: Annotated[Path, typer.Argument(metavar="FIRST", help="Folder of a run.")],
    second: Annotated[
        Path, typer.Argument(metavar="SECOND", help="Folder of another run of the same tasks.")
    ],
    mixed: Annotated[
        bool,
        typer.Option(
            "--mixed",
            help="Compare runs even if backend, candidates, grants, images or max_steps differ.",
        ),
    ] = False,
    page: PageFile = None,
    as_json: Json = False,
) -> None:
    """Compare two runs of the same tasks.

    Pairs the runs by task and prints differences (second minus first) with 95 % intervals,
    McNemar's exact test, and the tasks that only one run solved. The interval says how large the
    difference may be. p is the chance of tasks being won so unevenly if the runs were equally good.
    """
    one, other = Run.open(first), Run.open(second)
    found = comparison.compare(one, other, mixed=mixed)
    _print(found, answers())
    if page is not None:
        _write_page(page, found, one, other)
    if as_json:
        print_json({"first": str(first), "second": str(second), **_plain(found)})


def _write_page(file: Path, found: comparison.Comparison, one: Run, other: Run) -> None:
    from inhabit.episodes.reports.page.differences import compare_items, write_differences

    names = tuple(run.folder.resolve().name for run in (one, other))
    figures = {
        "Tasks": f"{found.tasks} in both",
        f"Solved only by {names[0]}": str(found.first_solved),
        f"Solved only by {names[1]}": str(found.second_solved),
        **({"Ended by a fault": _faults(found)} if any(found.faults) else {}),
        "Difference in success rate": _difference(found.difference, found.interval, found.p_value),
    }
    items = compare_items(found, one, other, file)
    write_differences(
        file, f"{names[1]} compared with {names[0]}", (names[0], names[1]), figures, items
    )
    answers().print(str(file), soft_wrap=True)


def _print(found: comparison.Comparison, console: Console) -> None:
    rows = [
        (
            "tasks",
            f"{found.tasks} in both runs, {found.only_first} only in the first, "
            f"{found.only_second} only in the second",
        ),
        (
            "solved",
            f"{found.both_solved} by both, {found.first_solved} only by the first, "
            f"{found.second_solved} only by the second, {found.neither_solved} by neither",
        ),
        *([("ended by a fault", _faults(found))] if any(found.faults) else []),
        ("success rate", _difference(found.difference, found.interval, found.p_value)),
        (
            "goal-condition success",
            _difference(
                found.conditions_difference, found.conditions_interval, found.conditions_p_value
            ),
        ),
    ]
    console.print(facts(rows))
    if found.changed:
        changed = Table("task", "goal", "first", "second", box=None)
        for pair in found.changed:
            ways = [
                Text(ENDINGS[end.ending], "green" if end.success else "red")
                for end in (pair.first, pair.second)
            ]
            changed.add_row(Text(pair.task.id), Text(pair.task.goal, overflow="fold"), *ways)
        console.print(changed)
    if disagree(found.interval, found.p_value) or disagree(
        found.conditions_interval, found.conditions_p_value
    ):
        console.print(_DISAGREEMENT, soft_wrap=True)


def disagree(interval: tuple[float, float], p_value: float) -> bool:
    """Whether the interval and the test, at 95 %, say different things about a difference."""
    low, high = interval
    return (low > 0 or high < 0) != (p_value < 0.05)


def _difference(value: float, interval: tuple[float, float], p_value: float) -> str:
    low, high = interval
    between = f"{100 * low:+.1f} to {100 * high:+.1f}"
    return f"{100 * value:+.1f} percentage points (95 % interval: {between}), p = {p_value:.3g}"


def _faults(found: comparison.Comparison) -> str:
    return "{} in the first run, {} in the second; they count as unsolved".format(*found.faults)


def _plain(found: comparison.Comparison) -> dict[str, JsonValue]:
    plain = {one.name: getattr(found, one.name) for one in fields(found) if one.name != "paired"}
    return plain | {"faults": found.faults, "changed": [_row(pair) for pair in found.changed]}


def _row(pair: comparison.PairedTask) -> JsonValue:
    return {
        "id": pair.task.id,
        "kind": pair.task.kind,
        "goal": pair.task.goal,
        "first": pair.first.ending,
        "second": pair.second.ending,
    }
