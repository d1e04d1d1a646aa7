"""The metrics of every run, by name: one list for `--json`, Python, tables, pages and boards.

Packages of others join through the entry-point group `inhabit.metrics`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from inhabit.envs.core import Task
from inhabit.envs.entries import Entries, resolve
from inhabit.episodes.recording.schema import EndLine

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Scored:
    """A task and how it ended."""

    task: Task
    end: EndLine


@dataclass(frozen=True, slots=True)
class RunMetric:
    """A figure over all episodes of a run that have ended."""

    name: str
    """Key in `--json`, and attribute of `Scores`; the name of a rate ends in "_rate"."""
    title: str
    """Name in tables and on pages, such as "success rate"."""
    of: Callable[[Sequence[Scored]], float | None]
    """The figure; None where there is none, as for no episodes."""
    interval: Callable[[Sequence[Scored]], Interval] | None = None
    """95 % interval of the figure."""
    rate: bool = True
    """Whether the figure is a share, from 0 to 1; otherwise a number, from 0."""

    @property
    def interval_name(self) -> str:
        """The key of its interval: "success_interval" of "success_rate"."""
        return f"{self.name.removesuffix('_rate')}_interval"

    def text(self, value: float) -> str:
        """The figure for people."""
        return f"{100 * value:.1f} %" if self.rate else f"{value:,.1f}"


def _problem(metric: RunMetric) -> str | None:
    # Named, as our own metrics are, since their modules import this one.
    scores = resolve("inhabit.episodes.scoring.scores:Scores")
    free = {metric.name, metric.interval_name}.isdisjoint({*scores.model_fields, *dir(scores)})
    return None if free else "its name, or that of its interval, is one of another figure"


METRICS: Entries[RunMetric] = Entries(
    "metric",
    RunMetric,
    "inhabit.metrics",
    {
        "success_rate": "inhabit.episodes.scoring.builtin_metrics:SUCCESS",
        "goal_condition_rate": "inhabit.episodes.scoring.builtin_metrics:CONDITIONS",
        "plw_success_rate": "inhabit.episodes.scoring.builtin_metrics:WEIGHTED_SUCCESS",
        "plw_goal_condition_rate": "inhabit.episodes.scoring.builtin_metrics:WEIGHTED_CONDITIONS",
        "invalid_action_rate": "inhabit.episodes.scoring.builtin_metrics:INVALID",
        "unmatched_rate": "inhabit.episodes.scoring.builtin_metrics:UNMATCHED",
        "tokens_per_success": "inhabit.episodes.scoring.builtin_metrics:TOKENS",
        "seconds_per_success": "inhabit.episodes.scoring.builtin_metrics:SECONDS",
    },
    check=_problem,
)
