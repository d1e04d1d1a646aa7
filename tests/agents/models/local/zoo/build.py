"""Writes a tiny model of an architecture to a folder, as a user would find a real one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText

from tests.agents.models.local.tiny import CHAT, CHAT_OF_PARTS, tokenizer

WIDTH = 32
TEXT: Mapping[str, Any] = {
    "hidden_size": WIDTH,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 4096,
    # Large enough that a wrong mask or position moves the scores by far more than 1e-3.
    "initializer_range": 0.3,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "pad_token_id": 2,
}
VISION: Mapping[str, Any] = {
    "hidden_size": WIDTH,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "image_size": 16,
    "patch_size": 4,
    "initializer_range": 0.3,
}


@dataclass(frozen=True, slots=True)
class Architecture:
    """A model type of transformers, and the configuration of a tiny one."""

    model_type: str
    text: Mapping[str, Any] = field(default_factory=dict)
    """Added to `TEXT`."""
    vision: Mapping[str, Any] | None = None
    """Added to `VISION`; None for a model of text alone."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """Other fields. "@TOKEN" stands for a token's number."""
    tokens: tuple[str, ...] = ()
    """Special tokens besides those of `tests.agents.models.local.tiny.tokenizer`."""
    image: str = "<image>"
    """What the chat template writes for an image."""
    processor: str = ""
    image_processor: str = ""
    image_settings: Mapping[str, Any] = field(default_factory=dict)
    processor_settings: Mapping[str, Any] = field(default_factory=dict)
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Special tokens that the processor finds as attributes of the tokenizer."""
    video: str = ""
    """The class of the video processor, which needs torchvision."""
    torchvision: bool = False
    """Whether the image processor needs torchvision too."""
    sound: str = ""
    """The class of the feature extractor for sound."""
    remarks: str = ""
    """Why the configuration is as it is."""

    @property
    def needs_torchvision(self) -> bool:
        """Whether its processor can be made only where torchvision is installed."""
        return self.torchvision or bool(self.video)

    @property
    def sees(self) -> bool:
        """Whether it takes images."""
        return self.vision is not None


def save(architecture: Architecture, folder: Path) -> Path:
    """Write a tiny model of `architecture` to `folder`."""
    torch.manual_seed(0)
    template = CHAT_OF_PARTS.replace("<image>", architecture.image) if architecture.sees else CHAT
    words = tokenizer(template, *architecture.tokens)
    if architecture.attributes:
        words = transformers.PreTrainedTokenizerFast(
            tokenizer_object=words.backend_tokenizer,
            bos_token="<s>",
            eos_token="</s>",
            pad_token="<pad>",
            extra_special_tokens=dict(architecture.attributes),
            chat_template=template,
        )
    config = _config(architecture, words)
    kind = AutoModelForImageTextToText if architecture.sees else AutoModelForCausalLM
    network = kind.from_config(config)
    _spread(network)
    network.save_pretrained(folder)
    if architecture.sees:
        _processor(architecture, words, template).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def _config(architecture: Architecture, words: Any) -> Any:
    text = {**TEXT, "vocab_size": len(words), **architecture.text}
    filled = {name: _filled(value, words) for name, value in architecture.config.items()}
    if not architecture.sees:
        return AutoConfig.for_model(architecture.model_type, **{**text, **filled})
    vision = {**VISION, **(architecture.vision or {})}
    return AutoConfig.for_model(
        architecture.model_type, text_config=text, vision_config=vision, **filled
    )


def _filled(value: Any, words: Any) -> Any:
    if isinstance(value, str) and value.startswith("@"):
        return words.convert_tokens_to_ids(value[1:])
    return value


def _processor(architecture: Architecture, words: Any, template: str) -> Any:
    images = getattr(transformers, architecture.image_processor)(**architecture.image_settings)
    more: dict[str, Any] = {
        name: _filled(value, words) for name, value in architecture.processor_settings.items()
    }
    if architecture.video:
        more["video_processor"] = getattr(transformers, architecture.video)()
    if architecture.sound:
        more["feature_extractor"] = getattr(transformers, architecture.sound)()
    kind = getattr(transformers, architecture.processor)
    return kind(image_processor=images, tokenizer=words, chat_template=template, **more)


@torch.no_grad()
def _spread(network: torch.nn.Module) -> None:
    """Draw every matrix anew, so that no architecture's own initialisation hides a wrong mask."""
    generator = torch.Generator().manual_seed(0)
    for name, weight in network.named_parameters():
        if weight.ndim >= 2 and "norm" not in name:
            weight.copy_(0.3 * torch.randn(weight.shape, generator=generator))
        elif "gate" in name or "alpha" in name:
            weight.fill_(0.7)
