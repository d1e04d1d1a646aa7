"""Recorded images, read as what anybody may have put there."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image

from inhabit.envs.files import read_whole

FRAMES = ("JPEG",)
"""The formats of images in a run."""
MOST_BYTES = 1 << 26
"""Of an image's file."""
MOST_PIXELS = 4096 * 4096
"""What any simulator draws at the most: a file that claims more is made to fill the memory."""


def read_picture(file: Path, inside: Path, formats: tuple[str, ...]) -> Image.Image | None:
    """The image in a file below the folder `inside`; None where there is none that can be shown.

    Args:
        file: which. It may be missing, a link, or no image.
        inside: the folder that the user named. Below it no link is followed.
        formats: what it may be, such as ("JPEG",).
    """
    try:
        content = read_whole(file, inside, most=MOST_BYTES)
    except OSError:
        return None
    return decoded(content, formats)


def decoded(content: bytes, formats: tuple[str, ...]) -> Image.Image | None:
    """The image that `content` is; None where it is none, or is too large."""
    try:
        with Image.open(io.BytesIO(content), formats=formats) as picture:
            if picture.width * picture.height > MOST_PIXELS:
                return None
            picture.load()
            return picture.copy()
    # What Pillow's decoders raise on broken files.
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return None
