"""The page of a training: loss curves and settings in one self-contained file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from pydantic import JsonValue

from inhabit.eie.tuning.log import LogLine
from inhabit.episodes.reports.page.document import templates

_WIDTH, _HEIGHT = 560.0, 200.0
_MOST = 400
"""Maximum number of points of a curve; more are averaged."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A line in a plot: its label, the name of its colour, and its points in pixels."""

    name: str
    colour: str
    points: str
    last: str
    """The last value, as its label shows it."""


@dataclass(frozen=True, slots=True)
class Plot:
    """Curves over the steps, on a common scale."""

    title: str
    curves: tuple[Curve, ...]
    marks: tuple[tuple[float, str], ...]
    """Position in pixels and value of each horizontal grid line."""


def page(asked: Mapping[str, JsonValue], lines: Sequence[LogLine]) -> str:
    """Render the page of a training from its request and its log."""
    steps = [line for line in lines if line.kind == "step"]
    judged = [line for line in lines if line.kind == "judge"]
    last = max((line.step for line in lines), default=1) or 1
    plots = [
        _plot(
            "Loss per example",
            {
                "training": ("train", [(s.step, s.loss) for s in steps]),
                "validation, answer alone": ("judge", [(j.step, j.loss) for j in judged]),
            },
            last,
        ),
        _plot(
            "Answers that are the likeliest candidate",
            {
                "training": ("train", _known((s.step, s.accuracy) for s in steps)),
                "validation": ("judge", _known((j.step, j.accuracy) for j in judged)),
                "chance": ("chance", _known((j.step, j.chance) for j in judged)),
            },
            last,
            top=1.0,
        ),
        _plot("Rate", {"rate": ("train", [(s.step, s.rate or 0.0) for s in steps])}, last),
        _plot(
            "Norm of the gradients",
            {"norm": ("train", [(s.step, s.norm or 0.0) for s in steps])},
            last,
        ),
    ]
    return (
        templates(Path(__file__).parent)
        .get_template("curves.html")
        .render(
            asked=asked,
            plots=[plot for plot in plots if plot.curves],
            judged=judged,
            ticks=((0.0, "0"), (_WIDTH, f"step {last}")),
            width=_WIDTH,
            height=_HEIGHT,
            seconds=sum(line.seconds for line in lines),
            examples=sum(line.examples for line in steps),
        )
    )


def _plot(
    title: str,
    series: Mapping[str, tuple[str, Sequence[tuple[int, float]]]],
    last: int,
    top: float | None = None,
) -> Plot:
    finite = {
        name: (colour, [(step, value) for step, value in points if math.isfinite(value)])
        for name, (colour, points) in series.items()
    }
    found = {name: one for name, one in finite.items() if one[1]}
    highest = top or max((y for _, points in found.values() for _, y in points), default=1.0) or 1.0
    ticks = _ticks(highest)

    def place(step: float, value: float) -> str:
        x, y = step / last * _WIDTH, _HEIGHT * (1 - value / ticks[-1])
        return f"{x:.1f},{y:.1f}"

    curves = []
    for name, (colour, points) in found.items():
        thinned = _thinned(points)
        path = " ".join(place(step, value) for step, value in thinned)
        curves.append(Curve(name, colour, path, _said(points[-1][1])))
    marks = tuple((_HEIGHT * (1 - tick / ticks[-1]), _said(tick)) for tick in ticks)
    return Plot(title, tuple(curves), marks)


def _known(points: Iterable[tuple[int, float | None]]) -> Sequence[tuple[int, float]]:
    return [(step, value) for step, value in points if value is not None]


def _thinned(points: Sequence[tuple[int, float]]) -> Sequence[tuple[float, float]]:
    """At most `_MOST` points, each the mean of its neighbourhood."""
    if len(points) <= _MOST:
        return points
    bounds = [round(i * len(points) / _MOST) for i in range(_MOST + 1)]
    parts = [points[a:b] for a, b in pairwise(bounds)]
    return [(sum(s for s, _ in p) / len(p), sum(v for _, v in p) / len(p)) for p in parts]


def _ticks(highest: float) -> Sequence[float]:
    """Five round numbers from 0 to `highest` or a little more."""
    size = 1e-12
    while True:
        for step in (size, 2 * size, 2.5 * size, 5 * size):
            if step * 4 >= highest * (1 - 1e-6):
                return [step * i for i in range(5)]
        size *= 10


def _said(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"
