"""A picture in a terminal: two pixels a character, one above the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from rich.style import Style
from rich.text import Text


def blocks(rgb: NDArray[np.uint8], *, width: int) -> Text:
    """The picture `rgb`, uint8 (H, W, 3), as upper half blocks, `width` characters wide."""
    height = max(2, round(rgb.shape[0] * width / rgb.shape[1] / 2) * 2)
    small = np.asarray(Image.fromarray(rgb).resize((width, height), Image.Resampling.BOX))
    text = Text()
    for upper, lower in zip(small[0::2], small[1::2], strict=True):
        for above, below in zip(upper.tolist(), lower.tolist(), strict=True):
            style = Style(color=_colour(above), bgcolor=_colour(below))
            text.append("▀", style)
        text.append("\n")
    text.rstrip()
    return text


def _colour(rgb: list[int]) -> str:
    red, green, blue = rgb
    return f"#{red:02x}{green:02x}{blue:02x}"
