"""Image processing for Qwen-VL models where torchvision is missing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from PIL import Image as Picture


class ImageProcessor:
    """Processor for models of the Qwen-VL family, for text and images.

    That of transformers requires torchvision, for video, which no planner uses. This one replaces
    it where torchvision is missing, with the same result for images.
    """

    image_token = "<|image_pad|>"

    def __init__(self, source: str, **options: Any) -> None:
        """Read tokenizer, chat template and image settings from the folder `source`."""
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(source, **options)
        self.image_processor = transformers.AutoImageProcessor.from_pretrained(source, **options)
        self._pad: int = self.tokenizer.convert_tokens_to_ids(self.image_token)
        self.chat_template: str | None = self.tokenizer.chat_template

    @staticmethod
    def knows(config: Any) -> bool:
        """Whether this processor fits models of that configuration."""
        kind = str(config.model_type)
        return kind.startswith("qwen") and "_vl" in kind

    def __call__(
        self,
        text: Sequence[str],
        images: Sequence[Sequence[Picture.Image]],
        *,
        add_special_tokens: bool,
        return_tensors: str,
    ) -> dict[str, torch.Tensor]:
        """The model's inputs for one prompt, with one image token for each merged patch of an
        image. `text` and `images` have one item, as other processors take them.
        """
        pictures = self.image_processor(images=list(images[0]), return_tensors=return_tensors)
        merged = self.image_processor.merge_size**2
        counts = (pictures["image_grid_thw"].prod(-1) // merged).tolist()
        before, *parts = text[0].split(self.image_token)
        long = before + "".join(
            self.image_token * count + part for count, part in zip(counts, parts, strict=True)
        )
        ids = self.tokenizer(
            long, add_special_tokens=add_special_tokens, return_tensors=return_tensors
        )["input_ids"]
        kinds = (ids == self._pad).long()
        return {"input_ids": ids, "mm_token_type_ids": kinds, **pictures}

    def save_pretrained(self, folder: Path) -> None:
        """Write tokenizer, chat template and image settings to `folder`."""
        self.tokenizer.save_pretrained(folder)
        self.image_processor.save_pretrained(folder)
