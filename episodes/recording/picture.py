"""Recorded images, read as what anybody may have put there."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image

from inhabit.envs.files import read_whole
from inhabit.envs.pictures import read_image

FRAMES = ("JPEG",)
"""The formats of images in a run."""
MOST_BYTES = 1 << 26
"""Of an image's file."""


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
        return read_image(io.BytesIO(content), formats)
    except ValueError:
        return None
