"""Images of anybody's, read within bounds; and images as PNG files."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

FORMATS = ("BMP", "GIF", "JPEG", "PNG", "WEBP")
"""Formats that Pillow decodes by itself. For others, such as EPS, it starts programs."""
MOST_PIXELS = 4096 * 4096
"""What any simulator draws at the most: an image that claims more is made to fill the memory."""


def read_image(
    source: Path | IO[bytes], formats: tuple[str, ...] = FORMATS, *, most: int = MOST_PIXELS
) -> Image.Image:
    """The image in `source`, in one of `formats`, of at most `most` pixels.

    Raises:
        ValueError: there is none, it is broken, or it has too many pixels.
    """
    try:
        with Image.open(source, formats=formats) as picture:
            if picture.width * picture.height > most:
                raise ValueError(f"it has {picture.width} x {picture.height} pixels")
            picture.load()
            return picture.copy()
    except UnidentifiedImageError as error:
        raise ValueError(f"it is none of {', '.join(formats)}") from error
    # What Pillow's decoders raise on broken files.
    except (OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError(str(error)) from error


def png(pixels: NDArray[np.uint8] | NDArray[np.uint16], level: int = 1) -> bytes:
    """An image, uint8 (H, W, 3) or uint16 (H, W), as a PNG file.

    `level` is from 1, quick, to 9, small.
    """
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG", compress_level=level)
    return out.getvalue()


def base64_png(pixels: NDArray[np.uint8] | NDArray[np.uint16]) -> str:
    """An image as PNG in base64."""
    return base64.b64encode(png(pixels)).decode("ascii")


def data_url(rgb: NDArray[np.uint8]) -> str:
    """An image as a `data:` URL, which chat models' messages take as an image."""
    return f"data:image/png;base64,{base64_png(rgb)}"
