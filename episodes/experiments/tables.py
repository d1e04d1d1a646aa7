"""The figures of an experiment: with intervals over tasks and seeds, and paired differences."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inhabit.envs import printable
from inhabit.envs.core import Task
from inhabit.episodes.experiments.cells import ExperimentCell
from inhabit.episodes.experiments.schema import Experiment
from inhabit.episodes.recording.schema import EndLine, Sight
from inhabit.episodes.scoring.builtin_metrics import Estimate, conditions_met, hierarchical
from inhabit.episodes.scoring.comparison import actions_spent, directness, sign_test
from inhabit.episodes.scoring.sight import INSTEAD

Ends = Mapping[str, Sequence[EndLine]]
"""Folder of a run -> the ends of its episodes, by task."""


@dataclass(frozen=True, slots=True)
class Column:
    """A figure of every episode, whose mean is told."""

    title: str
    of: Callable[[Task, EndLine, int | None], float]
    """(task, end, the limit of steps that replaces the task's own) -> the figure."""
    rate: bool = True
    weighted: bool = False
    """Whether a task weighs as much as its reference cost; one without it weighs nothing."""
    difference: str = ""
    """The name of a difference; none is told without it."""


COLUMNS = (
    Column("success", lambda task, end, most: float(end.success), difference="success"),
    Column("goal conditions", lambda task, end, most: conditions_met(end)),
    Column(
        "path-length weighted success",
        lambda task, end, most: directness(task, end),
        weighted=True,
        difference="path-length weighted success",
    ),
    Column("actions", actions_spent, rate=False, difference="regret, actions"),
    Column("tokens", lambda _, end, most: end.tokens.read + end.tokens.written, rate=False),
)
"""An unsolved episode counts as many "actions" as it might have taken, as in a comparison."""


@dataclass(frozen=True, slots=True)
class CellResult:
    """A figure of an agent in an environment, or a difference from another one."""

    env: str
    agent: str
    sight: Sight
    column: Column
    estimate: Estimate
    against: str
    """What a difference is counted from; empty for a figure."""
    p_value: float | None

    def text(self) -> str:
        """The result for people: rates in per cent."""
        one, by = self.estimate, 100 if self.column.rate else 1
        sign = "+" if self.against else ""
        mean, low, high = (f"{by * value:{sign}.1f}" for value in (one.mean, one.low, one.high))
        return f"{mean} [{low}, {high}]" + (f", p = {self.p_value:.3g}" if self.against else "")


def results(found: Sequence[ExperimentCell], ends: Ends) -> Sequence[CellResult]:
    """All figures, environment by environment: those of agents, then differences from the first
    agent under the first sight, then of every agent with its own pictures from the same without.
    """
    by_name: dict[tuple[str, str, Sight], list[ExperimentCell]] = {}
    for cell in found:
        by_name.setdefault((cell.env.name, cell.agent.name, cell.sight), []).append(cell)
    told = [one for group in by_name.values() for one in _figures(group, ends)]
    for env in dict.fromkeys(cell.env.name for cell in found):
        first, *others = (
            cells
            for (where, _, sight), cells in by_name.items()
            if (where, sight) == (env, found[0].sight)
        )
        for group in others:
            told += _differences(group, first, named(first[0].agent.name, first[0].sight), ends)
        for (where, agent, seen), own in by_name.items():
            for sight, name in INSTEAD.items() if (where, seen) == (env, Sight.SHOWN) else ():
                if group := by_name.get((env, agent, sight), []):
                    told += _differences(own, group, name, ends)
    return told


def _figures(group: Sequence[ExperimentCell], ends: Ends) -> Iterator[CellResult]:
    for column in COLUMNS:
        values, weights = _values(group, column, ends)
        if weights.any() and (column.title != "tokens" or values.any()):
            yield _result(group[0], column, hierarchical(values, weights, rate=column.rate))


def _differences(
    group: Sequence[ExperimentCell], base: Sequence[ExperimentCell], against: str, ends: Ends
) -> Iterator[CellResult]:
    for column in COLUMNS:
        values, weights = _values(group, column, ends)
        gains = values - _values(base, column, ends)[0]
        if column.difference and weights.any():
            by_task = gains[weights > 0].mean(axis=1)
            p_value = sign_test(int((by_task > 0).sum()), int((by_task < 0).sum()))
            estimate = hierarchical(gains, weights, rate=column.rate, signed=True)
            yield _result(group[0], column, estimate, against, p_value)


def _values(
    group: Sequence[ExperimentCell], column: Column, ends: Ends
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(tasks, seeds), and the weights of the tasks."""
    tasks = group[0].tasks
    values = [
        [column.of(task, ends[cell.folder][number], cell.plan.max_steps) for cell in group]
        for number, task in enumerate(tasks)
    ]
    weights = [float(task.reference_cost or 0) if column.weighted else 1.0 for task in tasks]
    return np.array(values, float), np.array(weights)


def _result(
    cell: ExperimentCell,
    column: Column,
    one: Estimate,
    against: str = "",
    p_value: float | None = None,
) -> CellResult:
    return CellResult(cell.env.name, cell.agent.name, cell.sight, column, one, against, p_value)


@dataclass(frozen=True, slots=True)
class ResultTable:
    """Rows of texts under a head."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """The table as Markdown."""
        lines = [self.head, ["---"] * len(self.head), *self.rows]
        body = "".join(f"| {' | '.join(map(_plain, line))} |\n" for line in lines)
        return f"{_plain(self.caption)}\n\n{body}\n"

    def latex(self) -> str:
        """The table in LaTeX, as wide as the line, for the packages booktabs and tabularx."""
        head, *body = (" & ".join(map(_tex, row)) + " \\\\\n" for row in (self.head, *self.rows))
        columns = f"*{{{len(self.head)}}}{{>{{\\raggedright\\arraybackslash}}X}}"
        return (
            f"\\begin{{table}}\n\\centering\\footnotesize\\setlength{{\\tabcolsep}}{{3pt}}\n"
            f"\\caption{{{_tex(self.caption)}}}\\smallskip\n"
            f"\\begin{{tabularx}}{{\\linewidth}}{{{columns}}}\n\\toprule\n{head}\\midrule\n"
            f"{''.join(body)}\\bottomrule\n\\end{{tabularx}}\n\\end{{table}}\n\n"
        )


def tables(experiment: Experiment, told: Sequence[CellResult]) -> Iterator[ResultTable]:
    """For each environment its figures, with published ones below, and its differences."""
    measured = Sight.SHOWN in experiment.sights and len(experiment.sights) > 1
    for env in dict.fromkeys(one.env for one in told):
        here = [one for one in told if one.env == env]
        columns = [c for c in COLUMNS if any(one.column == c and not one.against for one in here)]
        rows = [
            [name, *(_text(here, name, column, "") for column in columns)]
            for name in dict.fromkeys(_name(one) for one in here if not one.against)
        ]
        for row in experiment.published:
            if row.env == env:
                cells = [f"{100 * row.success_rate:.1f}", *[""] * (len(columns) - 1)]
                rows.append([f"{row.agent} ({row.source})", *cells])
        sight = "" if measured else " Sight: not measured."
        caption = (
            f"{env}: means with 95 % intervals over tasks and seeds. An unsolved episode counts as "
            f"many actions as it might have taken.{sight}"
        )
        yield ResultTable(
            caption, ["agent", *(_title(column.title, column) for column in columns)], rows
        )
        pairs = dict.fromkeys((_name(one), one.against) for one in here if one.against)
        compared = [c for c in COLUMNS if any(one.column == c and one.against for one in here)]
        if pairs:
            yield ResultTable(
                f"{env}: differences on the same tasks and seeds, with 95 % intervals and exact "
                "sign tests over tasks.",
                ["agent", "against", *(_title(c.difference, c) for c in compared)],
                [[a, b, *(_text(here, a, column, b) for column in compared)] for a, b in pairs],
            )


def as_csv(told: Sequence[CellResult]) -> str:
    """Every figure on a line of its own; rates from 0 to 1."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    head = ("environment", "agent", "sight", "against", "figure", "mean", "low", "high", "p")
    writer.writerow(head)
    for one in told:
        figure = one.column.difference if one.against else one.column.title
        numbers = (one.estimate.mean, one.estimate.low, one.estimate.high)
        p = "" if one.p_value is None else f"{one.p_value:.6g}"
        texts = (one.env, one.agent, one.sight.value, one.against, figure)
        writer.writerow([*map(printable.cell, texts), *(f"{number:.6g}" for number in numbers), p])
    return stream.getvalue()


def _title(name: str, column: Column) -> str:
    return f"{name}, %" if column.rate else name


def named(agent: str, sight: Sight) -> str:
    """An agent and the images that it was shown."""
    return agent if sight is Sight.SHOWN else f"{agent}, {INSTEAD[sight]}"


def _name(one: CellResult) -> str:
    return named(one.agent, one.sight)


def _text(here: Sequence[CellResult], name: str, column: Column, against: str) -> str:
    found = (r for r in here if (_name(r), r.column, r.against) == (name, column, against))
    one = next(found, None)
    return "" if one is None else one.text()


def _plain(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


_TEX = {
    "\\": r"\textbackslash{}",
    **{c: f"\\{c}" for c in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def _tex(text: str) -> str:
    return "".join(_TEX.get(character, character) for character in " ".join(text.split()))
