"""A video of several episodes side by side, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from PIL import Image, ImageDraw

from inhabit.episodes.recording.reader import Attempt, EpisodeRecord, StepRecord
from inhabit.episodes.recording.schema import RunHeader
from inhabit.episodes.reports.video.lettering import font, shorten, wrap, write
from inhabit.episodes.reports.video.slide import ACCENT, BAD, GOOD, INK, PAPER, RAISED, SOFT
from inhabit.episodes.reports.video.slides import LAST, TITLE, picture
from inhabit.episodes.reports.wording import ENDINGS, counted, spoken

MOST = 6
"""Episodes that fit side by side."""
_CELL, _STRIP, _GAP, _TOP = 416, 112, 16, 92
"""Pixels: a side's image, the strip below it, what is between sides, and the heading."""

Frame = tuple[Image.Image, int]
"""An image, and how many frames of the video it stays."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the episodes."""

    name: str
    """What sets it apart from the others, such as its agent and model."""
    episode: EpisodeRecord
    attempt: Attempt


def name_of(header: RunHeader) -> str:
    """Who acted, in a few words."""
    return header.agent if header.model is None else f"{header.agent} with {header.model}"


def size_together(sides: int) -> tuple[int, int]:
    """Width and height of such a video in pixels."""
    columns, rows = _grid(sides)
    width = columns * _CELL + (columns + 1) * _GAP
    return width, _TOP + rows * (_CELL + _STRIP + _GAP)


def frames_together(sides: Sequence[Side]) -> Iterator[Frame]:
    """A title, every step of all of them at once, and how each ended.

    What they do alike at first is left out. Each step is two frames: what each does beside the
    image before it, and its result beside the image that shows it.

    Whoever has ended waits for the others with its ending shown.
    """
    longest = max(len(side.attempt.steps) for side in sides)
    yield _frame(sides, None), TITLE
    for step in range(_parting(sides), longest):
        yield _frame(sides, step, done=False), 1
        yield _frame(sides, step), 1
    yield _frame(sides, longest), LAST


def _parting(sides: Sequence[Side]) -> int:
    """The first step at which they do not all do the same."""
    taken = [[s.decide and s.decide.action for s in side.attempt.steps] for side in sides]
    same = sum(1 for _ in takewhile(lambda row: len({*row}) == 1, zip(*taken, strict=False)))
    one_task = len({side.episode.task.id for side in sides}) == 1
    return same if one_task and same < max(map(len, taken)) else 0


def _grid(sides: int) -> tuple[int, int]:
    columns = sides if sides <= 3 else (sides + 1) // 2
    return columns, -(-sides // columns)


def _frame(sides: Sequence[Side], step: int | None, *, done: bool = True) -> Image.Image:
    canvas = Image.new("RGB", size_together(len(sides)), PAPER)
    pen = ImageDraw.Draw(canvas)
    _heading(pen, canvas.width, sides, step)
    columns, _ = _grid(len(sides))
    for place, side in enumerate(sides):
        row, column = divmod(place, columns)
        corner = (_GAP + column * (_CELL + _GAP), _TOP + row * (_CELL + _STRIP + _GAP))
        _cell(canvas, pen, corner, side, step, done=done)
    return canvas


def _heading(pen: ImageDraw.ImageDraw, width: int, sides: Sequence[Side], step: int | None) -> None:
    goals = dict.fromkeys(side.episode.task.goal for side in sides)
    beneath = len(goals) > 1 and goals.keys() == {side.name for side in sides}
    goal = f"{len(sides)} episodes" if beneath else " / ".join(goals)
    write(pen, (_GAP, 26), shorten(goal, 28, width - 180), INK, 28)
    longest = max(len(side.attempt.steps) for side in sides) - 1
    if step is not None and step < longest:
        pen.text((width - _GAP, 34), f"step {step + 1}", SOFT, font(18), anchor="ra")


def _cell(
    canvas: Image.Image,
    pen: ImageDraw.ImageDraw,
    corner: tuple[int, int],
    side: Side,
    step: int | None,
    *,
    done: bool,
) -> None:
    left, top = corner
    steps = side.attempt.steps
    at = min(0 if step is None else step + done, len(steps) - 1)
    box = (left, top, left + _CELL, top + _CELL)
    pen.rectangle(box, RAISED)
    if steps and (shown := picture(side.episode, steps[at], _CELL)) is not None:
        across, down = (_CELL - shown.width) // 2, (_CELL - shown.height) // 2
        canvas.paste(shown, (left + across, top + down))
    elif steps:
        for number, line in enumerate(wrap(steps[at].see.text, 18, _CELL - 48, 12)):
            write(pen, (left + 24, top + 24 + 26 * number), line, INK, 18)
    write(pen, (left, top + _CELL + 10), shorten(side.name, 15, _CELL), SOFT, 15)
    now = None if step is None or step >= len(steps) else steps[step]
    over = step is not None and (now is None or now.decide is None)
    _told(pen, (left, top + _CELL + 34), side, now, over=over, done=done)


def _told(
    pen: ImageDraw.ImageDraw,
    corner: tuple[int, int],
    side: Side,
    step: StepRecord | None,
    *,
    over: bool,
    done: bool,
) -> None:
    left, top = corner
    end = side.attempt.end
    if over:
        verdict = "Interrupted" if end is None else ENDINGS[end.ending]
        solved = end is not None and end.success
        pen.text((left, top), verdict, GOOD if solved else BAD, font(24))
        if end is not None:
            count = f"{end.met} of {counted(end.total, 'condition')}, {counted(end.steps, 'step')}"
            pen.text((left, top + 34), count, SOFT, font(16))
        return
    if step is None:
        if side.attempt.start.total:
            count = counted(side.attempt.start.total, "goal condition")
            pen.text((left, top), count, SOFT, font(16))
        return
    if step.decide is not None:
        said = step.decide.action or ("stop" if step.decide.stop else "no readable action")
        write(pen, (left, top), shorten(spoken(said), 20, _CELL), ACCENT, 20)
    if step.act is not None and done:
        colour = GOOD if step.act.reason is None else BAD
        for number, line in enumerate(wrap(spoken(step.act.feedback), 15, _CELL, 2)):
            write(pen, (left, top + 30 + 20 * number), line, colour, 15)
