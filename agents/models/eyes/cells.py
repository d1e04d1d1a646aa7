"""What the bundled vision model tells of each cell of an image."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from transformers.utils import logging

from inhabit.agents.models.eyes import BUNDLED
from inhabit.agents.models.eyes.detector import resized
from inhabit.agents.models.eyes.network import Eyes, normalised


class CellDetector:
    """The bundled vision model, without its threshold. Not thread-safe."""

    def __init__(self) -> None:
        """Load it."""
        logging.disable_progress_bar()
        self._eyes = Eyes.from_pretrained(BUNDLED).float().eval()
        self.names: tuple[str, ...] = tuple(self._eyes.config.names)

    @torch.inference_mode()
    def look(self, rgb: NDArray[np.uint8]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Features and log-odds of the classes, float32 (features or classes, rows, columns).

        Args:
            rgb: the image, uint8 (H, W, 3).
        """
        pixels = torch.from_numpy(resized(rgb, int(self._eyes.config.image_size)))[None]
        shown, sure = self._eyes.cells(normalised(pixels))
        return shown[0].numpy(), sure[0].numpy()
