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
    vector,
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
_AT_EDGE, _THIN = 0.03, 0.1
"""Metres between a hinge and the edge, at most; and half the width of a cupboard, at least."""
_FLUSH = 0.03
"""Metres by which a part may be farther from the front of its furniture than from another side."""


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
        quarter = round(_quarter(rotation(metadata["rotation"])[:, 2]) / 90.0) * 90.0
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


def opened_forwards(
    objects: Sequence[Mapping[str, Any]],
    faced: Mapping[str, Box],
    cells: frozenset[Cell],
    outline: Outline,
) -> Mapping[str, Box]:
    """Boxes of the doors and drawers that AI2-THOR opens to another side than `faced` says."""
    found: dict[str, Box] = {}
    furniture = [
        faced[o["objectId"]]
        for o in objects
        if o["objectType"] in CARCASSES and o["objectOrientedBoundingBox"] is not None
    ]
    for part in objects:
        box = faced[part["objectId"]]
        if part["objectType"] not in ("Cabinet", "Drawer"):
            continue
        if part["objectOrientedBoundingBox"] is not None:
            continue
        sides = _at_hinge(part, box) if part["objectType"] == "Cabinet" else ()
        whole = next((one for one in furniture if one.holds(box.center, 0.05)), None)
        if not sides and whole is not None:
            sides = (_flush(box, whole),)
        fronts = {side: turned(read_box(part), side) for side in sides}
        if not fronts or any(np.allclose(now.axes, box.axes) for now in fronts.values()):
            continue
        gaps = _gaps(box, outline)
        away = np.array(sorted(cells)).reshape(-1, 2) * STEP - box.center[[0, 2]]
        nearest = min(fronts, key=lambda q: (_free_ahead(box, q, away), gaps[q]))
        found[part["objectId"]] = fronts[nearest]
    return found


def _flush(part: Box, whole: Box) -> float:
    """The side to which a part of furniture opens.

    Furniture with an oriented box has its front along +z. Its parts open there if they are as good
    as flush with that side, and otherwise to the side that they are nearest to.
    """
    ahead = round(_quarter(whole.axes[:, 2]) / 90.0) * 90.0 % 360.0
    depths = {quarter: _depth(part, whole, quarter) for quarter in _QUARTERS}
    near = min(_QUARTERS, key=lambda quarter: depths[quarter])
    return ahead if depths[ahead] < depths[near] + _FLUSH else near


def _at_hinge(metadata: Mapping[str, Any], box: Box) -> Sequence[float]:
    """The two sides that meet where a cupboard's hinge is; none if its position tells of no hinge.

    AI2-THOR's position of it is there: 471 of 485 cupboards face one of these sides anyway.
    """
    x, _, z = vector(metadata["position"]) - box.center
    reach = box.reach[[0, 2]]
    if (np.abs(np.abs((x, z)) - reach) > _AT_EDGE).any() or reach.min() < _THIN:
        return ()
    return 90.0 if x > 0 else 270.0, 0.0 if z > 0 else 180.0


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


def _quarter(ahead: Array) -> float:
    """The direction of a vector seen from above, in degrees."""
    return float(np.degrees(np.arctan2(ahead[0], ahead[2])))


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
