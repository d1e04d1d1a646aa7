"""Object metadata by asset, taken from iTHOR's rooms: the properties that every asset has.

procthor's asset database names the type and the size of 1,653 assets; what objects of that type can
do is taken from iTHOR's own objects.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from inhabit.envs.simulators.household.rooms import ithor
from inhabit.envs.simulators.household.rooms.ithor import Metadata

_FRESH: Mapping[str, object] = {
    "isBroken": False,
    "isCooked": False,
    "isDirty": False,
    "isFilledWithLiquid": False,
    "fillLiquid": None,
    "isOpen": False,
    "openness": 0.0,
    "isPickedUp": False,
    "isSliced": False,
    "isToggled": False,
    "isUsedUp": False,
    "temperature": "RoomTemp",
    "parentReceptacles": None,
    "receptacleObjectIds": None,
    "controlledObjects": None,
}
"""State of an object that was just made."""


@dataclass(frozen=True, slots=True)
class Asset:
    """One of THOR's assets."""

    id: str
    kind: str
    """THOR's objectType."""
    size: tuple[float, float, float]
    """Size along the asset's own axes, in metres."""
    ability: str
    """THOR's primaryProperty, such as "CanPickup"; "Undefined" if the database has none."""


@cache
def assets() -> Mapping[str, Asset]:
    """All assets of procthor's database, by id.

    Raises:
        UnavailableError: the package procthor is not installed.
    """
    file = ithor.databases() / "asset-database.json"
    found = {}
    for members in json.loads(file.read_text(encoding="utf-8")).values():
        for one in members:
            size = one["boundingBox"]
            found[one["assetId"]] = Asset(
                one["assetId"],
                one["objectType"],
                (size["x"], size["y"], size["z"]),
                str(one.get("primaryProperty", "Undefined")),
            )
    return found


@cache
def _examples() -> Mapping[str, Metadata]:
    """An object of iTHOR's by its asset, and by its type: the first there is."""
    found: dict[str, Metadata] = {}
    for scene in ithor.SCENES:
        for one in ithor.load(scene).objects:
            found.setdefault(f"asset {one['assetId']}", one)
            found.setdefault(one["objectType"], one)
    return found


def template(asset: Asset) -> Metadata:
    """Metadata of a new object of an asset, without its place."""
    examples = _examples()
    like = examples.get(f"asset {asset.id}") or examples.get(asset.kind)
    if like is None:
        like = {**examples["Statue"], "pickupable": False, "moveable": True, "breakable": False}
    made = {**like, **_FRESH, "objectType": asset.kind, "assetId": asset.id}
    return {**made, "receptacleObjectIds": [] if made["receptacle"] else None}


def fixture(kind: str) -> Metadata:
    """Metadata of a part of the building, such as a wall: nothing can be done to it."""
    floor = _examples()["Floor"]
    able = {key: False for key, value in floor.items() if isinstance(value, bool)}
    return {**floor, **able, **_FRESH, "objectType": kind, "assetId": ""}
