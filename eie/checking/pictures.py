"""Quality of images, fingerprints of near duplicates, and differences that a person notices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image

_DARK = 16.0
"""Images with a lower mean value (0 to 255) are too dark."""
_PLAIN = 6.0
"""Images with a lower standard deviation of the brightness are of one colour."""
_SIDE = 16
_FILLED = 0.65
"""Images of which one object covers more show too little else."""
_CLUTTERED = 60
"""Images with more visible objects are too cluttered."""


def unclear(rgb: NDArray[np.uint8], in_sight: int, most: float = 0.0) -> str | None:
    """The flaw of an image; None if it is fine.

    Args:
        rgb: uint8 (H, W, 3).
        in_sight: number of visible objects.
        most: share of the image that the largest of them covers.
    """
    if float(rgb.mean()) < _DARK:
        return "The picture is nearly black."
    if float(rgb.mean(axis=2).std()) < _PLAIN:
        return "The picture is nearly of one colour."
    if in_sight > _CLUTTERED:
        return f"The picture shows {in_sight} things at once."
    if most > _FILLED:
        return f"One thing covers {most:.0%} of the picture."
    return None


def fingerprint(rgb: NDArray[np.uint8]) -> int:
    """The 256-bit difference hash (dHash): whether each cell is brighter than its right neighbour.

    Similar images differ in few bits.
    """
    small = Image.fromarray(rgb).convert("L").resize((_SIDE + 1, _SIDE), Image.Resampling.BOX)
    cells = np.asarray(small, np.int16)
    bits = (cells[:, :-1] > cells[:, 1:]).ravel()
    return int.from_bytes(np.packbits(bits).tobytes(), "big")


def apart(one: int, other: int) -> int:
    """The Hamming distance of two fingerprints."""
    return (one ^ other).bit_count()


SIDE = 160
"""Images are compared at this size, in pixels: about the smallest that models are trained at."""
CONTRAST = 24
"""Smallest difference of a colour channel, 0 to 255, that counts as a change of a pixel."""
SHARE = 0.004
"""Share of the pixels that has to change: a square of 10 x 10 pixels of 160 x 160."""
EDGE = 0.04
"""Changes within this share of the width and height from the edge do not count."""


def changed_share(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    """The share of pixels that differ visibly, 0 to 1, apart from those at the edge.

    Args:
        one: uint8 (H, W, 3).
        other: of the same shape.
    """
    difference = np.abs(_small(one) - _small(other)).max(axis=2) >= CONTRAST
    margin = round(EDGE * SIDE)
    return float(difference[margin:-margin, margin:-margin].mean())


def is_perceptible(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> bool:
    """Whether two images differ enough to be told apart."""
    return changed_share(one, other) >= SHARE


def _small(rgb: NDArray[np.uint8]) -> NDArray[np.int16]:
    resized = Image.fromarray(rgb).resize((SIDE, SIDE), Image.Resampling.BOX)
    return np.asarray(resized, np.int16)
