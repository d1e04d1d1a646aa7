"""ALFRED's interaction masks, matched against the objects in our image."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.alfred.language.verbs import applies
from inhabit.envs.alfred.thor.body import AgentBody
from inhabit.envs.alfred.thor.objects import ThorObject

SIDE = 300
"""Width and height of ALFRED's images, pixels."""
Mask = NDArray[np.bool_]
_REACHES = (0, 6, 16)
"""Pixels by which a mask that matches nothing is dilated, in turn."""


def decode(runs: Iterable[tuple[int, int]]) -> Mask:
    """A mask (300, 300) from its run-length encoding: first pixel and length of each run."""
    flat = np.zeros(SIDE * SIDE, np.bool_)
    for begin, length in runs:
        flat[begin : begin + length] = True
    return flat.reshape(SIDE, SIDE)


def drawn(body: AgentBody, id: str) -> Mask:
    """The mask of an object in the current image, (H, W)."""
    index, names = body.instances()
    return index == names.index(id) if id in names else np.zeros(index.shape, np.bool_)


def overlap(one: Mask, other: Mask) -> float:
    """Intersection over union, 0 to 1; 0 where both are empty."""
    union = int(np.logical_or(one, other).sum())
    return float(np.logical_and(one, other).sum() / union) if union else 0.0


def center(mask: Mask) -> tuple[float, float] | None:
    """The center of a mask's bounding box, in pixels (right, down); None if the mask is empty."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return None
    return float(columns[0] + columns[-1]) / 2, float(rows[0] + rows[-1]) / 2


def edge(mask: Mask) -> Mask:
    """The contour of a mask."""
    inside = mask.copy()
    for axis in (0, 1):
        for shift in (-1, 1):
            inside &= np.roll(mask, shift, axis)
    return mask & ~inside


def choose(body: AgentBody, mask: Mask, action: str) -> ThorObject | None:
    """The object that a mask selects: the suitable one with the largest overlap.

    As in ALFRED's own evaluation, which ranks the instances under a predicted mask by intersection
    over union and takes the first that can be handled (Shridhar et al. 2020). Where the mask
    touches no suitable object, it is dilated by some pixels: objects may be slightly displaced.
    """
    index, names = body.instances()
    world = body.world
    suits = [i for i, name in enumerate(names) if name in world and applies(action, world[name])]
    for reach in _REACHES:
        pointed = grown(mask, reach)
        ranked = [(-overlap(index == i, pointed), names[i]) for i in suits]
        best = min(ranked, default=(0.0, ""))
        if best[0] < 0.0:
            return world[best[1]]
    return None


def grown(mask: Mask, pixels: int) -> Mask:
    """Dilation of a mask by this many pixels."""
    padded = np.pad(mask, pixels)
    for axis in (0, 1):
        padded = np.logical_or.reduce(
            [np.roll(padded, k, axis) for k in range(-pixels, pixels + 1)]
        )
    return padded[pixels : pixels + mask.shape[0], pixels : pixels + mask.shape[1]]
