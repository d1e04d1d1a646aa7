"""Pictures as the protocol has them: PNGs of colours, depth and instances."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from envs.render.stage import Frame
from envs.virtualhome.drawing.looks import seed_of
from envs.virtualhome.drawing.picture import node_of

MODES = ("normal", "seg_inst", "seg_class", "depth")
_MILLIMETRES = 1000.0
_FARTHEST = 65535
_SPREAD = 0x9E3779B1
"""Odd, so that ids up to 2^24 get different colours."""


def color_of(id_: int) -> tuple[int, int, int]:
    """The colour of a node in pictures of instances: another for every id, bright or dark."""
    code = (id_ * _SPREAD ^ 0x5A5A5A) & 0xFFFFFF
    return code >> 16, code >> 8 & 0xFF, code & 0xFF


def encode(frame: Frame, mode: str, classes: Mapping[int, str]) -> str:
    """A picture as base64 of a PNG.

    Args:
        frame: with its colours if the mode is "normal".
        mode: of `MODES`. Depth is 16 bits, in millimetres along the optical axis; 65535 is beyond.
        classes: id -> class name, for "seg_class".
    """
    if mode == "normal":
        assert frame.rgb is not None
        image = Image.fromarray(frame.rgb)
    elif mode == "depth":
        depth = np.minimum(frame.depth * _MILLIMETRES, _FARTHEST)
        image = Image.fromarray(depth.astype(np.uint16))
    else:
        image = Image.fromarray(_painted(frame, mode, classes))
    out = io.BytesIO()
    image.save(out, "PNG", compress_level=1)
    return base64.b64encode(out.getvalue()).decode()


def _painted(frame: Frame, mode: str, classes: Mapping[int, str]) -> NDArray[np.uint8]:
    """Every body in its node's colour. Walls and floors have that of their room."""
    colors = np.full((len(frame.names) + 1, 3), 255, np.uint8)
    for index, name in enumerate(frame.names):
        id_ = node_of(name)
        seed = id_ if mode == "seg_inst" else seed_of(classes[id_]) & 0xFFFFFF
        colors[index] = color_of(seed)
    return colors[frame.ids]
