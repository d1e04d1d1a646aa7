"""Detects objects in images of any size, in each image once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image as Picture
from transformers.utils import logging

from inhabit.agents.models.core import Image
from inhabit.agents.models.eyes import BUNDLED
from inhabit.agents.models.eyes.network import Eyes, normalised

_LEAST = 0.05
"""Lowest confidence that is reported."""
_KEPT = 4096
"""Number of images whose detections are cached: about fifty episodes."""


class CellDetector:
    """Tells what each cell of an image shows. Not thread-safe."""

    def __init__(self, folder: Path = BUNDLED) -> None:
        """Load the vision model in `folder`, as transformers saves it."""
        logging.disable_progress_bar()
        self._eyes = Eyes.from_pretrained(folder).float().eval()
        self.names: tuple[str, ...] = tuple(self._eyes.config.names)
        # Rescale probabilities, so that the threshold of each class becomes one half.
        marks = self._eyes.config.marks or (0.5,) * len(self.names)
        self._power = np.log(0.5) / np.log(np.array(marks))

    @torch.inference_mode()
    def cells(self, rgb: NDArray[np.uint8]) -> tuple[torch.Tensor, torch.Tensor]:
        """Features and log-odds of the classes, float32 (features or classes, rows, columns).

        Args:
            rgb: the image, uint8 (H, W, 3).
        """
        pixels = torch.from_numpy(resized(rgb, int(self._eyes.config.image_size)))[None]
        shown, sure = self._eyes.cells(normalised(pixels))
        return shown[0], sure[0]


class ImageDetector(CellDetector):
    """Detects objects in images, in each of them once."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._seen: OrderedDict[str, Mapping[str, float]] = OrderedDict()

    def look(self, pictures: Sequence[Image]) -> list[Mapping[str, float]]:
        """The classes in each image, each with a confidence, 0..1."""
        named = {picture.digest: picture for picture in pictures}
        new = {digest: p for digest, p in named.items() if digest not in self._seen}
        for digest, picture in new.items():
            sure = self.cells(picture.rgb)[1].sigmoid().amax((1, 2)).double().numpy() ** self._power
            self._seen[digest] = {
                name: round(float(one), 3)
                for name, one in zip(self.names, sure, strict=True)
                if one >= _LEAST
            }
        found = [self._seen[picture.digest] for picture in pictures]
        while len(self._seen) > _KEPT:
            self._seen.popitem(last=False)
        return found


def resized(rgb: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """Resize the image uint8 (H, W, 3) to a square of `side` pixels."""
    if rgb.shape[:2] == (side, side):
        return rgb
    return np.array(Picture.fromarray(rgb).resize((side, side), Picture.Resampling.BOX))
