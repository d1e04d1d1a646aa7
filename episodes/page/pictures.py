"""Pictures of a run, as text that stands in a page."""

from __future__ import annotations

import base64
import io
from pathlib import Path

from PIL import Image

_FORMATS = ("JPEG",)


def inline(file: Path) -> str | None:
    """The picture as a `data:` address; None where it is missing or no JPEG."""
    try:
        content = file.read_bytes()
        with Image.open(io.BytesIO(content), formats=_FORMATS) as picture:
            picture.verify()
    except (OSError, SyntaxError, Image.DecompressionBombError):
        return None
    return _address(content)


def thumbnail(file: Path, side: int = 160) -> str | None:
    """The picture no larger than `side` pixels, as a `data:` address; None as with `inline`."""
    small = io.BytesIO()
    try:
        with Image.open(file, formats=_FORMATS) as picture:
            picture.thumbnail((side, side))
            picture.convert("RGB").save(small, "JPEG", quality=80)
    except (OSError, SyntaxError, Image.DecompressionBombError):
        return None
    return _address(small.getvalue())


def _address(jpeg: bytes) -> str:
    return "data:image/jpeg;base64," + base64.b64encode(jpeg).decode()
