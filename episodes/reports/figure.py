"""An episode as a figure for a paper: a strip of its most telling steps, as SVG and PDF."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inhabit.envs.extras import require
from inhabit.episodes.credit.schema import EpisodeCredit, StepCredit
from inhabit.episodes.recording.picture import FRAMES, read_picture
from inhabit.episodes.recording.reader import Attempt, EpisodeRecord, StepRecord
from inhabit.episodes.recording.schema import DecideLine
from inhabit.episodes.reports.wording import ENDINGS, counted
from inhabit.episodes.scoring.likelihood import shares

WIDTHS = {"column": 3.3, "page": 6.9}
"""Inches: one column and two of a paper."""
_MOST = {"column": 3, "page": 5}
"""Steps beside one another."""
_BARS = 3
"""Candidates of a step."""
_STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 6.5,
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "svg.hashsalt": "inhabit",
}
_WORKED, _FAILED, _LOST = "#0a6a4b", "#b0391a", "#d8694b"


def telling_steps(attempt: Attempt, credit: EpisodeCredit | None, most: int) -> Sequence[int]:
    """The first and the last step, and between them the costliest, else evenly spaced ones."""
    decided = [step.number for step in attempt.steps if step.decide]
    if len(decided) <= most:
        return decided
    costly: list[int] = []
    if credit is not None:
        lost = [step for step in credit.steps if step.cause is not None]
        order = sorted(lost, key=_loss, reverse=True)
        costly = [step.step for step in order if step.step in decided[1:-1]][: most - 2]
    gap = (len(decided) - 1) / (most - 1)
    spaced = (decided[round(place * gap)] for place in range(1, most - 1))
    inner = [*costly, *(number for number in spaced if number not in costly)][: most - 2]
    return sorted({decided[0], *inner, decided[-1]})


def write_figure(
    episode: EpisodeRecord,
    credit: EpisodeCredit | None,
    steps: Sequence[int] = (),
    *,
    width: str = "page",
) -> Sequence[Path]:
    """Write `figure-WIDTH.svg` and `.pdf` into the folder of the episode.

    Args:
        episode: recorded.
        credit: of it, where there is one: it draws the cost to go, and chooses the steps.
        steps: to show; the most telling ones by default.
        width: "column" or "page".

    Raises:
        UnavailableError: matplotlib is not installed.
        ValueError: the episode has no such step, or none at all.
    """
    require("matplotlib", "figure", "Figures")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    attempt = episode.last()
    decided = {s.number: s for s in attempt.steps if s.decide} if attempt else {}
    if attempt is None or not decided:
        raise ValueError(f"Episode {episode.number} has no step to show.")
    chosen = list(steps) or telling_steps(attempt, credit, _MOST[width])
    if missing := [number for number in chosen if number not in decided]:
        raise ValueError(f"Episode {episode.number} has no step {missing[0]}.")
    ranked = any((decide := decided[number].decide) and decide.ranked for number in chosen)
    rows = [1.0, 0.5, *([0.42] if ranked else []), *([0.3] if credit is not None else [])]
    inches = WIDTHS[width]
    end = attempt.end
    told = f" ({ENDINGS[end.ending]}, {counted(end.steps, 'step')})" if end else ""
    title = textwrap.wrap(episode.task.goal + told, int(inches * 14))
    high, above = inches / len(chosen) * sum(rows), 0.18 + 0.14 * len(title)
    below = 0.25 if credit is not None else 0.02
    with rc_context(_STYLE):
        drawing = Figure(figsize=(inches, above + high + below))
        total = drawing.get_figheight()
        drawing.subplots_adjust(
            left=0.15 / inches, right=0.98, top=1 - above / total, bottom=below / total
        )
        grid = drawing.add_gridspec(len(rows), len(chosen), height_ratios=rows, hspace=0.08)
        for place, number in enumerate(chosen):
            column = [drawing.add_subplot(grid[row, place]) for row in range(2 + ranked)]
            _draw_step(column, episode, decided[number], inches / len(chosen))
        if credit is not None:
            _draw_value(drawing.add_subplot(grid[-1, :]), credit, chosen)
        drawing.suptitle("\n".join(title), fontsize=7.5, fontweight="bold", y=1 - 0.03 / total)
        files = [episode.folder / f"figure-{width}.{kind}" for kind in ("svg", "pdf")]
        for file in files:
            date = "Date" if file.suffix == ".svg" else "CreationDate"
            drawing.savefig(file, metadata={date: None})
    return files


def _draw_step(
    axes: Sequence[Any], episode: EpisodeRecord, step: StepRecord, inches: float
) -> None:
    decide, act = step.decide, step.act
    assert decide is not None, "Only decided steps are shown."
    file = episode.frame(step.see)
    picture = None if file is None else read_picture(file, episode.run, FRAMES)
    for one in axes:
        one.set_axis_off()
    top, middle, *bottom = axes
    if picture is not None:
        top.imshow(picture, aspect="equal", interpolation="lanczos")
    top.set_title(f"step {step.number}", fontsize=6, pad=2, color="#555")
    wide = int(inches * 19)
    failed = act is not None and act.reason is not None
    words = textwrap.wrap(decide.said, wide)[:2]
    said = textwrap.shorten(decide.description or step.see.text, 3 * wide, placeholder=" ...")
    middle.text(
        0.5,
        1,
        "\n".join(words),
        va="top",
        ha="center",
        weight="bold",
        color=_FAILED if failed else _WORKED,
        transform=middle.transAxes,
    )
    middle.text(
        0.5,
        0.86 - 0.22 * len(words),
        "\n".join(textwrap.wrap(said, wide)),
        va="top",
        ha="center",
        fontsize=5.5,
        style="italic",
        transform=middle.transAxes,
    )
    for one in bottom:
        _draw_candidates(one, decide, wide)


def _draw_candidates(axis: Any, decide: DecideLine, wide: int) -> None:
    axis.set_xlim(0, 1)
    axis.set_ylim(_BARS, 0)
    for place, one in enumerate(shares(decide.ranked)[:_BARS]):
        color = "#d9992b" if one.text == decide.action else "#c9ccd1"
        axis.barh(place + 0.5, one.share, 0.8, color=color)
        name = textwrap.shorten(one.text, wide - 5, placeholder="...")
        axis.text(0.02, place + 0.5, f"{name} {100 * one.share:.0f} %", va="center", fontsize=5.5)


def _draw_value(axis: Any, credit: EpisodeCredit, chosen: Sequence[int]) -> None:
    known = [(step.step, step.before.actions) for step in credit.steps if step.before is not None]
    axis.plot([x for x, _ in known], [y for _, y in known], color="#4a7fb5", linewidth=1)
    lost = [(s.step, s.before.actions) for s in credit.steps if s.cause and s.before is not None]
    for step, cost in lost:
        axis.plot(step, cost, "o", color=_LOST, markersize=2.5, clip_on=False)
    for step in chosen:
        axis.axvline(step, color="#bbb", linewidth=0.5, zorder=0)
    axis.set_ylim(0, 1.1 * max([1, *(y for _, y in known)]))
    axis.locator_params(integer=True, nbins=3, axis="y")
    axis.locator_params(integer=True, axis="x")
    axis.set_title("actions to go before each step; red: steps with regret", fontsize=5.5, pad=2)
    axis.tick_params(labelsize=5, length=2)
    axis.spines[["top", "right"]].set_visible(False)


def _loss(step: StepCredit) -> tuple[bool, int]:
    return step.closed, step.regret.actions if step.regret is not None else 0
