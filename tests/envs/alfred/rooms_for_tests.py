"""Records of a small made-up room, in the form of THOR's `metadata.objects`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_FLAGS = ("pickupable", "receptacle", "openable", "toggleable", "sliceable", "dirtyable")
_STATES = ("isOpen", "isToggled", "isSliced", "isPickedUp", "visible", "isDirty")


def record(
    type: str, number: int = 1, *flags: str, parent: str | None = None, at: float = 0.0
) -> dict[str, Any]:
    """A thing whose id is "Type|number"; flags are THOR's names of what is true of it."""
    center = {"x": at, "y": 1.0, "z": 0.0}
    return {
        "objectId": f"{type}|{number}",
        "objectType": type,
        "name": f"{type}_{number}",
        "position": center,
        "rotation": {"x": 0.0, "y": 0.0, "z": 0.0},
        "axisAlignedBoundingBox": {"center": center, "size": {"x": 0.2, "y": 0.2, "z": 0.2}},
        "parentReceptacles": [parent] if parent else None,
        "receptacleObjectIds": [],
        **{flag: flag in flags for flag in (*_FLAGS, *_STATES)},
    }


def linked(records: Iterable[dict[str, Any]]) -> list[Mapping[str, Any]]:
    """The records, each receptacle knowing what it holds."""
    found = list(records)
    by_id = {r["objectId"]: r for r in found}
    for r in found:
        for parent in r["parentReceptacles"] or ():
            by_id[parent]["receptacleObjectIds"].append(r["objectId"])
    return list(found)
