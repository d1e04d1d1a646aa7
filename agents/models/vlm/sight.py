"""What the package's vision model detects in a look, as a table: one row for each class.

A look is all the images of one step: the frames of a clip, and then the present image.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from inhabit.agents.models.eyes.network import CellDetector

FEATURES = 5
"""Features of a detection, after its class: confidence, confidence in the present image, and where
it is best seen: column and row of the image, -1 to 1, and its size as a share of the image."""
_LEAST = 0.05
"""Lowest confidence of a detection."""

Table = NDArray[np.float32]
"""Detections, (n, 1 + FEATURES): the class and its features; the surest first."""


class FrameDetector(CellDetector):
    """Detects objects in the images of a look."""

    def frame(self, rgb: NDArray[np.uint8]) -> Table:
        """The best cell of each class in the image uint8 (H, W, 3), in the order of the classes.

        A black image, or one of another single grey, shows nothing, whatever the network says.
        """
        if rgb.min() == rgb.max():
            return np.column_stack(
                [np.arange(len(self.names)), np.zeros((len(self.names), FEATURES))]
            ).astype(np.float32)
        cells = self.cells(rgb)[1].sigmoid()
        side = cells.shape[-1]
        best, at = cells.flatten(1).max(1)
        size = (cells >= best[:, None, None] / 2).float().mean((1, 2))
        row, column = at // side, at % side
        middle = (side - 1) / 2
        place = torch.stack([column - middle, row - middle], 1) / middle
        sure = best.numpy() ** self._power.astype(np.float32)
        classes = np.arange(len(sure), dtype=np.float32)
        return np.column_stack([classes, sure, sure, place.numpy(), size.numpy()]).astype(
            np.float32
        )


def look(frames: Sequence[Table]) -> Table:
    """The detections of a look, given those of each of its images, the present one last."""
    stacked = np.stack(frames)
    best = stacked[:, :, 1].argmax(0)
    found: Table = stacked[best, np.arange(stacked.shape[1])]
    found[:, 2] = frames[-1][:, 1]
    found = found[found[:, 1] >= _LEAST]
    return found[np.argsort(-found[:, 1], kind="stable")]


def nothing() -> Table:
    """The detections of a black image."""
    return np.zeros((0, 1 + FEATURES), np.float32)
