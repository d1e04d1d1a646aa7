"""The vision model: a convolutional network that detects classes in each cell of an image.

A residual network like ResNet (He et al., 2016), small enough for two cores: 160x160 pixels are
reduced to 10x10 cells. It is trained on labels from a simulator. It can also serve as the vision
tower of a LLaVA (Liu et al., 2023): 2x2 cells make a token of their features and class
probabilities.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image as Picture
from torch import nn
from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput
from transformers.utils import logging

from inhabit.agents.models.core import Image
from inhabit.agents.models.eyes import BUNDLED

STRIDE = 16
"""Pixels along the side of a cell."""


class EyesConfig(PretrainedConfig):  # type: ignore[misc]
    """Configuration of the vision model."""

    model_type = "inhabit_eyes"

    def __init__(
        self,
        image_size: int = 160,
        widths: tuple[int, ...] = (32, 48, 96, 160, 256),
        depths: tuple[int, ...] = (1, 2, 2, 2),
        names: tuple[str, ...] = (),
        marks: tuple[float, ...] = (),
        merge: int = 2,
        **rest: Any,
    ) -> None:
        """Create a configuration.

        Args:
            image_size: side of the square images, in pixels; a multiple of `STRIDE * merge`.
            widths: channels of the stem, and of each stage after it.
            depths: blocks of each stage.
            names: of the classes; a cell may show several.
            marks: decision threshold of each class; empty for one half.
            merge: cells along each side of a token.
            rest: options of transformers.
        """
        super().__init__(**rest)
        self.image_size = image_size
        self.widths = tuple(widths)
        self.depths = tuple(depths)
        self.names = tuple(names)
        self.marks = tuple(marks)
        self.merge = merge

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.names)

    @property
    def hidden_size(self) -> int:
        """Size of a token, as a projector takes it."""
        return int(self.widths[-1]) + self.classes

    @property
    def tokens(self) -> int:
        """Number of tokens of an image."""
        return int(self.image_size // STRIDE // self.merge) ** 2


class Eyes(PreTrainedModel):  # type: ignore[misc]
    """Maps normalised images to cells and tokens."""

    config_class = EyesConfig
    base_model_prefix = "eyes"
    main_input_name = "pixel_values"
    _no_split_modules = ("_Block",)

    def __init__(self, config: EyesConfig) -> None:
        super().__init__(config)
        first, *rest = config.widths
        layers: list[nn.Module] = [_convolution(3, first, 2), nn.ReLU()]
        width = first
        for stage, (wider, depth) in enumerate(zip(rest, config.depths, strict=True)):
            for block in range(depth):
                stride = 2 if block == 0 and stage < 3 else 1
                layers.append(_Block(width, wider, stride))
                width = wider
        self.body = nn.Sequential(*layers)
        self.classify = nn.Conv2d(width, config.classes, 1)
        # Most cells show none of most classes.
        nn.init.constant_(self.classify.bias, -4.0)  # type: ignore[arg-type]
        self.post_init()

    def cells(self, pixel_values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Features and class logits of each cell.

        Args:
            pixel_values: (images, 3, side, side).

        Returns:
            (images, width, cells, cells) and (images, classes, cells, cells).
        """
        shown = self.body(pixel_values)
        return shown, self.classify(shown)

    def forward(self, pixel_values: torch.Tensor, **ignored: Any) -> BaseModelOutput:
        """Tokens (images, tokens, hidden_size), as the last and only hidden state."""
        shown, sure = self.cells(pixel_values)
        merge = self.config.merge
        shown = nn.functional.avg_pool2d(shown, merge)
        # Maximum, because an average would miss small objects.
        sure = nn.functional.max_pool2d(sure.sigmoid(), merge)
        tokens = torch.cat([shown, sure], 1).flatten(2).transpose(1, 2)
        return BaseModelOutput(last_hidden_state=tokens, hidden_states=(tokens,))

    def _init_weights(self, module: nn.Module) -> None:
        """Keep the initialization of torch."""


class _Block(nn.Module):
    """Two convolutions with a residual connection."""

    def __init__(self, width: int, wider: int, stride: int) -> None:
        super().__init__()
        self.first = _convolution(width, wider, stride)
        self.second = _convolution(wider, wider, 1)
        same = stride == 1 and width == wider
        self.around = nn.Identity() if same else _convolution(width, wider, stride, size=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(images, width, n, n) to (images, wider, n / stride, n / stride)."""
        deep = self.second(nn.functional.relu(self.first(x)))
        return nn.functional.relu(deep + self.around(x))


def _convolution(width: int, wider: int, stride: int, size: int = 3) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(width, wider, size, stride, size // 2, bias=False), nn.BatchNorm2d(wider)
    )


def normalised(rgb: torch.Tensor) -> torch.Tensor:
    """Normalise images 0..255, (n, H, W, 3), to about -1..1, (n, 3, H, W)."""
    return ((rgb.float() - 127.5) / 64.0).permute(0, 3, 1, 2)


def register() -> None:
    """Register the model with transformers. Can be called twice."""
    AutoConfig.register(EyesConfig.model_type, EyesConfig, exist_ok=True)
    AutoModel.register(EyesConfig, Eyes, exist_ok=True)


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
