"""What release 2.1.0 of AI2-THOR's client, which ALFRED's code uses, wants otherwise than 5.0.0.

It speaks HTTP alone and does not say so; its pictures of names and depth have three channels; and
where each name is in the picture is told to it as boxes. Source: `ai2thor/server.py` of 2.1.0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.household.wire.pixels import Color

ALIASES: Mapping[str, str] = {"temperature": "ObjectTemperature"}
"""Keys of an object's metadata that it knows by another name."""
_FARTHEST = 10.0
"""Metres that its depth goes to."""


def names(pixels: bytes) -> bytes:
    """A picture of names without its alpha."""
    return np.frombuffer(pixels, np.uint8).reshape(-1, 4)[:, :3].tobytes()


def depth(metres: NDArray[np.float32]) -> bytes:
    """Metres (H, W) as 256ths of ten metres: whole ones, and two further places."""
    left = np.minimum(metres[::-1] / _FARTHEST, 1.0) * 256.0
    places = []
    for _ in range(3):
        place = np.minimum(np.floor(left), 255.0)
        places.append(place.astype(np.uint8))
        left = (left - place) * 256.0
    return np.stack(places, axis=-1).tobytes()


def bounds(ids: NDArray[np.int32], colors: Sequence[Color]) -> list[dict[str, object]]:
    """The box around each name that is seen: columns, and rows counted from below.

    Args:
        ids: (H, W), index into `colors`; -1 for nothing.
        colors: of the names.
    """
    found: list[dict[str, object]] = []
    for index in np.unique(ids[ids >= 0]).tolist():
        rows, columns = np.nonzero(ids == index)
        tall = ids.shape[0]
        box = [columns.min(), tall - 1 - rows.max(), columns.max(), tall - 1 - rows.min()]
        found.append({"color": list(colors[index]), "bounds": [int(side) for side in box]})
    return found
