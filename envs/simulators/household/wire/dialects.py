"""What releases 2.1.0 and 2.7 of AI2-THOR's client want otherwise than 4.3.0 and 5.0.0.

Their images of ids and depth have three channels, and where each id is in the image is told to them
as boxes. Release 2.1.0, which ALFRED's code uses, speaks HTTP alone and does not say so; and its
Unity took any argument with any action. Source: `ai2thor/server.py` of 2.1.0 and of 2.7.4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.household.wire.pixels import FAR_PLANE, NEAR_PLANE, Color

_FARTHEST = 10.0
"""Metres that the depth of release 2.1.0 goes to."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one release of the client differs."""

    farthest: float | None = None
    """Metres that its depth goes to in three channels; None for plain metres as float32."""
    three_channels: bool = False
    """Whether its images of ids have no alpha, and come with boxes."""
    any_argument: bool = False
    """Whether arguments that an action does not take are ignored, and missing ones are 0."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Keys of an object's metadata that it knows by another name."""

    @classmethod
    def of(cls, release: str) -> Dialect:
        """That of a release, such as "2.7.4"; of any that is not named here, that of 5.0.0."""
        aliases = {"temperature": "ObjectTemperature"}
        if release == "2.1.0":
            return cls(_FARTHEST, three_channels=True, any_argument=True, aliases=aliases)
        if release.startswith("2.7."):
            return cls(FAR_PLANE - NEAR_PLANE, three_channels=True, aliases=aliases)
        return cls()


def without_alpha(pixels: bytes) -> bytes:
    """An image of names without its alpha."""
    return np.frombuffer(pixels, np.uint8).reshape(-1, 4)[:, :3].tobytes()


def depth(metres: NDArray[np.float32], farthest: float = _FARTHEST) -> bytes:
    """Metres (H, W) as 256ths of the farthest: whole ones, and two further places."""
    left = np.minimum(metres[::-1] / farthest, 1.0) * 256.0
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
