"""Builds a flat from a plan and a seed, as a graph in VirtualHome's form."""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from inhabit.envs.virtualhome.flats.boxes import PlacedArticle, UprightBox
from inhabit.envs.virtualhome.flats.fill import Filler
from inhabit.envs.virtualhome.flats.furnish import Furnisher, NoRoomError
from inhabit.envs.virtualhome.flats.plans import DOOR_WIDTH, HEIGHT, FlatPlan, plans
from inhabit.envs.virtualhome.world.catalogue import catalogue

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
