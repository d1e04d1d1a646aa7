"""Frames labelled by the environment: the image, and the classes in each of its cells.

Any environment with instance masks (`Observation.instances`) and object states
(`inhabit.envs.core.Factual`) can be the source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.core import Observation, SceneObject

CELLS = 10
"""Default number of cells along each side of an image."""
LEAST = 8 / 16**2
"""Minimum share of a cell's pixels that an object covers."""
_STATES = ("open", "on")
"""States that are a class of their own: an open fridge is a fridge and an "open fridge"."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledFrame:
    """An image, and the classes in each of its cells."""

    rgb: NDArray[np.uint8]
    """(H, W, 3)."""
    shown: Mapping[str, frozenset[int]]
    """Class -> the cells that show it, row by row from the top left."""
    cells: int = CELLS
    """Number of cells along each side."""


def label_frame(
    seen: Observation, things: Sequence[SceneObject], *, cells: int = CELLS, held: bool = False
) -> LabelledFrame:
    """Label an image by its instance mask.

    A held mug is labelled as "held" and "held mug" if `held`; else it is left out.

    Raises:
        ValueError: there is no image, or no mask.
    """
    if seen.rgb is None or seen.instances is None:
        raise ValueError("A frame needs an image and instance masks: set instances=true.")
    known = {thing.name: thing for thing in things if held or not thing.held}
    rows, columns = seen.instances.shape
    cell = (np.arange(rows) * cells // rows)[:, None] * cells + np.arange(
        columns
    ) * cells // columns
    least = LEAST * rows * columns / cells**2
    count = len(seen.names)
    places = cell * (count + 1) + seen.instances + 1
    pixels = np.bincount(places.ravel(), minlength=cells**2 * (count + 1))
    pixels = pixels.reshape(cells**2, count + 1)[:, 1:]
    shown: dict[str, set[int]] = {}
    for where, number in np.argwhere(pixels >= least):
        thing = known.get(seen.names[number])
        if thing is not None:
            for name in classes_of(thing):
                shown.setdefault(name, set()).add(int(where))
    kept = {name: frozenset(shown[name]) for name in sorted(shown)}
    return LabelledFrame(seen.rgb, kept, cells)


def classes_of(thing: SceneObject) -> Sequence[str]:
    """The classes of an object: its kind, and its kind with each visible state.

    A held object has the classes "held" and "held mug".
    """
    if thing.held:
        return ["held", f"held {thing.kind}"]
    states = [f"{state} {thing.kind}" for state in _STATES if thing.states.get(state)]
    return [thing.kind, *states]
