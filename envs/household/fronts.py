"""Which way things face. A thing's box is turned so that its own +z looks out of its front."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from envs.household.boxes import Array, Box, read_box, rotation, yaw
from envs.household.grid import STEP, Cell, Outline

_TURNED_RIGHT = frozenset(
    {
        "Blinds",
        "Faucet",
        "Fridge",
        "HandTowelHolder",
        "LightSwitch",
        "Sink",
        "SinkBasin",
        "Toilet",
        "ToiletPaperHanger",
        "TowelHolder",
    }
)
"""Kinds without an oriented box whose rotation in the dump can be trusted all the same."""

_HUNG = frozenset(
    {"Curtains", "Mirror", "Painting", "Poster", "ShowerCurtain", "ShowerHead", "Window"}
)
"""What hangs on a wall looks away from it."""

_QUARTERS = (0.0, 90.0, 180.0, 270.0)


def face(metadata: Mapping[str, Any], cells: frozenset[Cell], outline: Outline) -> Box:
    """An object's box, turned so that its own +z is its front.

    Oriented boxes are so already (THOR's assets look along +z). The others are turned by a quarter:
    as their rotation says where it can be trusted, away from the wall if they hang there, and
    towards the nearest reachable cell otherwise.
    """
    box = read_box(metadata)
    if metadata["objectOrientedBoundingBox"] is not None:
        return box
    kind = metadata["objectType"]
    if kind in _TURNED_RIGHT:
        ahead = rotation(metadata["rotation"])[:, 2]
        quarter = round(float(np.degrees(np.arctan2(ahead[0], ahead[2]))) / 90.0) * 90.0
    elif kind in _HUNG:
        quarter = _off_the_wall(box, outline)
    else:
        quarter = _towards_floor(box, cells, outline)
    return turned(box, quarter)


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
    """For each way it might face, metres from its back to the wall behind it."""
    return {
        0.0: float(box.low[2] - outline.low[1]),
        90.0: float(box.low[0] - outline.low[0]),
        180.0: float(outline.high[1] - box.high[2]),
        270.0: float(outline.high[0] - box.high[0]),
    }


def _towards_floor(box: Box, cells: frozenset[Cell], outline: Outline) -> float:
    """Where one can stand nearest in front of it; failing that, away from the nearest wall."""
    gaps = _gaps(box, outline)
    if not cells:
        return min(_QUARTERS, key=gaps.__getitem__)
    away = np.array(sorted(cells)) * STEP - box.center[[0, 2]]
    return min(_QUARTERS, key=lambda q: (_free_ahead(box, q, away), gaps[q]))


def _free_ahead(box: Box, quarter: float, away: Array) -> float:
    """Metres from a side to the nearest cell before it, in tenths; 9 if there is none."""
    ahead = np.round(yaw(quarter)[[0, 2], 2])
    across = np.array((ahead[1], -ahead[0]))
    depth, width = np.abs(ahead @ box.reach[[0, 2]]), np.abs(across @ box.reach[[0, 2]])
    along = away @ ahead - depth
    before = (along > 0) & (np.abs(away @ across) < width + 0.15)
    return round(float(along[before].min()), 1) if before.any() else 9.0
