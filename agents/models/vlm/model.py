"""The model, as a class that transformers loads: a Llama with a token for each seen object; and how
it is put together from SmolLM2, the vision model, and what was trained.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import nn
from transformers import (
    AutoConfig,
    AutoModelForImageTextToText,
    AutoProcessor,
    AutoTokenizer,
    GenerationMixin,
    LlamaConfig,
    LlamaForCausalLM,
    LlamaModel,
    PretrainedConfig,
    PreTrainedModel,
)
from transformers.modeling_outputs import CausalLMOutputWithPast

from inhabit.agents.models.eyes.network import EyesConfig
from inhabit.agents.models.transformers_names import cache_input, cache_of
from inhabit.agents.models.vlm.processor import IMAGE, InhabitVlmProcessor
from inhabit.agents.models.vlm.sight import FEATURES


class InhabitVlmConfig(PretrainedConfig):  # type: ignore[misc]
    """Configuration."""

    model_type = "inhabit_vlm"
    sub_configs = {"text_config": LlamaConfig}  # noqa: RUF012 (transformers' interface)

    def __init__(
        self,
        text_config: LlamaConfig | dict[str, Any] | None = None,
        classes: tuple[str, ...] = (),
        image_token_id: int = 0,
        **rest: Any,
    ) -> None:
        """Create a configuration.

        Args:
            text_config: of the language model.
            classes: names of the classes of its vision model.
            image_token_id: the token that stands for a detected object.
            rest: options of transformers.
        """
        known = text_config if isinstance(text_config, dict) else {}
        self.text_config = (
            text_config if isinstance(text_config, LlamaConfig) else LlamaConfig(**known)
        )
        self.classes = tuple(classes)
        self.image_token_id = image_token_id
        rest.setdefault("tie_word_embeddings", self.text_config.tie_word_embeddings)
        super().__init__(**rest)


class ObjectEmbedding(nn.Module):
    """Embeds detections. Each starts as the word of its class, moved by what is learned."""

    def __init__(self, classes: int, width: int) -> None:
        super().__init__()
        self.word = nn.Embedding(classes, width)
        self.features = nn.Linear(FEATURES, width, bias=False)

    def forward(self, detections: torch.Tensor) -> torch.Tensor:
        """(n, 1 + FEATURES), as `agents/models/vlm/sight.py` has them, to (n, width)."""
        word: torch.Tensor = self.word(detections[:, 0].long())
        moved: torch.Tensor = self.features(detections[:, 1:].to(word.dtype))
        return word + moved


class InhabitVlm(PreTrainedModel, GenerationMixin):  # type: ignore[misc]
    """A Llama that reads detected objects between words."""

    config_class = InhabitVlmConfig
    base_model_prefix = "language_model"
    main_input_name = "input_ids"
    _no_split_modules = ("LlamaDecoderLayer",)
    _supports_sdpa = True
    _tied_weights_keys = {"lm_head.weight": "language_model.embed_tokens.weight"}  # noqa: RUF012

    def __init__(self, config: InhabitVlmConfig) -> None:
        super().__init__(config)
        text = config.text_config
        self.language_model = LlamaModel(text)
        self.objects = ObjectEmbedding(len(config.classes), text.hidden_size)
        self.lm_head = nn.Linear(text.hidden_size, text.vocab_size, bias=False)
        self.post_init()

    def get_input_embeddings(self) -> Any:
        """The embeddings of tokens."""
        return self.language_model.get_input_embeddings()

    def set_input_embeddings(self, value: nn.Module) -> None:
        """Replace the embeddings of tokens."""
        self.language_model.set_input_embeddings(value)

    def embedded(self, input_ids: torch.Tensor, detections: torch.Tensor | None) -> torch.Tensor:
        """Tokens (rows, n) and the detections of all rows, in order, as (rows, n, width)."""
        found: torch.Tensor = self.get_input_embeddings()(input_ids)
        if detections is None or not len(detections):
            return found
        objects = (input_ids == self.config.image_token_id)[..., None].expand_as(found)
        shown: torch.Tensor = self.objects(detections)
        return found.masked_scatter(objects, shown.to(found.dtype))

    def forward(
        self,
        input_ids: torch.Tensor | None = None,
        detections: torch.Tensor | None = None,
        inputs_embeds: torch.Tensor | None = None,
        cache: Any = None,
        past_key_values: Any = None,
        labels: torch.Tensor | None = None,
        logits_to_keep: int | torch.Tensor = 0,
        **rest: Any,
    ) -> CausalLMOutputWithPast:
        """Logits, as those of a Llama; `detections` fill the image tokens of `input_ids`."""
        if inputs_embeds is None:
            assert input_ids is not None, "Give input_ids or inputs_embeds."
            inputs_embeds = self.embedded(input_ids, detections)
        given = cache_input(self.language_model, past_key_values if cache is None else cache)
        read = self.language_model(inputs_embeds=inputs_embeds, **given, **rest)
        kept = slice(-logits_to_keep, None) if isinstance(logits_to_keep, int) else logits_to_keep
        logits = self.lm_head(read.last_hidden_state[:, kept])
        loss = None
        if labels is not None:
            loss = self.loss_function(logits, labels, self.config.text_config.vocab_size)
        return CausalLMOutputWithPast(
            loss=loss, logits=logits, **dict.fromkeys(given, cache_of(read))
        )


def register() -> None:
    """Register the model with transformers. Can be called twice."""
    AutoConfig.register(InhabitVlmConfig.model_type, InhabitVlmConfig, exist_ok=True)
    AutoModelForImageTextToText.register(InhabitVlmConfig, InhabitVlm, exist_ok=True)
    AutoProcessor.register(InhabitVlmConfig, InhabitVlmProcessor, exist_ok=True)


SCALE = 2.0
"""Factor of the product of an adapter's two matrices."""


