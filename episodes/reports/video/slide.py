"""Draws one video slide: the image, and beside it reasoning, action, feedback and the map."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw

from inhabit.episodes.reports.floorplan import WIDTH, FloorPlan, Spot
from inhabit.episodes.reports.video.lettering import font, font_for, length, shorten, wrap, write
from inhabit.episodes.reports.wording import counted
from inhabit.episodes.scoring.likelihood import Share

PICTURE, PANEL = 648, 504
SIZE = (PICTURE + PANEL, PICTURE)
"""Width and height of a slide in pixels, both even as video encoders require."""
_MARGIN = 32
_INNER = PANEL - 2 * _MARGIN
_MAP, _MAP_BESIDE_SHARES = 260, 180
"""Height of a map at most."""

PAPER = (22, 24, 28)
RAISED = (36, 39, 45)
_TRACK = (50, 54, 61)
INK = (240, 237, 230)
SOFT = (158, 163, 171)
ACCENT = (240, 190, 92)
GOOD = (98, 199, 160)
BAD = (240, 133, 105)


@dataclass(frozen=True, slots=True)
class Slide:
    """What one slide of the video says. Empty texts are left out."""

    picture: Image.Image | None
    """RGB image, as `fit` gives it; None where there was nothing to see."""
    seen: str
    """What the agent was told, shown where there is no image."""
    heading: str
    goal: str
    count: str = ""
    """Number of the step, such as "step 3 of 15"."""
    facts: tuple[tuple[str, str], ...] = ()
    """What a title card or the ending lists: names and values."""
    verdict: str = ""
    """How the episode ended, on the last slide."""
    action: str = ""
    shares: Sequence[Share] = ()
    reasoning: str = ""
    feedback: str = ""
    worked: bool = True
    steps: tuple[bool | None, ...] = ()
    """Whether each step of the episode worked; None where it is still to come."""
    met: int = 0
    total: int = 0
    plan: FloorPlan | None = None
    """The way, drawn where there is room for it; None where nothing tells it."""
    at: int = 0
    """The step at which the agent stands on `plan`."""


def draw(slide: Slide) -> Image.Image:
    """The slide as an RGB image of `SIZE`."""
    canvas = Image.new("RGB", SIZE, PAPER)
    canvas.paste(_left(slide), (0, 0))
    _Panel(ImageDraw.Draw(canvas)).write(slide)
    return canvas


def fit(picture: Image.Image, side: int = PICTURE) -> Image.Image:
    """`picture` scaled to a square of `side` pixels, its shape kept."""
    scale = min(side / picture.width, side / picture.height)
    # Of few pixels, each stays a square; many are smoothed.
    how = Image.Resampling.NEAREST if scale >= 4 else Image.Resampling.BICUBIC
    width, height = round(picture.width * scale), round(picture.height * scale)
    return picture.resize((max(1, width), max(1, height)), how)


def _left(slide: Slide) -> Image.Image:
    """The image in the middle of the left part; without one, what the agent was told."""
    box = Image.new("RGB", (PICTURE, PICTURE), RAISED)
    if slide.picture is None:
        lines = wrap(slide.seen, 24, PICTURE - 4 * _MARGIN, 14)
        _lines(ImageDraw.Draw(box), lines, (2 * _MARGIN, 2 * _MARGIN), 24, INK)
    else:
        width, height = slide.picture.size
        box.paste(slide.picture, ((PICTURE - width) // 2, (PICTURE - height) // 2))
    return box


class _Panel:
    """Writes from the top down and from the bottom up; what no longer fits between is left out."""

    def __init__(self, pen: ImageDraw.ImageDraw) -> None:
        self.pen = pen
        self.left = PICTURE + _MARGIN
        self.top = _MARGIN - 4
        self.bottom = PICTURE - _MARGIN

    def write(self, slide: Slide) -> None:
        self._heading(slide)
        self._timeline(slide)
        if slide.plan is not None and not slide.facts:
            self._plan(slide.plan, slide.at, _MAP_BESIDE_SHARES if slide.shares else _MAP)
        if slide.verdict:
            for line in wrap(slide.verdict, 34, _INNER, 3):
                self._text(line, 34, GOOD if slide.worked else BAD, gap=6)
            self.top += 20
        self._facts(slide.facts)
        if slide.feedback:
            self._feedback(slide.feedback, GOOD if slide.worked else BAD)
        if slide.action:
            for line in wrap(slide.action, 22, _INNER, 2):
                self._text(line, 22, ACCENT, gap=4)
            self.top += 14
        self._shares(slide.shares, slide.action)
        self._reasoning(slide.reasoning)

    def _heading(self, slide: Slide) -> None:
        if slide.count:
            place = (self.left + _INNER, self.top)
            self.pen.text(place, slide.count, SOFT, font(15), anchor="ra")
        room = _INNER - (max(110, int(length(slide.count, 15)) + 8) if slide.count else 0)
        self._text(shorten(slide.heading, 15, room), 15, SOFT, gap=14)
        for line in wrap(slide.goal, 26, _INNER, 4):
            self._text(line, 26, INK, gap=5)
        self.top += 18

    def _facts(self, facts: Sequence[tuple[str, str]]) -> None:
        if facts:
            self.pen.line((self.left, self.top, self.left + _INNER, self.top), _TRACK, 2)
            self.top += 18
        for name, value in facts:
            self.pen.text((self.left, self.top), name, SOFT, font(17))
            value = shorten(value, 17, _INNER - 130)
            write(self.pen, (self.left + 130, self.top), value, INK, 17)
            self.top += 30

    def _text(self, text: str, size: int, colour: tuple[int, int, int], gap: int) -> None:
        write(self.pen, (self.left, self.top), text, colour, size)
        self.top += size + gap

    def _shares(self, shares: Sequence[Share], action: str) -> None:
        for share in shares:
            if self.top + 44 > self.bottom:
                return
            chosen = share.text == action
            label = shorten(share.text, 16, _INNER - 64)
            write(self.pen, (self.left, self.top), label, INK if chosen else SOFT, 16)
            right = (self.left + _INNER, self.top)
            self.pen.text(
                right, f"{100 * share.share:.0f} %", INK if chosen else SOFT, font(16), anchor="ra"
            )
            self._bar(self.top + 23, share.share, ACCENT if chosen else SOFT)
            self.top += 40

    def _bar(self, top: int, share: float, colour: tuple[int, int, int]) -> None:
        track = (self.left, top, self.left + _INNER, top + 6)
        self.pen.rounded_rectangle(track, 3, _TRACK)
        width = round(_INNER * share)
        if width >= 6:
            self.pen.rounded_rectangle((self.left, top, self.left + width, top + 6), 3, colour)

    def _reasoning(self, reasoning: str) -> None:
        room = (self.bottom - self.top - 10) // 25
        if reasoning and room > 0:
            self.top += 6
            lines = wrap(reasoning, 18, _INNER, min(room, 8))
            _lines(self.pen, lines, (self.left, self.top), 18, SOFT)

    def _plan(self, plan: FloorPlan, at: int, height: int) -> None:
        """The map above the dots: the way so far, and what was acted on."""
        scale = min(_INNER / WIDTH, height / plan.height)
        corner = (self.left, self.bottom - plan.height * scale)
        self.bottom = int(corner[1]) - 14
        draw_plan(self.pen, plan, at, corner, scale)

    def _timeline(self, slide: Slide) -> None:
        """A dot for every step, and how many goal conditions hold."""
        if slide.total:
            text = f"{slide.met} of {counted(slide.total, 'condition')}"
            corner = (self.left + _INNER, self.bottom)
            self.pen.text(corner, text, SOFT, font(15), anchor="rs")
        steps = slide.steps
        if steps:
            room = _INNER - (150 if slide.total else 0)
            gap = min(14.0, room / len(steps))
            for place, worked in enumerate(steps):
                colour = _TRACK if worked is None else GOOD if worked else BAD
                x = self.left + place * gap
                box = (x, self.bottom - 11, x + max(2.0, gap - 5), self.bottom - 2)
                self.pen.rounded_rectangle(box, 3, colour)
        self.bottom -= 34

    def _feedback(self, feedback: str, colour: tuple[int, int, int]) -> None:
        lines = wrap(feedback, 18, _INNER - 20, 4)
        top = self.bottom - 24 * len(lines)
        self.pen.rectangle((self.left, top - 2, self.left + 3, self.bottom - 2), colour)
        _lines(self.pen, lines, (self.left + 18, top), 18, colour)
        self.bottom = top - 18


def _lines(
    pen: ImageDraw.ImageDraw,
    lines: Sequence[str],
    place: tuple[int, int],
    size: int,
    colour: tuple[int, int, int],
) -> None:
    for number, line in enumerate(lines):
        write(pen, (place[0], place[1] + number * round(size * 1.35)), line, colour, size)


_ROOM = (30, 33, 38)
_THING = (74, 80, 90)
_FURNITURE = (46, 50, 57)
_WAY = (110, 160, 215)
_NOW = (240, 133, 105)
_GAZE = 22
"""Half the angle of the wedge that shows where the agent looks, in degrees."""

Point = tuple[float, float]


def draw_plan(
    pen: ImageDraw.ImageDraw, plan: FloorPlan, at: int, corner: Point, scale: float
) -> None:
    """Draw `plan` as of step `at`: the way so far, and things where they were at the start.

    `corner` is the upper left one, and `scale` a unit of the plan, both in pixels.
    """

    def place(spot: Spot) -> Point:
        return corner[0] + spot.x * scale, corner[1] + spot.y * scale

    right, bottom = corner[0] + WIDTH * scale, corner[1] + plan.height * scale
    pen.rounded_rectangle((*corner, right, bottom), 8, _ROOM)
    for area in plan.furniture:
        outline = ACCENT if area.used else _THING
        pen.polygon([place(spot) for spot in area.corners], _FURNITURE, outline)
    for area in plan.rooms:
        pen.line([place(s) for s in (*area.corners, area.corners[0])], INK, 2)
    for area in plan.doors:
        pen.polygon([place(spot) for spot in area.corners], _ROOM, _ROOM)
    for mark in plan.landmarks:
        _dot(pen, place(mark.at), 3.5 if mark.named else 2, ACCENT if mark.named else _THING)
    so_far = [stand for stand in plan.stands if stand.step <= at]
    way = [place(stand.at) for stand in so_far]
    if len(way) > 1:
        pen.line(way, _WAY, 2, joint="curve")
    for point in way[:-1]:
        _dot(pen, point, 2.5, _WAY)
    letters = _Letters(pen)
    for mark in (mark for mark in plan.landmarks if mark.named):
        x, y = place(mark.at)
        beside = (x - 7, y) if mark.left else (x + 7, y)
        letters.write(beside, shorten(mark.name, 12, 110), 12, INK, "rm" if mark.left else "lm")
    for area in (*plan.rooms, *plan.furniture):
        if area.label:
            letters.write(place(area.at), shorten(area.label, 10, 90), 10, SOFT, "mm")
    if so_far:
        _agent(pen, way[-1], so_far[-1].heading)


class _Letters:
    """Writes names in order of their worth, and none over an earlier one.

    A plan leaves out names that meet on a page; in a video the map is smaller, its letters are not.
    """

    def __init__(self, pen: ImageDraw.ImageDraw) -> None:
        self._pen = pen
        self._taken: list[tuple[float, float, float, float]] = []

    def write(
        self, at: Point, text: str, size: int, colour: tuple[int, int, int], anchor: str
    ) -> None:
        box = self._pen.textbbox(at, text, font_for(text, size), anchor)
        if not any(_overlap(box, other) for other in self._taken):
            self._pen.text(at, text, colour, font_for(text, size), anchor)
            self._taken.append((box[0] - 3, box[1] - 3, box[2] + 3, box[3] + 3))


def _overlap(
    one: tuple[float, float, float, float], other: tuple[float, float, float, float]
) -> bool:
    return all(one[side] < other[side + 2] and other[side] < one[side + 2] for side in (0, 1))


def _agent(pen: ImageDraw.ImageDraw, at: Point, heading: float) -> None:
    wedge = [at]
    for side in (-_GAZE, _GAZE):
        angle = math.radians(heading + side)
        wedge.append((at[0] + 22 * math.sin(angle), at[1] - 22 * math.cos(angle)))
    pen.polygon(wedge, outline=_NOW)
    _dot(pen, at, 5, _NOW)


def _dot(pen: ImageDraw.ImageDraw, at: Point, radius: float, colour: tuple[int, int, int]) -> None:
    pen.ellipse((at[0] - radius, at[1] - radius, at[0] + radius, at[1] + radius), colour)
