"""The parts of a figure, each drawn on an axis of matplotlib, in any script."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any
from unicodedata import east_asian_width

from PIL.Image import Image

from inhabit.episodes.credit.schema import EpisodeCredit
from inhabit.episodes.recording.disk import FRAMES, read_picture
from inhabit.episodes.recording.reader import EpisodeRecord, StepRecord
from inhabit.episodes.recording.schema import DecideLine
from inhabit.episodes.reports.floorplan import WIDTH, FloorPlan, Spot
from inhabit.episodes.reports.page.episode_data import BeamBranch
from inhabit.episodes.scoring.likelihood import shares

OWN = "sans-serif"


def families(text: str) -> Sequence[str]:
    """The families that have the letters of `text`, matplotlib's own first.

    The others are installed on this machine, and only those that are needed are named. Letters that
    no font has stay boxes, of which matplotlib warns.
    """
    from matplotlib.font_manager import FontProperties, findfont, fontManager

    found, lacking = [OWN], {*text} - {"\n"} - _letters(findfont(FontProperties(family=[OWN])))
    while lacking:
        files = {font.name: font.fname for font in fontManager.ttflist}
        name = max(sorted(files), key=lambda name: len(lacking & _letters(files[name])))
        if not lacking & _letters(files[name]):
            break
        found.append(name)
        lacking -= _letters(files[name])
    return found


def wrap(text: str, letters: int, lines: int | None = None) -> Sequence[str]:
    """The lines of `text`, at most so many, as wide as so many Latin letters.

    A Chinese letter is as wide as two.
    """
    width = sum(1 + (east_asian_width(letter) in "WF") for letter in text)
    fit = max(5, letters * len(text) // max(1, width))
    return textwrap.wrap(text, fit, max_lines=lines, placeholder=" ...")


@cache
def _letters(file: str) -> frozenset[str]:
    """Those of a TrueType font; none of another kind, which a PDF can't hold."""
    from fontTools.ttLib import TTFont

    with TTFont(file, fontNumber=0, lazy=True) as font:
        return frozenset(map(chr, font.getBestCmap() or ())) if "glyf" in font else frozenset()