def untrained(decoder: Path, classes: Sequence[str]) -> InhabitVlm:
    """A Llama that takes objects of `classes` for their words, in float32.

    Args:
        decoder: folder of a Llama with its tokenizer, as SmolLM2.
        classes: names of the classes of the vision model.
    """
    tokenizer = AutoTokenizer.from_pretrained(decoder)
    text = LlamaForCausalLM.from_pretrained(decoder, dtype=torch.float32)
    image = tokenizer.convert_tokens_to_ids(IMAGE)
    model = InhabitVlm(InhabitVlmConfig(text.config, tuple(classes), image))
    model.language_model.load_state_dict(text.model.state_dict())
    model.lm_head.load_state_dict(text.lm_head.state_dict())
    model.tie_weights()
    model.generation_config = text.generation_config
    with torch.no_grad():
        words, word = model.get_input_embeddings().weight, model.objects.word.weight
        for number, name in enumerate(classes):
            tokens = tokenizer(f" {name}", add_special_tokens=False)["input_ids"]
            word[number] = words[tokens].mean(0)
        model.objects.features.weight.zero_()
    model.eval()
    return model


@torch.no_grad()
def add(model: InhabitVlm, trained: Mapping[str, torch.Tensor]) -> None:
    """Add trained adapters to the linear layers of `model`, and set its other trained weights."""
    own = dict(model.named_parameters())
    for name, value in trained.items():
        if name in own:
            own[name].copy_(value)
    for path, layer in model.named_modules():
        if isinstance(layer, nn.Linear) and f"{path}.a" in trained:
            a, b = trained[f"{path}.a"].float(), trained[f"{path}.b"].float()
            layer.weight += (SCALE * b @ a).to(layer.weight)


def compose(decoder: Path, eyes: Path, trained: Path, out: Path) -> None:
    """Write the model to the folder `out`, in bfloat16, as transformers and `inhabit` load it.

    `decoder` is a folder of SmolLM2, and `trained` a file of `eie/tuning/vlm/training.py`.
    """
    model = untrained(decoder, EyesConfig.from_pretrained(eyes).names)
    add(model, load_file(trained))
    model.to(torch.bfloat16).save_pretrained(out)
    InhabitVlmProcessor(AutoTokenizer.from_pretrained(decoder), eyes).save_pretrained(out)
