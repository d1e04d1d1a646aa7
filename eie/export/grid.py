"""Several images as one, for models that take a single image."""

from __future__ import annotations

import math
from collections.abc import Sequence
from hashlib import sha256
from io import BytesIO

import numpy as np
from PIL import Image

from inhabit.eie.export.files import ExportImage

_GAP = 4
"""Pixels of white between two images."""


def grid(images: Sequence[ExportImage]) -> tuple[str, bytes]:
    """File name and PNG of the images in reading order, in rows as long as there are rows.

    Images of another size than the last one are scaled to its size.

    Raises:
        RecordError: an image is gone.
    """
    last = Image.fromarray(images[-1].pixels())
    width, height = last.size
    across = math.ceil(math.sqrt(len(images)))
    down = math.ceil(len(images) / across)
    sheet = Image.new(
        "RGB", (across * (width + _GAP) - _GAP, down * (height + _GAP) - _GAP), "white"
    )
    for place, image in enumerate(images):
        shown = Image.fromarray(image.pixels())
        shown = shown if shown.size == last.size else shown.resize(last.size)
        row, column = divmod(place, across)
        sheet.paste(shown, (column * (width + _GAP), row * (height + _GAP)))
    digest = sha256(np.asarray(sheet).tobytes()).hexdigest()[:16]
    stream = BytesIO()
    sheet.save(stream, "PNG")
    return f"grid-{digest}.png", stream.getvalue()
