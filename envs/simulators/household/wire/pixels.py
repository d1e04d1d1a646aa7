"""Images in AI2-THOR's form: raw pixels, bottom row first, and object colours."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.household.state.cameras import FAR_PLANE

Color = tuple[int, int, int]
_NOTHING = 0xFF000000
"""Black, with the alpha of 255 that the client expects everywhere."""


class Palette:
    """A distinct colour for every object and type of a room, equal in every process."""

    def __init__(self) -> None:
        self._colors: dict[str, Color] = {}
        self._taken: set[Color] = {(0, 0, 0)}

    def add(self, names: Iterable[str]) -> None:
        """Assign colours to new names."""
        for name in names:
            if name not in self._colors:
                self._colors[name] = self._free(name)
                self._taken.add(self._colors[name])

    def metadata(self) -> list[dict[str, object]]:
        """As `metadata["colors"]` has it."""
        return [{"name": name, "color": list(color)} for name, color in self._colors.items()]

    def colors(self, names: Sequence[str]) -> list[Color]:
        """The colour of each name."""
        return [self._colors[name] for name in names]

    def pixels(self, names: Sequence[str]) -> NDArray[np.uint32]:
        """The pixel of each name, and last (at index -1) that of the background."""
        colors = (self._colors[name] for name in names)
        values = [r | g << 8 | b << 16 | 0xFF000000 for r, g, b in colors]
        return np.array([*values, _NOTHING], dtype="<u4")

    def _free(self, name: str) -> Color:
        digest = hashlib.sha256(name.encode()).digest()
        while (color := (digest[0], digest[1], digest[2])) in self._taken:
            digest = hashlib.sha256(digest).digest()
        return color


def rgb(pixels: NDArray[np.uint8]) -> bytes:
    """Colours, (H, W, 3)."""
    return pixels[::-1].tobytes()


def depth(metres: NDArray[np.float32]) -> bytes:
    """Depth in metres, (H, W); the background is at the far plane."""
    return np.minimum(metres[::-1], np.float32(FAR_PLANE)).tobytes()


def names(ids: NDArray[np.int32], colors: NDArray[np.uint32]) -> bytes:
    """Names as colours, (H, W), given `Palette.pixels` for all names."""
    return colors[ids[::-1]].tobytes()


def normals(facing: NDArray[np.float32]) -> bytes:
    """`Frame.normals` as colours, (H, W, 4): -1 to 1 are 0 to 255; black where nothing is seen."""
    seen = facing.any(axis=2, keepdims=True)
    colors = np.rint((facing + 1.0) * 127.5) * seen
    alpha = np.full((*facing.shape[:2], 1), 255.0, np.float32)
    return np.concatenate((colors, alpha), axis=2).astype(np.uint8)[::-1].tobytes()
