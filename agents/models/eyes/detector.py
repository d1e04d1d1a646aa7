"""Detects objects in images of any size, in each image once."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image as Picture
from transformers.utils import logging

from inhabit.agents.models.core import Image
from inhabit.agents.models.eyes.network import Eyes, normalised

_LEAST = 0.05
"""Lowest confidence that is reported."""
_KEPT = 4096
"""Number of images whose detections are cached: about fifty episodes."""


class ImageDetector:
    """Detects objects with the vision model of a folder. Not thread-safe."""

    def __init__(self, folder: Path) -> None:
        """Load the model in `folder`, as transformers saves it."""
        logging.disable_progress_bar()
        self._eyes = Eyes.from_pretrained(folder).float().eval()
        self._names = self._eyes.config.names
        # Rescale probabilities, so that the threshold of each class becomes one half.
        marks = self._eyes.config.marks or (0.5,) * len(self._names)
        self._power = np.array([math.log(0.5) / math.log(mark) for mark in marks])
        self._seen: OrderedDict[str, Mapping[str, float]] = OrderedDict()

    def look(self, pictures: Sequence[Image]) -> list[Mapping[str, float]]:
        """The classes in each image, each with a confidence, 0..1."""
        named = {picture.digest: picture for picture in pictures}
        new = {digest: p for digest, p in named.items() if digest not in self._seen}
        for digest, sure in zip(new, self._sure([p.rgb for p in new.values()]), strict=True):
            self._seen[digest] = {
                name: round(float(one), 3)
                for name, one in zip(self._names, sure, strict=True)
                if one >= _LEAST
            }
        found = [self._seen[picture.digest] for picture in pictures]
        while len(self._seen) > _KEPT:
            self._seen.popitem(last=False)
        return found

    @torch.inference_mode()
    def _sure(self, pictures: Sequence[NDArray[np.uint8]]) -> list[NDArray[np.float64]]:
        found = []
        side = int(self._eyes.config.image_size)
        for rgb in pictures:
            pixels = torch.from_numpy(resized(rgb, side))[None]
            _, sure = self._eyes.cells(normalised(pixels))
            found.append(sure.sigmoid().amax((2, 3))[0].double().numpy() ** self._power)
        return found


def resized(rgb: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """Resize the image uint8 (H, W, 3) to a square of `side` pixels."""
    if rgb.shape[:2] == (side, side):
        return rgb
    return np.array(Picture.fromarray(rgb).resize((side, side), Picture.Resampling.BOX))
