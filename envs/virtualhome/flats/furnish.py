"""Furnishes a room: along walls, on walls and in the middle, without blocking doors.

The lists are `furniture.csv`: room, class, place, how many at least and at most, and for what hangs
how many metres up. Places are "run" (side by side along one wall), "wall", "middle" and "hung" (on
a wall); "facing X", "before X", "beside X", "toward X" (at its side, looking at it) and "over X"
stand to what is there already.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from inhabit.envs.plain_data import csv_rows
from inhabit.envs.virtualhome.flats.boxes import YAWS, PlacedArticle, UprightBox, front, turned_half
from inhabit.envs.virtualhome.flats.plans import DOOR_WIDTH, HEIGHT, Doorway, FlatPlan, FlatRoom
from inhabit.envs.virtualhome.world.catalogue import catalogue

_STEP = 0.05
"""Distance in metres between tried positions along a wall."""
_WAY = 0.6
"""Free space in front of furniture, metres."""
_NEEDS_WAY = {
    *("fridge", "kitchencounter", "dishwasher", "stove", "sofa", "tvstand", "bookshelf", "closet"),
    *("bed", "desk", "dresser", "bathtub", "toilet", "bathroomcounter", "washingmachine"),
    *("armchair", "box", "garbagecan", "basketforclothes", "nightstand"),
}
_REACH = 0.4
"""Distance between a seat and the table in front of it, metres."""
_TRIES = 200


class NoRoomError(ValueError):
    """A required object does not fit into the room."""


class Furnisher:
    """Furnishes one room, with random choices by `rng`. `number` returns the next free id."""

    def __init__(
        self, plan: FlatPlan, room: int, room_id: int, number: Iterator[int], rng: random.Random
    ) -> None:
        self._room, self._room_id = plan.rooms[room], room_id
        self._number, self._rng = number, rng
        self.placed: list[PlacedArticle] = []
        self._kept_free = [
            _doorstep(door, self._room) for door in plan.doorways if room in door.rooms
        ]

    def furnish(self) -> Sequence[PlacedArticle]:
        """Everything that stands or hangs in this room.

        Raises:
            NoRoomError: it did not fit this time; draw again.
        """
        table = csv_rows("inhabit.envs.virtualhome.flats", "furniture.csv")
        rows = [row for row in table if row["room"] == self._room.class_name]
        self._run([row["class_name"] for row in rows if row["place"] == "run"])
        for row in rows:
            if row["place"] == "run":
                continue
            least, most = int(row["min"]), int(row["max"])
            wanted = self._rng.randint(least, most)
            for i in range(wanted):
                fits = self._try(row["class_name"], row["place"], float(row["mount"]))
                if not fits and i < least:
                    raise NoRoomError(f"No free position for a {row['class_name']}.")
        self._extras()
        return self.placed

    def _try(self, name: str, place: str, mount: float) -> bool:
        if place == "middle":
            return self._middle(name)
        how, _, other = place.partition(" ")
        for partner in [p for p in self.placed if p.class_name == other]:
            for box, yaw in self._spots_at(partner, name, how, mount):
                if self._stand(name, box, yaw, beside=partner):
                    return True
        if how in ("before", "over"):
            return False
        for yaw, along in self._wall_spots(name):
            if self._stand(name, self._against_wall(name, yaw, along, mount), yaw):
                return True
        return False

    def _spots_at(
        self, partner: PlacedArticle, name: str, how: str, mount: float
    ) -> Iterator[tuple[UprightBox, int]]:
        """Positions in a relation to another piece, best first."""
        yaw, box = partner.yaw, partner.box
        width, _, depth = catalogue()[name].size
        along = box.x if yaw % 180 == 0 else box.z
        half = box.hx if yaw % 180 == 0 else box.hz
        if how == "facing":
            for step in range(13):
                for side in (1, -1):
                    at = along + side * step * 2 * _STEP
                    yield self._against_wall(name, (yaw + 180) % 360, at, mount), (yaw + 180) % 360
        elif how == "beside":
            sides = [1, -1]
            self._rng.shuffle(sides)
            for side in sides:
                at = along + side * (half + width / 2 + _STEP)
                yield self._against_wall(name, yaw, at, mount), yaw
        elif how == "toward":
            ahead_x, ahead_z = front(yaw)
            for side in (1, -1):
                look = (-side * ahead_z, side * ahead_x)
                facing = next(turn for turn in YAWS if front(turn) == look)
                hx, hy, hz = turned_half(catalogue()[name].size, facing)
                reach = half + depth / 2 + _REACH
                x, z = box.x - look[0] * reach, box.z - look[1] * reach
                yield UprightBox(x, hy, z, hx, hy, hz), facing
        elif how == "over":
            yield self._against_wall(name, yaw, along, mount), yaw
        elif how == "before":
            ahead_x, ahead_z = front(yaw)
            hx, hy, hz = turned_half(catalogue()[name].size, yaw)
            reach = (box.hz if yaw % 180 == 0 else box.hx) + depth / 2 + (0.0 if mount else _REACH)
            yield (
                UprightBox(
                    box.x + ahead_x * reach, mount + hy, box.z + ahead_z * reach, hx, hy, hz
                ),
                yaw,
            )

    def _wall_spots(self, name: str) -> Iterator[tuple[int, float]]:
        width = catalogue()[name].size[0]
        spots = []
        for yaw in YAWS:
            low, high = self._wall(yaw)
            steps = int((high - low - width) / _STEP)
            spots += [(yaw, low + width / 2 + i * _STEP) for i in range(steps + 1)]
        self._rng.shuffle(spots)
        return iter(spots)

    def _wall(self, yaw: int) -> tuple[float, float]:
        """The extent of the wall behind furniture with this yaw."""
        room = self._room
        return (room.x0, room.x1) if yaw % 180 == 0 else (room.z0, room.z1)

    def _against_wall(self, name: str, yaw: int, along: float, mount: float) -> UprightBox:
        hx, hy, hz = turned_half(catalogue()[name].size, yaw)
        room, gap = self._room, 0.01
        x = {90: room.x0 + hx + gap, 270: room.x1 - hx - gap}.get(yaw, along)
        z = {0: room.z0 + hz + gap, 180: room.z1 - hz - gap}.get(yaw, along)
        return UprightBox(x, mount + hy, z, hx, hy, hz)

    def _stand(
        self,
        name: str,
        box: UprightBox,
        yaw: int,
        *,
        gap: float = 0.02,
        beside: PlacedArticle | None = None,
    ) -> bool:
        """Place an article if the position is free; it may stand close in front of `beside`."""
        way = _way_before(box, yaw) if name in _NEEDS_WAY else None
        others = [p for p in self.placed if p.class_name != "rug"]
        if not self._contains(box):
            return False
        if any(box.overlaps(p.box, gap) for p in others):
            return False
        if any(box.overlaps(free) for free in self._kept_free):
            return False
        if any(
            p.floor_clearance and box.overlaps(p.floor_clearance) for p in others if p is not beside
        ):
            return False
        if way is not None and any(way.overlaps(p.box) for p in others if p is not beside):
            return False
        if way is not None and not self._contains(way):
            return False
        self.placed.append(
            PlacedArticle(next(self._number), name, self._room_id, box, yaw, floor_clearance=way)
        )
        return True

    def _contains(self, box: UprightBox) -> bool:
        room = self._room
        return (
            room.x0 - 1e-6 <= box.x - box.hx
            and box.x + box.hx <= room.x1 + 1e-6
            and room.z0 - 1e-6 <= box.z - box.hz
            and box.z + box.hz <= room.z1 + 1e-6
        )

    def _middle(self, name: str) -> bool:
        for _ in range(_TRIES):
            yaw = self._rng.choice(YAWS)
            hx, hy, hz = turned_half(catalogue()[name].size, yaw)
            x = self._rng.uniform(self._room.x0 + hx + _WAY, self._room.x1 - hx - _WAY)
            z = self._rng.uniform(self._room.z0 + hz + _WAY, self._room.z1 - hz - _WAY)
            if self._stand(name, UprightBox(x, hy, z, hx, hy, hz), yaw, gap=_WAY):
                return True
        return False

    def _run(self, names: Sequence[str]) -> None:
        """Side by side along one wall, with cabinets above."""
        if not names:
            return
        length = sum(catalogue()[name].size[0] for name in names)
        walls = list(YAWS)
        self._rng.shuffle(walls)
        for yaw in walls:
            low, high = self._wall(yaw)
            slack = high - low - length
            steps = [i * _STEP for i in range(int(slack / _STEP) + 1)] if slack >= 0 else []
            self._rng.shuffle(steps)
            for offset in steps:
                if self._try_run(names, yaw, low + offset):
                    self._cabinets_above()
                    return
        raise NoRoomError("No wall is long enough for the kitchen units.")

    def _try_run(self, names: Sequence[str], yaw: int, start: float) -> bool:
        before = list(self.placed)
        at = start
        for name in names:
            width = catalogue()[name].size[0]
            box = self._against_wall(name, yaw, at + width / 2, 0.0)
            if not self._stand(name, box, yaw, gap=0.0):
                self.placed = before
                return False
            at += width
        return True

    def _cabinets_above(self) -> None:
        for below in [p for p in self.placed if p.class_name in ("kitchencounter", "dishwasher")]:
            along = below.box.x if below.yaw % 180 == 0 else below.box.z
            box = self._against_wall("kitchencabinet", below.yaw, along, 1.45)
            self._stand("kitchencabinet", box, below.yaw)

    def _extras(self) -> None:
        """Chairs at tables, sinks in counters, a rug, a ceiling lamp."""
        for table in list(self.placed):
            if table.class_name == "kitchentable":
                for yaw in self._rng.sample(YAWS, k=self._rng.randint(2, 4)):
                    self._chair_at(table, yaw)
            elif table.class_name == "desk":
                self._chair_at(table, (table.yaw + 180) % 360)
        basins = [p for p in self.placed if p.class_name in ("kitchencounter", "bathroomcounter")]
        if basins:
            self._basin_in(basins[0])
        (x, z), lamp = self._room.center, catalogue()["ceilinglamp"].size
        hung = UprightBox(x, HEIGHT - lamp[1] / 2, z, lamp[0] / 2, lamp[1] / 2, lamp[2] / 2)
        self.placed.append(PlacedArticle(next(self._number), "ceilinglamp", self._room_id, hung, 0))
        for low in [p for p in self.placed if p.class_name == "coffeetable"]:
            hx, hy, hz = turned_half(catalogue()["rug"].size, low.yaw)
            under = UprightBox(low.box.x, hy, low.box.z, hx, hy, hz)
            if self._contains(under):
                rug = PlacedArticle(next(self._number), "rug", self._room_id, under, low.yaw)
                self.placed.append(rug)

    def _chair_at(self, table: PlacedArticle, yaw: int) -> None:
        """A chair that faces the table from this direction, slightly pushed in."""
        hx, hy, hz = turned_half(catalogue()["chair"].size, yaw)
        ahead_x, ahead_z = front(yaw)
        x = table.box.x - ahead_x * (table.box.hx + hx - 0.12)
        z = table.box.z - ahead_z * (table.box.hz + hz - 0.12)
        box = UprightBox(x, hy, z, hx, hy, hz)
        others = [p for p in self.placed if p is not table and p.class_name != "rug"]
        if self._contains(box) and not any(
            box.overlaps(o, 0.05) for o in [*(p.box for p in others), *self._kept_free]
        ):
            self.placed.append(PlacedArticle(next(self._number), "chair", self._room_id, box, yaw))

    def _basin_in(self, counter: PlacedArticle) -> None:
        """A sink in a counter, with a faucet behind it."""
        hx, hy, hz = turned_half(catalogue()["sink"].size, counter.yaw)
        ahead_x, ahead_z = front(counter.yaw)
        top = counter.box.top
        sink = UprightBox(
            counter.box.x + 0.04 * ahead_x, top - hy + 0.005, counter.box.z + 0.04 * ahead_z,
            hx, hy, hz,
        )  # fmt: skip
        fx, fy, fz = turned_half(catalogue()["faucet"].size, counter.yaw)
        back = 0.21
        faucet = UprightBox(
            counter.box.x - back * ahead_x, top + fy, counter.box.z - back * ahead_z, fx, fy, fz
        )
        for name, box in (("sink", sink), ("faucet", faucet)):
            self.placed.append(
                PlacedArticle(
                    next(self._number), name, self._room_id, box, counter.yaw,
                    on=counter.id if name == "faucet" else None,
                )
            )  # fmt: skip


def _doorstep(door: Doorway, room: FlatRoom) -> UprightBox:
    """The space in front of a door that must stay free, on this room's side."""
    half, depth = DOOR_WIDTH / 2 + 0.05, 0.8
    (x, z), high = room.center, HEIGHT / 2
    if door.along_x:
        inward = 1 if z > door.z else -1
        return UprightBox(door.x, high, door.z + inward * depth / 2, half, high, depth / 2)
    inward = 1 if x > door.x else -1
    return UprightBox(door.x + inward * depth / 2, high, door.z, depth / 2, high, half)


def _way_before(box: UprightBox, yaw: int) -> UprightBox:
    """The floor in front of a piece of furniture, up to table height."""
    ahead_x, ahead_z = front(yaw)
    x = box.x + ahead_x * (box.hx + _WAY / 2)
    z = box.z + ahead_z * (box.hz + _WAY / 2)
    return UprightBox(
        x, 0.4, z, _WAY / 2 if ahead_x else box.hx, 0.35, _WAY / 2 if ahead_z else box.hz
    )
