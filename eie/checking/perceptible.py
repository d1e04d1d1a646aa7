"""Whether a person would notice the difference between two images."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image

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
