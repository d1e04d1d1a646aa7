"""A room from above: its walls and its furniture."""

from __future__ import annotations

from collections.abc import Mapping

from inhabit.envs.scene_plan import Footprint, ScenePlan, area, rectangle
from inhabit.envs.simulators.household.geometry.boxes import Box
from inhabit.envs.simulators.household.rooms.ithor import Room

_LEAST = 0.06
"""Square metres that furniture covers at least."""
_HIGHEST = 1.2
"""Metres above the floor at which furniture begins at most; shelves on walls are left out."""
_NOT_FURNITURE = frozenset(
    (
        "Blinds",
        "Cabinet",
        "Curtains",
        "Drawer",
        "Floor",
        "LightSwitch",
        "Mirror",
        "Painting",
        "ShowerCurtain",
        "ShowerGlass",
        "StoveBurner",
        "Window",
    )
)
"""Types that are part of a wall or of other furniture."""


def plan_view(room: Room, names: Mapping[str, str]) -> ScenePlan:
    """A room in its initial state, seen from above.

    Args:
        room: which.
        names: THOR's id -> the name that actions use.
    """
    low, high = room.outline.low, room.outline.high
    walls = rectangle(
        (low[0] + high[0]) / 2,
        (low[1] + high[1]) / 2,
        (high[0] - low[0]) / 2,
        (high[1] - low[1]) / 2,
    )
    found = [
        Footprint(names.get(metadata["objectId"], ""), _corners(part))
        for metadata, box in zip(room.objects, room.boxes, strict=True)
        if not metadata["pickupable"]
        and metadata["objectType"] not in _NOT_FURNITURE
        and float(box.low[1]) - room.outline.floor <= _HIGHEST
        for part in room.strips.get(metadata["objectId"]) or (box,)
    ]
    furniture = [one for one in found if area(one) >= _LEAST]
    furniture.sort(key=area, reverse=True)
    return ScenePlan(rooms=(Footprint("", walls),), furniture=tuple(furniture))


def _corners(box: Box) -> tuple[tuple[float, float], ...]:
    x, _, z = (float(at) for at in box.center)
    half_x, half_z = float(box.half[0]), float(box.half[2])
    along = [box.axes @ (dx * half_x, 0.0, dz * half_z) for dx, dz in _AROUND]
    return tuple((x + float(by[0]), z + float(by[2])) for by in along)


_AROUND = ((-1, -1), (1, -1), (1, 1), (-1, 1))
