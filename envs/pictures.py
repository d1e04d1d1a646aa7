"""Images of anybody's, read within bounds."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from PIL import Image, UnidentifiedImageError

FORMATS = ("BMP", "GIF", "JPEG", "PNG", "WEBP")
"""Those that Pillow decodes by itself. For others, such as EPS, it starts programs."""
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
