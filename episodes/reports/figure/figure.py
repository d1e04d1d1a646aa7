"""An episode as a figure for a paper: a strip of its most telling steps, as SVG and PDF."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inhabit.envs.extras import require
from inhabit.episodes.credit.schema import EpisodeCredit, StepCredit
from inhabit.episodes.recording.disk import refused, write_whole
from inhabit.episodes.recording.reader import Attempt, EpisodeRecord, Run, StepRecord
from inhabit.episodes.recording.schema import EndLine
from inhabit.episodes.reports.figure.parts import (
    DPI,
    LINE,
    TreeLine,
    bars_of,
    caption,
    draw_candidates,
    draw_caption,
    draw_map,
    draw_step,
    draw_tree,
    draw_value,
    families,
    picture,
    tree_lines,
    wrap,
)
from inhabit.episodes.reports.floorplan import WIDTH, FloorPlan, floor_plan, scene_plan
from inhabit.episodes.reports.page.document import cut
from inhabit.episodes.reports.page.episode_data import beam_tree
from inhabit.episodes.reports.wording import ENDINGS, counted
from inhabit.episodes.scoring.likelihood import shares

WIDTHS = {"column": 3.3, "page": 6.9}
"""Inches: one column and two of a paper."""
_MOST = {"column": 3, "page": 5}
"""Steps beside one another, at most."""
_WIDEST = 12
"""Steps that a user may have beside one another."""
_TITLE = 5
"""Lines of a goal, at most."""
_MAP = 0.42
"""Share of the width that the map has."""
_GAP = 0.11
"""Inches between rows."""
_LINES = 18
"""Lines of a beam's tree, at most."""
_STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 6.5,
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "svg.hashsalt": "inhabit",
    "text.parse_math": False,
}


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
    run: Run,
    episode: EpisodeRecord,
    credit: EpisodeCredit | None,
    steps: Sequence[int],
    *,
    width: str,
) -> Sequence[Path]:
    """Write `figure-WIDTH.svg` and `.pdf` into the folder of the episode.

    Without `steps` the most telling ones are chosen, by `credit`, which also draws the cost to go.

    Raises:
        UnavailableError: matplotlib is not installed.
        ValueError: the episode has no such step, or none at all; or the steps are too many.
        DiskError: a file can't be written.
    """
    require("matplotlib", "figure", "Figures")
    from matplotlib import rc_context

    attempt = episode.last()
    decided = {s.number: s for s in attempt.steps if s.decide} if attempt else {}
    if attempt is None or not decided:
        raise ValueError(f"Episode {episode.number} has no step to show.")
    chosen = list(steps) or telling_steps(attempt, credit, _MOST[width])
    if missing := [number for number in chosen if number not in decided]:
        raise ValueError(f"Episode {episode.number} has no step {missing[0]}.")
    if len(chosen) > _WIDEST:
        raise ValueError(f"{len(chosen)} steps are too wide. Show at most {_WIDEST}.")
    shown = [decided[number] for number in chosen]
    plan = floor_plan(attempt, scene_plan(run.header, attempt))
    with rc_context(_STYLE):
        drawing = _drawn(episode, shown, credit, plan, attempt.end, WIDTHS[width])
        files = [episode.folder / f"figure-{width}.{kind}" for kind in ("svg", "pdf")]
        for file in files:
            date = "Date" if file.suffix == ".svg" else "CreationDate"
            drawn = io.BytesIO()
            drawing.savefig(drawn, format=file.suffix[1:], dpi=DPI, metadata={date: None})
            with refused(file):
                write_whole(file, run.folder, drawn.getvalue())
    return files


def _drawn(
    episode: EpisodeRecord,
    shown: Sequence[StepRecord],
    credit: EpisodeCredit | None,
    plan: FloorPlan | None,
    end: EndLine | None,
    inches: float,
) -> Any:
    """The figure. Each row has its height in inches, of what it holds."""
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    chosen, each = [step.number for step in shown], 0.93 * inches / len(shown)
    pictures = [picture(episode, step, each) for step in shown]
    tallest = max([0.02, *(one.height / one.width for one in pictures if one is not None)])
    captions, beam = [caption(step, each) for step in shown], _beam(shown, credit)
    bars = max(map(bars_of, shown))
    rows = [
        each * min(1, tallest),
        max(one.inches for one in captions),
        *([0.18 * bars] if bars else []),
    ]
    below = [_MAP * inches * plan.height / WIDTH] if plan else []
    below += [LINE * len(beam[1])] if beam else []
    rows += [max(below)] if below else []
    rows += [0.25] if credit is not None else []
    told = f" ({ENDINGS[end.ending]}, {counted(end.steps, 'step')})" if end else ""
    letters = int(inches * 14)
    title = wrap(cut(episode.task.goal, _TITLE * letters) + told, letters)
    above, margin = 0.18 + 0.14 * len(title), 0.25 if credit is not None else 0.02
    high = sum(rows) + _GAP * (len(rows) - 1)
    drawing = Figure(figsize=(inches, above + high + margin))
    total = drawing.get_figheight()
    drawing.subplots_adjust(
        left=0.15 / inches, right=0.98, top=1 - above / total, bottom=margin / total
    )
    space = _GAP * len(rows) / sum(rows)
    grid = drawing.add_gridspec(
        len(rows), len(shown), height_ratios=rows, hspace=space, wspace=0.08
    )
    for place, (step, words) in enumerate(zip(shown, captions, strict=True)):
        draw_step(drawing.add_subplot(grid[0, place]), step.number, pictures[place])
        draw_caption(drawing.add_subplot(grid[1, place]), words, rows[1])
        if bars and step.decide is not None:
            draw_candidates(drawing.add_subplot(grid[2, place]), step.decide, each, bars)
    if below:
        left = _MAP if plan else 0.01
        halves = grid[2 + (bars > 0), :].subgridspec(
            1, 2, width_ratios=(left, 1 - left), wspace=0.04
        )
        if plan is not None:
            draw_map(drawing.add_subplot(halves[0]), plan, chosen, _MAP * inches)
        if beam is not None:
            size = (1 - left) * inches, max(below)
            draw_tree(drawing.add_subplot(halves[1]), beam[1], beam[0], size)
    if credit is not None:
        draw_value(drawing.add_subplot(grid[-1, :]), credit, chosen)
    drawing.suptitle("\n".join(title), fontsize=7.5, fontweight="bold", y=1 - 0.03 / total)
    texts: Sequence[Text] = drawing.findobj(Text)
    for text in texts:
        fonts = families(text.get_text())
        text.set_fontfamily(fonts)
        if len(fonts) > 1:
            text.set_fontweight("normal")  # Fonts of many letters seldom have another one.
    return drawing


def _beam(
    shown: Sequence[StepRecord], credit: EpisodeCredit | None
) -> tuple[int, Sequence[TreeLine]] | None:
    """The costliest of the steps that a beam decided, else the first, and its tree."""
    losses = {step.step: _loss(step) for step in credit.steps} if credit is not None else {}
    trees = {
        step.number: tree
        for step in shown
        if step.decide and (tree := beam_tree(shares(step.decide.ranked), step.candidates))
    }
    if not trees:
        return None
    number = max(trees, key=lambda step: (losses.get(step, (False, 0)), -step))
    lines = [*tree_lines(trees[number])]
    left_out = len(lines) - _LINES
    if left_out > 0:
        lines = [*lines[:_LINES], (0, counted(left_out, "more line"), True)]
    return number, lines


def _loss(step: StepCredit) -> tuple[bool, int]:
    return step.closed, step.regret.actions if step.regret is not None else 0
