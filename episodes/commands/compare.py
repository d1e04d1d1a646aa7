"""`inhabit compare`: two runs of the same tasks, and whether they differ significantly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from inhabit.episodes.recording.schema import Sight
from inhabit.episodes.reports.wording import ENDINGS
from inhabit.episodes.scoring import comparison
from inhabit.episodes.scoring.comparison import DIFFERENCES, Comparison, PairedTask
from inhabit.episodes.scoring.sight import sight_rows, worth

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
    McNemar's exact test, and the tasks that only one run solved. p is the probability of
    a split at least as uneven if both runs were equally good.
    """
    one, other = Run.open(first), Run.open(second)
    found = comparison.compare(one, other, mixed=mixed)
    _print(found, (one, other), answers())
    if page is not None:
        _write_page(page, found, one, other)
    if as_json:
        print_json({"first": str(first), "second": str(second), **_plain(found)})


def _write_page(file: Path, found: Comparison, one: Run, other: Run) -> None:
    from inhabit.episodes.reports.page.differences import compare_items, write_differences

    names = _names(one.folder.resolve().parts, other.folder.resolve().parts)
    figures = {
        "Tasks": f"{found.tasks} in both",
        f"Solved only by {names[0]}": str(found.first_solved),
        f"Solved only by {names[1]}": str(found.second_solved),
        **({"Ended by a fault": _faults(found)} if any(found.faults) else {}),
        **{
            f"Difference in {DIFFERENCES[name]}": one.text(name)
            for name, one in found.differences.items()
        },
        **dict(_each((one, other), names)),
    }
    items = compare_items(found, one, other, file)
    write_differences(file, f"{names[1]} compared with {names[0]}", names, figures, items)
    answers().print(str(file), soft_wrap=True)


def _names(one: Sequence[str], other: Sequence[str]) -> tuple[str, str]:
    """The names of two folders, with the folders above them as far as these tell them apart."""
    lengths = range(1, max(len(one), len(other)))
    length = next((n for n in lengths if one[-n:] != other[-n:]), 1)
    return str(Path(*one[-length:])), str(Path(*other[-length:]))


def _print(found: Comparison, runs: tuple[Run, Run], console: Console) -> None:
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
        *((DIFFERENCES[name], one.text(name)) for name, one in found.differences.items()),
        *_each(runs, ("first", "second")),
    ]
    console.print(facts(rows))
    if found.changed:
        changed = Table("task", "goal", "first", "second", "they part at", box=None)
        numbers = [{task.id: n for n, task in enumerate(run.tasks)} for run in runs]
        for pair in found.changed:
            one, other = (
                run.episode(of[pair.task.id]) for run, of in zip(runs, numbers, strict=True)
            )
            part = comparison.parting(one, other)
            where = "" if part is None else "step {}: {} / {}".format(*part)
            ways = [
                Text(ENDINGS[end.ending], "green" if end.success else "red")
                for end in (pair.first, pair.second)
            ]
            changed.add_row(
                Text(pair.task.id), Text(pair.task.goal, overflow="fold"), *ways, Text(where)
            )
        console.print(changed)
    if any(one.disagrees for one in found.differences.values()):
        console.print(_DISAGREEMENT, soft_wrap=True)


def _each(runs: tuple[Run, Run], names: tuple[str, str]) -> Iterator[tuple[str, str]]:
    """What is told of either run by itself, by its name."""
    settings = [comparison.changed_settings(run.header) for run in runs]
    for which, run, changed in zip(names, runs, settings, strict=True):
        if settings[0] != settings[1]:
            yield f"{which}: settings", changed or "the default ones"
        if run.header.image is Sight.SHOWN:
            for name, value in sight_rows(worth(run)):
                yield f"{which}: {name}", value


def _faults(found: Comparison) -> str:
    return "{} in the first run, {} in the second; they count as unsolved".format(*found.faults)


def _plain(found: Comparison) -> dict[str, JsonValue]:
    left_out = ("paired", "differences")
    plain = {
        one.name: getattr(found, one.name) for one in fields(found) if one.name not in left_out
    }
    return plain | {
        "differences": {name: one.model_dump() for name, one in found.differences.items()},
        "faults": found.faults,
        "changed": [_row(pair) for pair in found.changed],
    }


def _row(pair: PairedTask) -> JsonValue:
    return {
        "id": pair.task.id,
        "kind": pair.task.kind,
        "goal": pair.task.goal,
        "first": pair.first.ending,
        "second": pair.second.ending,
    }
