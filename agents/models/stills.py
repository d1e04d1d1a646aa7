"""Qwen-VL's processor for pictures alone.

The one that transformers has wants torchvision, for films, which no planner shows. This one stands
in where that is missing; for pictures it says the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
import transformers
from PIL import Image as Picture


class Stills:
    """Words and pictures to what a model of the Qwen-VL family reads."""

    image_token = "<|image_pad|>"

    def __init__(self, source: str) -> None:
        """Read tokenizer, chat template and picture settings at `source`, a folder or hub name."""
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(source)
        self._pictures = transformers.AutoImageProcessor.from_pretrained(source)
        self._pad: int = self.tokenizer.convert_tokens_to_ids(self.image_token)
        self.chat_template: str | None = self.tokenizer.chat_template

    @staticmethod
    def knows(config: Any) -> bool:
        """Whether models of this configuration are read so."""
        kind = str(config.model_type)
        return kind.startswith("qwen") and "_vl" in kind

    def apply_chat_template(self, turns: Sequence[Mapping[str, object]], **options: Any) -> str:
        """The text of a prompt, with one `image_token` for each picture."""
        return str(self.tokenizer.apply_chat_template(turns, **options))

    def __call__(
        self,
        text: str,
        images: Sequence[Picture.Image],
        *,
        add_special_tokens: bool,
        return_tensors: str,
    ) -> dict[str, torch.Tensor]:
        """What the model reads: as many image tokens for a picture as it has patches, merged."""
        pictures = self._pictures(images=list(images), return_tensors=return_tensors)
        merged = self._pictures.merge_size**2
        counts = (pictures["image_grid_thw"].prod(-1) // merged).tolist()
        before, *parts = text.split(self.image_token)
        long = before + "".join(
            self.image_token * count + part for count, part in zip(counts, parts, strict=True)
        )
        ids = self.tokenizer(
            long, add_special_tokens=add_special_tokens, return_tensors=return_tensors
        )["input_ids"]
        kinds = (ids == self._pad).long()
        return {"input_ids": ids, "mm_token_type_ids": kinds, **pictures}
