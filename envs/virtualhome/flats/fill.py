"""Places small objects on and in the furniture, according to `contents.csv`."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files

from inhabit.envs.virtualhome.flats.boxes import PlacedArticle, UprightBox, front, turned_half
from inhabit.envs.virtualhome.flats.rests import Rest, rests
from inhabit.envs.virtualhome.world.catalogue import catalogue

_TRIES = 80
_EDGE = 0.015
"""Free margin of a surface, metres."""


class Filler:
    """Places small objects. Those that do not fit are left out."""

    def __init__(
        self, room_class: str, furniture: Sequence[PlacedArticle], number: Iterator[int],
        rng: random.Random,
    ) -> None:  # fmt: skip
        self._furniture = furniture
        self._number, self._rng = number, rng
        self._rows = [row for row in _contents() if row["room"] == room_class]
        self.placed: list[PlacedArticle] = []

    def fill(self) -> Sequence[PlacedArticle]:
        """Every small object of the room."""
        for row in self._rows:
            supports = [p for p in self._furniture if p.class_name == row["support"]]
            for _ in range(self._rng.randint(int(row["min"]), int(row["max"]))):
                self._rng.shuffle(supports)
                if not any(self._put(row["class_name"], s, row["relation"]) for s in supports):
                    break
        return self.placed

    def _put(self, name: str, support: PlacedArticle, relation: str) -> bool:
        taken = [p.box for p in (*self._furniture, *self.placed) if p.id != support.id]
        for _ in range(_TRIES):
            box, yaw = self._somewhere(name, support, relation)
            if box is not None and not any(box.overlaps(t, 0.015) for t in taken):
                on, inside = (support.id, None) if relation == "ON" else (None, support.id)
                thing = PlacedArticle(
                    next(self._number), name, support.room, box, yaw, on=on, inside=inside
                )
                self.placed.append(thing)
                return True
        return False

    def _somewhere(
        self, name: str, support: PlacedArticle, relation: str
    ) -> tuple[UprightBox | None, int]:
        """A random place; None if the article is too wide or too high for it."""
        if support.class_name in _HANGERS:
            return _hanging(name, support), support.yaw
        turn = self._rng.choice((0, 180) if relation == "INSIDE" else (0, 90, 180, 270))
        yaw = support.yaw if name in _FACES_FORWARD else (support.yaw + turn) % 360
        rest = self._rng.choice(rests(support.class_name, relation, name))
        hx, hy, hz = turned_half(catalogue()[name].size, yaw)
        bottom = support.box.bottom + 2 * support.box.hy * rest.low
        if bottom + 2 * hy > support.box.bottom + 2 * support.box.hy * rest.high:
            return None, yaw
        area = _area(support, rest)
        room_x, room_z = area.hx - hx - _EDGE, area.hz - hz - _EDGE
        if min(room_x, room_z) < 0:
            return None, yaw
        x = area.x + self._rng.uniform(-room_x, room_x)
        z = area.z + self._rng.uniform(-room_z, room_z)
        return UprightBox(x, bottom + hy, z, hx, hy, hz), yaw


def _hanging(name: str, support: PlacedArticle) -> UprightBox:
    """Hanging over a rail, down to its own length."""
    hx, hy, hz = turned_half(catalogue()[name].size, support.yaw)
    return UprightBox(support.box.x, support.box.top + 0.01 - hy, support.box.z, hx, hy, hz)


def _area(support: PlacedArticle, rest: Rest) -> UprightBox:
    """The part of the furniture's box above and below one of its surfaces."""
    box, (ahead_x, ahead_z) = support.box, front(support.yaw)
    half_width, half_depth = (box.hx, box.hz) if support.yaw % 180 == 0 else (box.hz, box.hx)
    u, v = (rest.left + rest.right) * half_width, (rest.back + rest.front) * half_depth
    hu, hv = (rest.right - rest.left) * half_width, (rest.front - rest.back) * half_depth
    along_x, along_z = (hu, hv) if support.yaw % 180 == 0 else (hv, hu)
    x, z = box.x + u * ahead_z + v * ahead_x, box.z - u * ahead_x + v * ahead_z
    return UprightBox(x, box.y, z, along_x, box.hy, along_z)


_HANGERS = {"towelrack"}
_FACES_FORWARD = {
    *("tv", "microwave", "toaster", "coffeemaker", "computer", "keyboard", "photoframe", "radio"),
    *("alarmclock", "pillow", "towel", "mouse"),
}


@cache
def _contents() -> Sequence[Mapping[str, str]]:
    text = files("inhabit.envs.virtualhome.flats").joinpath("contents.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))
