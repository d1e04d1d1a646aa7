"""Small things on and in the furniture: `contents.csv`.

Levels and seats are where things rest, as parts of an article's height: what `envs.render.shapes`
draws has its boards and seats there.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files

from envs.virtualhome.catalogue import catalogue
from envs.virtualhome.flats.boxes import Box, Placed, turned_half

_SEATS: Mapping[str, float] = {"sofa": 0.52, "armchair": 0.5, "bed": 0.62, "chair": 0.5}
_BOARDS: Mapping[str, Sequence[float]] = {"bookshelf": (0.03, 0.27, 0.51, 0.75)}
_LEVELS: Mapping[str, Sequence[float]] = {
    "fridge": (0.1, 0.33, 0.54, 0.74),
    "kitchencabinet": (0.05, 0.52),
    "bathroomcabinet": (0.05, 0.52),
    "dishwasher": (0.2, 0.55),
    "dresser": (0.1, 0.4, 0.7),
    "closet": (0.04, 0.4, 0.7),
    "bathtub": (0.2,),
    "washingmachine": (0.3,),
}
_BOTTOM = (0.06,)
_TRIES = 80


class Filler:
    """Puts things on and into what stands in a room. What finds no place stays away."""

    def __init__(
        self, room_class: str, furniture: Sequence[Placed], number: Iterator[int],
        draw: random.Random,
    ) -> None:  # fmt: skip
        self._furniture = furniture
        self._number, self._draw = number, draw
        self._rows = [row for row in _contents() if row["room"] == room_class]
        self.placed: list[Placed] = []

    def fill(self) -> Sequence[Placed]:
        """Every small thing of the room."""
        for row in self._rows:
            supports = [p for p in self._furniture if p.class_name == row["support"]]
            for _ in range(self._draw.randint(int(row["min"]), int(row["max"]))):
                self._draw.shuffle(supports)
                if not any(self._put(row["class_name"], s, row["relation"]) for s in supports):
                    break
        return self.placed

    def _put(self, name: str, support: Placed, relation: str) -> bool:
        taken = [p.box for p in (*self._furniture, *self.placed) if p.id != support.id]
        for _ in range(_TRIES):
            box, yaw = self._somewhere(name, support, relation)
            if box is not None and not any(box.overlaps(t, 0.015) for t in taken):
                on, inside = (support.id, None) if relation == "ON" else (None, support.id)
                thing = Placed(
                    next(self._number), name, support.room, box, yaw, on=on, inside=inside
                )
                self.placed.append(thing)
                return True
        return False

    def _somewhere(self, name: str, support: Placed, relation: str) -> tuple[Box | None, int]:
        """A place drawn by lot; None if the article is too wide or too high for it."""
        turn = self._draw.choice((0, 180) if relation == "INSIDE" else (0, 90, 180, 270))
        yaw = support.yaw if name in _FACES_FORWARD else (support.yaw + turn) % 360
        hx, hy, hz = turned_half(catalogue()[name].size, yaw)
        bottom, ceiling = self._level(support, relation)
        edge = 0.03 if relation == "ON" else 0.04
        room_x, room_z = support.box.hx - hx - edge, support.box.hz - hz - edge
        if min(room_x, room_z) < 0 or 2 * hy > ceiling - bottom:
            return None, yaw
        x = support.box.x + self._draw.uniform(-room_x, room_x)
        z = support.box.z + self._draw.uniform(-room_z, room_z)
        return Box(x, bottom + hy, z, hx, hy, hz), yaw

    def _level(self, support: Placed, relation: str) -> tuple[float, float]:
        """Heights of a board and of what is above it."""
        box, name = support.box, support.class_name
        height = 2 * box.hy
        if relation == "ON" and name not in _BOARDS:
            return box.bottom + height * _SEATS.get(name, 1.0), box.top + 1.0
        levels = _BOARDS.get(name) or _LEVELS.get(name, _BOTTOM)
        i = self._draw.randrange(len(levels))
        above = levels[i + 1] if i + 1 < len(levels) else 1.0
        return box.bottom + height * levels[i], box.bottom + height * above


_FACES_FORWARD = {
    *("tv", "microwave", "toaster", "coffeemaker", "computer", "keyboard", "photoframe", "radio"),
    *("alarmclock", "pillow", "towel", "mouse"),
}


@cache
def _contents() -> Sequence[Mapping[str, str]]:
    text = files("envs.virtualhome.flats").joinpath("contents.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))
