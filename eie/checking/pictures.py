"""Whether a picture shows what it should, and a print of it by which near copies are found."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image

_DARK = 16.0
"""Mean of all values (0 to 255) under which nothing can be told apart."""
_PLAIN = 6.0
"""Standard deviation of the brightness under which a picture is of one colour."""
_SIDE = 16
_CLUTTERED = 60
"""Things in sight at once."""


def unclear(rgb: NDArray[np.uint8], in_sight: int) -> str | None:
    """What is wrong with a picture, uint8 (H, W, 3), that shows so many things; None if nothing."""
    if float(rgb.mean()) < _DARK:
        return "The picture is nearly black."
    if float(rgb.mean(axis=2).std()) < _PLAIN:
        return "The picture is nearly of one colour."
    if in_sight > _CLUTTERED:
        return f"The picture shows {in_sight} things at once."
    return None


def fingerprint(rgb: NDArray[np.uint8]) -> int:
    """256 bits: of a 17 x 16 version, whether each cell is brighter than the one to its right.

    That is a difference hash (dHash); like pictures differ in few bits.
    """
    small = Image.fromarray(rgb).convert("L").resize((_SIDE + 1, _SIDE), Image.Resampling.BOX)
    cells = np.asarray(small, np.int16)
    bits = (cells[:, :-1] > cells[:, 1:]).ravel()
    return int.from_bytes(np.packbits(bits).tobytes(), "big")


def apart(one: int, other: int) -> int:
    """In how many bits two fingerprints differ."""
    return (one ^ other).bit_count()


def png(rgb: NDArray[np.uint8]) -> bytes:
    """The picture as a PNG file."""
    buffer = io.BytesIO()
    Image.fromarray(rgb).save(buffer, "PNG", compress_level=4)
    return buffer.getvalue()
