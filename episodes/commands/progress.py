"""What a person sees of a run: a bar while it goes, and a table of what it came to."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from inhabit.episodes.commands.output import remarks
from inhabit.episodes.recording.index import Index
from inhabit.episodes.recording.reader import Episode, Run
from inhabit.episodes.recording.schema import EndLine
from inhabit.episodes.scoring.metrics import Scores

_KINDS = 12
"""So many kinds of task get a line each; more would hide the rest."""


class Bar:
    """Episodes that have ended and how many were solved. Silent where stderr is no terminal."""

    def __init__(self, run: Run, *, silent: bool = False) -> None:
        ends = [end for end in Index(run).ends() if end is not None]
        self._ended, self._solved = len(ends), sum(end.success for end in ends)
        console = remarks()
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[solved]}", markup=False),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=silent or not console.is_terminal,
        )
        self._row = self._progress.add_task(
            f"{run.header.env}, {run.header.agent}",
            total=len(run.tasks),
            completed=self._ended,
            solved=self._share(),
        )

    def ended(self, episode: Episode, end: EndLine) -> None:
        """One more."""
        self._ended += 1
        self._solved += end.success
        self._progress.update(self._row, completed=self._ended, solved=self._share())

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def _share(self) -> str:
        if not self._ended:
            return "none yet"
        return f"{100 * self._solved / self._ended:.0f} % solved"


def print_scores(scores: Scores, console: Console) -> None:
    """A few lines for a person."""
    low, high = scores.success_interval
    seconds = scores.seconds
    rows = [
        ("episodes", f"{scores.episodes} of {scores.planned}"),
        ("success", f"{_percent(scores.success_rate)} (95 %: {_percent(low)} to {_percent(high)})"),
        ("goal conditions", _percent(scores.goal_condition_rate)),
        ("by path length", _by_path(scores)),
        ("invalid actions", _invalid(scores)),
        ("endings", ", ".join(f"{k.value} {v}" for k, v in scores.endings.items() if v) or "none"),
        ("attempts", str(scores.attempts)),
        ("steps", str(scores.steps)),
        *_by_kind(scores),
        (
            "seconds",
            f"simulator {seconds.simulator:.1f}, model {seconds.model:.1f}, "
            f"record {seconds.record:.1f}, other {seconds.other:.1f}",
        ),
        ("record", scores.run),
    ]
    table = Table(box=None, show_header=False)
    for name, value in rows:
        table.add_row(Text(name, "bold"), Text(value, overflow="fold"))
    console.print(table)


def _by_kind(scores: Scores) -> list[tuple[str, str]]:
    """A line for each kind of task, where there are a few."""
    if not 1 < len(scores.kinds) <= _KINDS:
        return []
    return [
        (
            f"  {kind}",
            f"{_percent(one.success_rate)} (95 %: {_percent(one.success_interval[0])} to "
            f"{_percent(one.success_interval[1])}) of {one.episodes}",
        )
        for kind, one in scores.kinds.items()
    ]


def _invalid(scores: Scores) -> str:
    invalid = _percent(scores.invalid_action_rate)
    if not scores.unmatched_rate:
        return invalid
    return f"{invalid} (of all; {_percent(scores.unmatched_rate)} fit no action)"


def _by_path(scores: Scores) -> str:
    success, conditions = scores.plw_success_rate, scores.plw_goal_condition_rate
    if success is None or conditions is None:
        return "none of the tasks has a reference"
    return (
        f"success {_percent(success)}, goal conditions {_percent(conditions)} "
        f"({scores.plw_episodes} episodes)"
    )


def _percent(rate: float) -> str:
    return f"{100 * rate:.1f} %"
