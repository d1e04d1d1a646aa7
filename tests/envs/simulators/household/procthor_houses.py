"""Houses written by ProcTHOR's schema, for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from inhabit.envs.simulators.household.rooms import templates
from inhabit.envs.simulators.household.rooms.templates import Asset

Json = dict[str, Any]
TALL = 2.8
"""Metres."""


def vector(x: float, y: float, z: float) -> Mapping[str, float]:
    return {"x": x, "y": y, "z": z}


def asset(kind: str, number: int = 0) -> Asset:
    members = [one for one in templates.assets().values() if one.kind == kind]
    return members[number % len(members)]


def standing(
    name: str, made: Asset, x: float, z: float, turn: float = 0, on: float = 0.0, **more: Any
) -> Json:
    """An object whose box rests at a height."""
    return {
        "id": name,
        "assetId": made.id,
        "position": vector(x, on + made.size[1] / 2, z),
        "rotation": vector(0, turn, 0),
        "children": [],
        "kinematic": True,
        **more,
    }


def walls(room: int, low: float, high: float, deep: float) -> Sequence[Json]:
    corners = [(low, 0.0), (low, deep), (high, deep), (high, 0.0)]
    made = []
    for (x0, z0), (x1, z1) in zip(corners, [*corners[1:], corners[0]], strict=True):
        polygon = [vector(x0, 0, z0), vector(x1, 0, z1), vector(x1, TALL, z1), vector(x0, TALL, z0)]
        name = f"wall|{room}|{x0:.2f}|{z0:.2f}|{x1:.2f}|{z1:.2f}"
        made.append({"id": name, "roomId": f"room|{room}", "polygon": polygon})
    return made


def room(number: int, kind: str, low: float, high: float, deep: float) -> Json:
    floor = [vector(low, 0, 0), vector(low, 0, deep), vector(high, 0, deep), vector(high, 0, 0)]
    return {"id": f"room|{number}", "roomType": kind, "floorPolygon": floor}


def small_house(number: int = 0, *, door: bool = True) -> Json:
    """A kitchen and a bedroom side by side; the number chooses sizes and assets."""
    wide, deep = 4.0 + 0.25 * (number % 3), 4.5 + 0.5 * (number % 2)
    both = [*walls(1, 0.0, wide, deep), *walls(2, wide, 2 * wide, deep)]
    shared = [w for w in both if all(p["x"] == wide for p in w["polygon"])]
    hole = [vector(deep / 2 - 0.5, 0, 0), vector(deep / 2 + 0.5, 2.1, 0)]
    doorway = {"id": "door|1|2", "assetId": "Doorway_1", "wall0": shared[0]["id"]}
    fridge, table = asset("Fridge", number), asset("DiningTable", number)
    top, mug, apple = table.size[1], asset("Mug", number), asset("Apple", number)
    bed, lamp = asset("Bed", number), asset("FloorLamp", number)
    meal = [
        standing("Mug|1|2", mug, wide / 2 - 0.2, 1.0, on=top),
        standing("Apple|1|3", apple, wide / 2 + 0.2, 1.0, on=top),
    ]
    return {
        "rooms": [
            room(1, "Kitchen", 0.0, wide, deep),
            room(2, "Bedroom", wide, 2 * wide, deep),
        ],
        "walls": both,
        "doors": [{**doorway, "wall1": shared[1]["id"], "holePolygon": hole}] if door else [],
        "windows": [],
        "objects": [
            standing("Fridge|1|0", fridge, 0.6, deep - fridge.size[2] / 2 - 0.05, 180),
            standing("DiningTable|1|1", table, wide / 2, 1.0, children=meal),
            standing(
                "Bed|2|0", bed, 2 * wide - bed.size[0] / 2 - 0.1, deep - bed.size[2] / 2 - 0.1
            ),
            standing("FloorLamp|2|1", lamp, wide + 0.4, 0.4),
        ],
        "proceduralParameters": {"lights": [], "skyboxId": "Sky1"},
        "metadata": {
            "agent": {
                "position": vector(wide / 2, 0.95, deep / 2),
                "rotation": vector(0, 90, 0),
                "horizon": 30,
                "standing": True,
            }
        },
    }
