"""Draws a map with Pillow, as videos show it."""

from __future__ import annotations

import math

from PIL import ImageDraw

from inhabit.episodes.reports.floorplan import WIDTH, FloorPlan, Spot
from inhabit.episodes.reports.video.lettering import font_for, shorten

_RAISED = (30, 33, 38)
_THING = (74, 80, 90)
_FURNITURE = (46, 50, 57)
_SOFT = (158, 163, 171)
_NAMED = (240, 190, 92)
_WAY = (110, 160, 215)
_NOW = (240, 133, 105)
_INK = (240, 237, 230)
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
    pen.rounded_rectangle((*corner, right, bottom), 8, _RAISED)
    for area in plan.furniture:
        outline = _NAMED if area.used else _THING
        pen.polygon([place(spot) for spot in area.corners], _FURNITURE, outline)
    for area in plan.rooms:
        pen.line([place(s) for s in (*area.corners, area.corners[0])], _INK, 2)
    for area in plan.doors:
        pen.polygon([place(spot) for spot in area.corners], _RAISED, _RAISED)
    for mark in plan.landmarks:
        _dot(pen, place(mark.at), 3.5 if mark.named else 2, _NAMED if mark.named else _THING)
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
        letters.write(beside, shorten(mark.name, 12, 110), 12, _INK, "rm" if mark.left else "lm")
    for area in (*plan.rooms, *plan.furniture):
        if area.label:
            letters.write(place(area.at), shorten(area.label, 10, 90), 10, _SOFT, "mm")
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
