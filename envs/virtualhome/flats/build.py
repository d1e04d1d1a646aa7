"""Builds a flat, and fills its furniture."""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from inhabit.envs.plain_data import csv_rows
from inhabit.envs.virtualhome.flats.boxes import (
    PlacedArticle,
    Rest,
    UprightBox,
    front,
    rests,
    turned_half,
)
from inhabit.envs.virtualhome.flats.furnish import Furnisher, NoRoomError
from inhabit.envs.virtualhome.flats.plans import DOOR_WIDTH, HEIGHT, FlatPlan, plans
from inhabit.envs.virtualhome.world.catalogue import catalogue

_TRIES_INSIDE = 80
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
        table = csv_rows("inhabit.envs.virtualhome.flats", "contents.csv")
        self._rows = [row for row in table if row["room"] == room_class]
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
        for _ in range(_TRIES_INSIDE):
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


FIRST_ID = 11
"""Lower ids are reserved for characters: the official `UnityEnvironment` uses 1, 2, ...."""
_NEAR = 0.45
"""Maximum distance in metres of boxes that are CLOSE."""
_TRIES = 100


def build(plan: int, seed: int) -> dict[str, Any]:
    """A furnished flat.

    Args:
        plan: of `plans()`, from 0.
        seed: of the layout; the same seed gives the same flat.

    Returns:
        {"nodes", "edges"}: every node has `bounding_box` {center, size} and `obj_transform`
        {position, rotation (x, y, z, w), scale}, in metres, y up, left-handed. No character. It is
        the caller's own.
    """
    # As text, since a caller may change its graph. Building takes 30 times as long as reading them.
    graph: dict[str, Any] = json.loads(_built(plan, seed))
    return graph


@lru_cache(maxsize=64)
def _built(plan: int, seed: int) -> str:
    drawn = plans()[plan]
    rng = random.Random(f"virtualhome flat {plan} {seed}")
    number = itertools.count(FIRST_ID + len(drawn.rooms))
    placed = _doors(drawn, number)
    for i, room in enumerate(drawn.rooms):
        furniture = _furnish(drawn, i, number, rng)
        placed += [*furniture, *Filler(room.class_name, furniture, number, rng).fill()]
    nodes = [*_room_nodes(drawn), *(_node(p, rng) for p in placed)]
    return json.dumps({"nodes": nodes, "edges": _edges(drawn, placed)})


def _furnish(
    plan: FlatPlan, room: int, number: Iterator[int], rng: random.Random
) -> Sequence[PlacedArticle]:
    # A layout without room for a required object is sampled again; its ids stay unused.
    for _ in range(_TRIES):
        try:
            return Furnisher(plan, room, FIRST_ID + room, number, rng).furnish()
        except NoRoomError:
            continue
    name = plan.rooms[room].class_name
    raise NoRoomError(f"Plan {plan.name!r}: can't furnish the {name} in {_TRIES} attempts.")


def _doors(plan: FlatPlan, number: Iterator[int]) -> list[PlacedArticle]:
    _, height, depth = catalogue()["door"].size
    found = []
    for door in plan.doorways:
        half = DOOR_WIDTH / 2, depth / 2
        hx, hz = half if door.along_x else half[::-1]
        box = UprightBox(door.x, height / 2, door.z, hx, height / 2, hz)
        yaw = 0 if door.along_x else 90
        found.append(PlacedArticle(next(number), "door", FIRST_ID + door.rooms[0], box, yaw))
    return found


def _room_nodes(plan: FlatPlan) -> list[dict[str, Any]]:
    nodes = []
    for i, room in enumerate(plan.rooms):
        x, z = room.center
        size = [room.x1 - room.x0, HEIGHT, room.z1 - room.z0]
        nodes.append(
            {
                "id": FIRST_ID + i,
                "class_name": room.class_name,
                "category": "Rooms",
                "properties": [],
                "states": [],
                "prefab_name": f"inhabit_{room.class_name}",
                "bounding_box": {"center": [x, HEIGHT / 2, z], "size": size},
                "obj_transform": _transform([x, 0.0, z], 0),
            }
        )
    return nodes


def _node(placed: PlacedArticle, rng: random.Random) -> dict[str, Any]:
    article, box = catalogue()[placed.class_name], placed.box
    states = list(article.states)
    for state, other in (("CLEAN", "DIRTY"), ("DIRTY", "CLEAN")):
        if article.states and state in article.states and rng.random() < 0.3:
            states[states.index(state)] = other
    return {
        "id": placed.id,
        "class_name": placed.class_name,
        "category": article.category,
        "properties": list(article.properties),
        "states": states,
        "prefab_name": f"inhabit_{article.shape}",
        "bounding_box": {
            "center": [box.x, box.y, box.z],
            "size": [2 * box.hx, 2 * box.hy, 2 * box.hz],
        },
        "obj_transform": _transform([box.x, box.bottom, box.z], placed.yaw),
    }


def _transform(position: list[float], yaw: int) -> dict[str, list[float]]:
    half = math.radians(yaw) / 2
    rotation = [0.0, math.sin(half), 0.0, math.cos(half)]
    return {"position": position, "rotation": rotation, "scale": [1.0, 1.0, 1.0]}


def _edges(plan: FlatPlan, placed: Sequence[PlacedArticle]) -> list[dict[str, Any]]:
    edges: list[tuple[int, str, int]] = []
    for thing in placed:
        if thing.class_name != "door":
            edges.append((thing.id, "INSIDE", thing.room))
        if thing.on is not None:
            edges.append((thing.id, "ON", thing.on))
        if thing.inside is not None:
            edges.append((thing.id, "INSIDE", thing.inside))
    doors = [p for p in placed if p.class_name == "door"]
    for node, door in zip(doors, plan.doorways, strict=True):
        edges += [(node.id, "BETWEEN", FIRST_ID + room) for room in door.rooms]
        edges.append((node.id, "INSIDE", node.room))
    for one, two in itertools.combinations(placed, 2):
        if one.room == two.room and one.box.overlaps(two.box, _NEAR):
            edges += [(one.id, "CLOSE", two.id), (two.id, "CLOSE", one.id)]
    for seat in placed:
        if seat.class_name in ("sofa", "armchair", "chair", "bed"):
            screens = [p for p in placed if p.room == seat.room and p.class_name in _WATCHED]
            edges += [(seat.id, "FACING", screen.id) for screen in screens]
    return [{"from_id": a, "relation_type": r, "to_id": b} for a, r, b in edges]


_WATCHED = ("tv", "computer")
