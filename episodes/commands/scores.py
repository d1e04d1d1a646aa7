"""The table that `inhabit run` prints at its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rich.console import Console

from inhabit.episodes.commands.output import facts
from inhabit.episodes.recording.schema import EndLine
from inhabit.episodes.scoring.builtin_metrics import SUCCESS
from inhabit.episodes.scoring.scores import Measured, Scores
from inhabit.episodes.scoring.sight import sight_rows

_MOST_KINDS = 12
"""Task types that get a row each; more would hide the other rows."""
_MOST_CAUSES = 3
"""Causes of faults that are printed."""
_LONGEST_CAUSE = 400
"""Characters of each."""


def print_scores(scores: Scores, console: Console) -> None:
    """Print the metrics of a run."""
    seconds = scores.seconds
    read = f"{scores.tokens.read:,} read, {scores.tokens.written:,} written"
    success, *others = [(one.metric.title, str(one)) for one in scores.measured()]
    rows = [
        ("episodes", f"{scores.episodes} of {scores.planned}"),
        (success[0], success[1] + _faults(scores)),
        *_by_kind(scores),
        *_by_benchmark(scores),
        *others,
        *([] if scores.sight is None else sight_rows(scores.sight)),
        ("endings", ", ".join(f"{k.value} {v}" for k, v in scores.endings.items() if v) or "none"),
        ("attempts", str(scores.attempts)),
        ("steps", str(scores.steps)),
        *([("tokens", read)] if scores.tokens.read else ()),
        (
            "seconds",
            f"simulator {seconds.simulator:.1f}, model {seconds.model:.1f}, "
            f"record {seconds.record:.1f}, other {seconds.other:.1f}",
        ),
        ("run folder", scores.run),
    ]
    console.print(facts(rows))


def print_faults(ends: Iterable[EndLine | None], console: Console) -> None:
    """Print what ended episodes early, by a fault or a spent budget: the most frequent first."""
    # The sentence that an error begins with, without what the simulator printed.
    causes = Counter(
        next(iter(end.error.strip().splitlines()), "")[:_LONGEST_CAUSE]
        for end in ends
        if end is not None and end.error
    )
    if not causes:
        return
    total = causes.total()
    episodes = "1 episode" if total == 1 else f"{total} episodes"
    console.print(f"\n{episodes} ended early:", style="bold")
    for cause, count in causes.most_common(_MOST_CAUSES):
        console.print(f"  {count} x {cause}", soft_wrap=True)
    if (others := len(causes) - _MOST_CAUSES) > 0:
        console.print(f"  and {others} other causes; the page of each episode has its own.")


def _by_benchmark(scores: Scores) -> list[tuple[str, str]]:
    """A line for each metric of the benchmark that was run."""
    if (found := scores.benchmark) is None:
        return []
    values = {name: f"{value:g}" for name, value in found.metrics.items()} | {
        name: f"failed: it {why}" for name, why in found.failed.items()
    }
    return [
        ("benchmark", f"{found.name}, version {found.version}"),
        *((f"  {name}", value) for name, value in values.items()),
    ]


def _by_kind(scores: Scores) -> list[tuple[str, str]]:
    if not 1 < len(scores.kinds) <= _MOST_KINDS:
        return []
    return [
        (
            f"  {kind}",
            f"{Measured(SUCCESS, one.success_rate, one.success_interval)} of {one.episodes}",
        )
        for kind, one in scores.kinds.items()
    ]


def _faults(scores: Scores) -> str:
    return f", {scores.faults} of {scores.episodes} ended by a fault" if scores.faults else ""
