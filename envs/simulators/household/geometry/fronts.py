"""Determines object fronts: boxes are rotated so that their own +z is the front."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from inhabit.envs.simulators.household.geometry.boxes import (
    STEP,
    Array,
    Box,
    Cell,
    Outline,
    read_box,
    rotation,
    yaw,
)
from inhabit.envs.simulators.household.types.things import those

_TURNED_RIGHT = those("turned_right")
"""Types without an oriented box whose recorded rotation is reliable."""
CARCASSES = those("carcass")
"""Types that may have drawers, doors and boards as separate objects."""
_HUNG = those("hung")
"""Types that hang on a wall and face away from it."""
_QUARTERS = (0.0, 90.0, 180.0, 270.0)


def face(
    metadata: Mapping[str, Any],
    cells: frozenset[Cell],
    outline: Outline,
    built_in: Mapping[str, float],
) -> Box:
    """An object's box, rotated so that its own +z is its front.

    Oriented boxes are so already (THOR's assets look along +z). The others are turned by a quarter:
    from their rotation if it is reliable, from `built_in`, away from the wall if they
    hang there, and towards the nearest reachable cell otherwise.
    """
    box = read_box(metadata)
    if metadata["objectOrientedBoundingBox"] is not None:
        return box
    kind = metadata["objectType"]
    if kind in _TURNED_RIGHT:
        ahead = rotation(metadata["rotation"])[:, 2]
        quarter = round(float(np.degrees(np.arctan2(ahead[0], ahead[2]))) / 90.0) * 90.0
    elif metadata["objectId"] in built_in:
        quarter = built_in[metadata["objectId"]]
    elif kind in _HUNG:
        quarter = _off_the_wall(box, outline)
    else:
        quarter = _towards_floor(box, cells, outline)
    return turned(box, quarter)


def built_in(objects: Sequence[Mapping[str, Any]]) -> Mapping[str, float]:
    """The front of furniture with doors or drawers, and of these: the side they are flush with.

    Returns:
        Degrees (a quarter) by objectId, of the furniture and of its parts.
    """
    boxes = {o["objectId"]: read_box(o) for o in objects}
    fronts: dict[str, float] = {}
    for owner in objects:
        if owner["objectType"] not in CARCASSES:
            continue
        whole = boxes[owner["objectId"]]
        parts = [
            o["objectId"]
            for o in objects
            if o["objectType"] in ("Cabinet", "Drawer")
            and whole.holds(boxes[o["objectId"]].center, 0.05)
        ]
        if not parts:
            continue
        depths = {
            quarter: float(np.median([_depth(boxes[part], whole, quarter) for part in parts]))
            for quarter in _QUARTERS
        }
        front = min(_QUARTERS, key=lambda quarter: round(depths[quarter], 2))
        fronts |= dict.fromkeys((owner["objectId"], *parts), front)
    return fronts


def _depth(part: Box, whole: Box, quarter: float) -> float:
    """Metres from the side of a piece of furniture to that of a part."""
    ahead = np.round(yaw(quarter)[:, 2])
    return abs(
        float(ahead @ (whole.center - part.center) + abs(ahead) @ (whole.reach - part.reach))
    )


def turned(box: Box, quarter: float) -> Box:
    """An axis-aligned box whose own +z points along `quarter` degrees."""
    x, y, z = box.half
    half = np.array((x, y, z) if quarter % 180.0 == 0.0 else (z, y, x))
    return Box(box.center, half, np.round(yaw(quarter)))


def _off_the_wall(box: Box, outline: Outline) -> float:
    thin = 0 if box.reach[0] < box.reach[2] else 2
    gaps = _gaps(box, outline)
    return min(_QUARTERS, key=lambda q: (q % 180.0 != (90.0 if thin == 0 else 0.0), gaps[q]))


def _gaps(box: Box, outline: Outline) -> dict[float, float]:
    """Distance in metres from the back to the wall, for each possible front."""
    return {
        0.0: float(box.low[2] - outline.low[1]),
        90.0: float(box.low[0] - outline.low[0]),
        180.0: float(outline.high[1] - box.high[2]),
        270.0: float(outline.high[0] - box.high[0]),
    }


def _towards_floor(box: Box, cells: frozenset[Cell], outline: Outline) -> float:
    """The direction of the nearest reachable cell; otherwise away from the nearest wall."""
    gaps = _gaps(box, outline)
    if not cells:
        return min(_QUARTERS, key=gaps.__getitem__)
    away = np.array(sorted(cells)) * STEP - box.center[[0, 2]]
    return min(_QUARTERS, key=lambda q: (_free_ahead(box, q, away), gaps[q]))


def _free_ahead(box: Box, quarter: float, away: Array) -> float:
    """Distance from a side to the nearest cell in front of it, in tenths of a metre; 9 if there
    is none.
    """
    ahead = np.round(yaw(quarter)[[0, 2], 2])
    across = np.array((ahead[1], -ahead[0]))
    depth, width = np.abs(ahead @ box.reach[[0, 2]]), np.abs(across @ box.reach[[0, 2]])
    along = away @ ahead - depth
    before = (along > 0) & (np.abs(away @ across) < width + 0.15)
    return round(float(along[before].min()), 1) if before.any() else 9.0
