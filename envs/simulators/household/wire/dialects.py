"""Protocol differences of AI2-THOR's client 2.1.0 and 2.7 from 4.3.0 and 5.0.0.

Their instance and depth images have three channels, and each instance's bounding box is sent along.
Release 2.1.0, which ALFRED's code uses, supports HTTP only and sets no server type; its Unity build
accepts any argument with any action. Source: `ai2thor/server.py` of 2.1.0 and of 2.7.4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.household.state.cameras import FAR_PLANE, NEAR_PLANE
from inhabit.envs.simulators.household.wire.pixels import Color

_FARTHEST = 10.0
"""Range in metres of the depth images of release 2.1.0."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """The protocol differences of one release of the client."""

    farthest: float | None = None
    """Range in metres of its three-channel depth; None for float32 metres."""
    three_channels: bool = False
    """Whether its instance images have no alpha channel and come with bounding boxes."""
    any_argument: bool = False
    """Whether arguments that an action does not take are ignored, and missing ones are 0."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Metadata keys of objects that have another name in this release."""

    @classmethod
    def of(cls, release: str) -> Dialect:
        """The dialect of a release, such as "2.7.4"; that of 5.0.0 for any other release."""
        aliases = {"temperature": "ObjectTemperature"}
        if release == "2.1.0":
            return cls(_FARTHEST, three_channels=True, any_argument=True, aliases=aliases)
        if release.startswith("2.7."):
            return cls(FAR_PLANE - NEAR_PLANE, three_channels=True, aliases=aliases)
        return cls()


def without_alpha(pixels: bytes) -> bytes:
    """An instance image without its alpha channel."""
    return np.frombuffer(pixels, np.uint8).reshape(-1, 4)[:, :3].tobytes()


def depth(metres: NDArray[np.float32], farthest: float = _FARTHEST) -> bytes:
    """Encode depth in metres (H, W) as three base-256 digits of its fraction of the range."""
    left = np.minimum(metres[::-1] / farthest, 1.0) * 256.0
    places = []
    for _ in range(3):
        place = np.minimum(np.floor(left), 255.0)
        places.append(place.astype(np.uint8))
        left = (left - place) * 256.0
    return np.stack(places, axis=-1).tobytes()


def bounds(ids: NDArray[np.int32], colors: Sequence[Color]) -> list[dict[str, object]]:
    """The bounding box of each visible instance: columns, and rows counted from the bottom.

    Args:
        ids: (H, W), index into `colors`; -1 for nothing.
        colors: of the instances.
    """
    found: list[dict[str, object]] = []
    for index in np.unique(ids[ids >= 0]).tolist():
        rows, columns = np.nonzero(ids == index)
        tall = ids.shape[0]
        box = [columns.min(), tall - 1 - rows.max(), columns.max(), tall - 1 - rows.min()]
        found.append({"color": list(colors[index]), "bounds": [int(side) for side in box]})
    return found
