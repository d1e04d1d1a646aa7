"""Images as other programs take them."""

from __future__ import annotations

import base64
import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image


def png(picture: NDArray[np.uint8]) -> bytes:
    """An image, uint8 (H, W, 3), as a PNG file. Quick rather than small."""
    out = io.BytesIO()
    Image.fromarray(picture).save(out, "PNG", compress_level=1)
    return out.getvalue()


def base64_png(picture: NDArray[np.uint8]) -> str:
    """The same in base64."""
    return base64.b64encode(png(picture)).decode("ascii")


def data_url(picture: NDArray[np.uint8]) -> str:
    """The same as a `data:` URL, which chat models' messages take as an image."""
    return f"data:image/png;base64,{base64_png(picture)}"