DPI = 300
"""Pixels of an image on an inch of paper."""
BARS = 3
"""Candidates of a step that are shown, at most."""
SMALL = 5.5
"""Points of small letters."""
LINE, _BOLD_LINE = 0.095, 0.112
"""Inches of a line of small letters, and of one of bold ones."""
_WORKED, _FAILED, _LOST, _CHOSEN = "#0a6a4b", "#b0391a", "#d8694b", "#d9992b"
_PAPER = {"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 0.2}
"""Box behind a name, so that it is read where it crosses a line."""
_WAY, _PALE, _WALL = "#4a7fb5", "#c9ccd1", "#444"

TreeLine = tuple[int, str, bool]
"""A line of a tree: how deep it stands, its words, and whether it tells what was cut."""


@dataclass(frozen=True, slots=True)
class Caption:
    """What stands below the image of a step."""

    action: Sequence[str]
    """Lines of the action."""
    failed: bool
    seen: Sequence[str]
    """Lines of what the agent says it sees, or was told."""

    @property
    def inches(self) -> float:
        """Height of the caption, in inches."""
        return _BOLD_LINE * len(self.action) + LINE * len(self.seen)


def caption(step: StepRecord, inches: float) -> Caption:
    """What stands below the image of a decided step, in a column `inches` wide."""
    decide, act = step.decide, step.act
    assert decide is not None, "Only decided steps are shown."
    wide = int(inches * 19)
    return Caption(
        action=wrap(decide.said, wide, lines=2),
        failed=act is not None and act.reason is not None,
        seen=wrap(decide.description or step.see.text, wide, lines=3),
    )


def picture(episode: EpisodeRecord, step: StepRecord, inches: float) -> Image | None:
    """What a step shows, no larger than a column `inches` wide needs; None without an image."""
    file = episode.frame(step.see)
    found = None if file is None else read_picture(file, episode.run, FRAMES)
    if found is not None:
        found.thumbnail((int(DPI * inches), int(DPI * inches)))
    return found


def draw_step(axis: Any, number: int, shown: Image | None) -> None:
    """Draw the image of a step."""
    axis.set_axis_off()
    if shown is not None:
        axis.imshow(shown, aspect="equal", interpolation="lanczos")
    axis.set_title(f"step {number}", fontsize=6, pad=2, color="#555")


def draw_caption(axis: Any, told: Caption, inches: float) -> None:
    """Write it on an axis that is `inches` high."""
    axis.set_axis_off()
    axis.set_xlim(0, 1)
    axis.set_ylim(inches, 0)
    action, seen = "\n".join(told.action), "\n".join(told.seen)
    color = _FAILED if told.failed else _WORKED
    axis.text(0.5, 0, action, va="top", ha="center", weight="bold", color=color)
    below = _BOLD_LINE * len(told.action)
    axis.text(0.5, below, seen, va="top", ha="center", fontsize=SMALL, style="italic")


def bars_of(step: StepRecord) -> int:
    """How many of the candidates of a step are drawn."""
    return min(BARS, len(step.decide.ranked)) if step.decide else 0


def draw_candidates(axis: Any, decide: DecideLine, inches: float, bars: int) -> None:
    """Draw the likeliest candidates of a decision, in a column `inches` wide, `bars` high."""
    axis.set_axis_off()
    axis.set_xlim(0, 1)
    axis.set_ylim(bars, 0)
    for place, one in enumerate(shares(decide.ranked)[:BARS]):
        color = _CHOSEN if one.text == decide.action else _PALE
        axis.barh(place + 0.5, one.share, 0.85, color=color)
        # Names often differ in their ends alone, so all of a name is shown.
        name = "\n".join(wrap(f"{one.text} {_percent(one.share)}", int(inches * 21), lines=2))
        axis.text(0.02, place + 0.5, name, va="center", fontsize=5, linespacing=0.95)


def draw_map(axis: Any, plan: FloorPlan, chosen: Sequence[int], inches: float) -> None:
    """Draw the map of the page, with the numbers of the `chosen` steps where they were decided.

    It is `inches` wide.
    """
    axis.set_axis_off()
    axis.set_xlim(0, WIDTH)
    axis.set_ylim(plan.height, 0)
    axis.set_aspect("equal")
    for area in plan.furniture:
        edge = _CHOSEN if area.used else _PALE
        axis.fill(*_xy(area.corners), facecolor="#f1f2f4", edgecolor=edge, linewidth=0.5)
    for area in plan.rooms:
        axis.plot(*_xy((*area.corners, area.corners[0])), color=_WALL, linewidth=0.9)
    for area in plan.doors:
        axis.fill(*_xy(area.corners), facecolor="white")
    axis.plot(*_xy([one.at for one in plan.stands]), color=_WAY, linewidth=0.8)
    for mark in (one for one in plan.landmarks if one.named):
        axis.plot(mark.at.x, mark.at.y, "o", color=_CHOSEN, markersize=2)
    told: dict[Spot, list[str]] = {}
    for stand in plan.stands:
        if stand.step in chosen:
            told.setdefault(stand.at, []).append(str(stand.step))
    numbers = {at: ", ".join(steps) for at, steps in told.items()}
    _name_landmarks(axis, plan, 0.034 * WIDTH / inches, numbers)
    for at, steps in numbers.items():
        axis.text(
            at.x,
            at.y,
            steps,
            ha="center",
            va="center",
            fontsize=4.5,
            color="white",
            bbox={"boxstyle": "round,pad=0.25", "facecolor": _WAY, "linewidth": 0},
        )


def _name_landmarks(axis: Any, plan: FloorPlan, letter: float, numbers: Mapping[Spot, str]) -> None:
    """Write names beside landmarks, and none over an earlier one or over the `numbers` of steps.

    Letters are `letter` wide.
    """
    halves = {at: letter * (len(words) + 1) / 2 for at, words in numbers.items()}
    written = [(at.x - half, at.x + half, at.y) for at, half in halves.items()]
    for mark in (one for one in plan.landmarks if one.named):
        name = mark.name
        for leftwards, lower in product((mark.left, not mark.left), (0, 2.1, -2.1)):
            beside, y = mark.at.x + (-8 if leftwards else 8), mark.at.y + lower * letter
            left = beside - letter * len(name) if leftwards else beside
            right = left + letter * len(name)
            if (
                left >= 0
                and right <= WIDTH
                and all(
                    abs(y - at) > 2 * letter or left > end or right < begin
                    for begin, end, at in written
                )
            ):
                side = "right" if leftwards else "left"
                axis.text(beside, y, name, ha=side, va="center", fontsize=4.5, bbox=_PAPER)
                written.append((left, right, y))
                break


def _xy(spots: Sequence[Spot]) -> tuple[list[float], list[float]]:
    return [spot.x for spot in spots], [spot.y for spot in spots]


def tree_lines(tree: BeamBranch, depth: int = 0) -> Iterator[TreeLine]:
    """The lines of a beam's tree, as the page has them."""
    for branch in tree.below:
        yield depth, f"{branch.words} {_percent(branch.share)}", False
        yield from tree_lines(branch, depth + 1)
    if tree.cut:
        yield depth, f"{tree.cut} cut", True


def draw_tree(axis: Any, lines: Sequence[TreeLine], step: int, inches: tuple[float, float]) -> None:
    """Draw the tree of the beam of a step, a line for each prefix.

    It is `inches` wide and high.
    """
    wide, high = inches
    axis.set_axis_off()
    axis.set_xlim(0, wide)
    axis.set_ylim(max(len(lines), high / LINE), 0)
    axis.set_title(f"the beam of step {step}", fontsize=SMALL, pad=2, loc="left")
    for place, (depth, words, cut) in enumerate(lines):
        left = min(0.1 * depth, wide / 2) + 0.08
        above = next((n for n in range(place - 1, -1, -1) if lines[n][0] < depth), -1)
        top = 0.0 if above < 0 else above + 0.85
        axis.plot([left - 0.06] * 2, [top, place + 0.5], color=_PALE, linewidth=0.5)
        axis.plot([left - 0.06, left - 0.01], [place + 0.5] * 2, color=_PALE, linewidth=0.5)
        text = "".join(wrap(words, int((wide - left) * 24), lines=1))
        color = "#888" if cut else "#111"
        axis.text(left, place + 0.5, text, va="center", fontsize=5, color=color)


def draw_value(axis: Any, credit: EpisodeCredit, chosen: Sequence[int]) -> None:
    """Draw the cost to go before each step."""
    known = [(step.step, step.before.actions) for step in credit.steps if step.before is not None]
    axis.plot([x for x, _ in known], [y for _, y in known], color=_WAY, linewidth=1)
    lost = [(s.step, s.before.actions) for s in credit.steps if s.cause and s.before is not None]
    for step, cost in lost:
        axis.plot(step, cost, "o", color=_LOST, markersize=2.5, clip_on=False)
    for step in chosen:
        axis.axvline(step, color="#bbb", linewidth=0.5, zorder=0)
    axis.set_ylim(0, 1.1 * max([1, *(y for _, y in known)]))
    axis.locator_params(integer=True, nbins=3, axis="y")
    axis.locator_params(integer=True, axis="x")
    title = "actions to go before each step; red: steps with regret"
    axis.set_title(title, fontsize=SMALL, pad=2)
    axis.tick_params(labelsize=5, length=2)
    axis.spines[["top", "right"]].set_visible(False)


def _percent(share: float) -> str:
    return f"{100 * share:.0f}\N{NO-BREAK SPACE}%"
