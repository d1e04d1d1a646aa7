"""The model: LLaVA of a small Llama and the image tower, in a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoTokenizer,
    CLIPImageProcessor,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from inhabit.eie.tuning.vlm.tower import PATCH, SIDE, load_head, tower_config

IMAGE = "<image>"
CHAT_TEMPLATE = (
    "{% for message in messages %}{{ bos_token + message['role'] + '\\n' }}"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for part in message['content'] %}"
    "{{ '<image>' if part['type'] == 'image' else part['text'] }}{% endfor %}{% endif %}"
    "{{ eos_token + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ bos_token + 'assistant\\n' }}{% endif %}"
)
"""ChatML, as SmolLM2 has it, with images and without a system message of its own."""
_LOUDNESS = 0.4
"""Of a word at a class score of 1. Scores of what is clearly seen are about 2."""


def compose(decoder: Path, tower: Path, out: Path) -> int:
    """Write a LLaVA of a language model and an image tower to the folder `out`, in bfloat16.

    A new token stands for images. The projector starts as `start_projector` says.

    Args:
        decoder: folder of a Llama with its tokenizer, as SmolLM2.
        tower: folder of the image tower with its class head.
        out: where to write; it is made if it is missing.

    Returns:
        The number of weights.
    """
    tokenizer = AutoTokenizer.from_pretrained(decoder)
    tokenizer.add_special_tokens({"additional_special_tokens": [IMAGE]})
    tokenizer.chat_template = CHAT_TEMPLATE
    text = AutoModelForCausalLM.from_pretrained(decoder, dtype=torch.float32)
    text.resize_token_embeddings(len(tokenizer))
    eyes = AutoModel.from_pretrained(tower)
    model = LlavaForConditionalGeneration(_config(text, tokenizer))
    model.model.language_model.load_state_dict(text.model.state_dict())
    model.model.vision_tower.load_state_dict(eyes.state_dict(), strict=False)
    model.lm_head.load_state_dict(text.lm_head.state_dict())
    model.tie_weights()
    model.generation_config = text.generation_config
    start_projector(model, tokenizer, *load_head(tower))
    model.to(torch.bfloat16).save_pretrained(out)
    _processor(tokenizer).save_pretrained(out)
    return sum(p.numel() for p in model.parameters())


def _config(text: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> LlavaConfig:
    return LlavaConfig(
        vision_config=tower_config(),
        text_config=text.config,
        image_token_id=tokenizer.convert_tokens_to_ids(IMAGE),
        image_seq_length=(SIDE // PATCH) ** 2,
        vision_feature_layer=-1,
        vision_feature_select_strategy="default",
        tie_word_embeddings=text.config.tie_word_embeddings,
    )


def _processor(tokenizer: PreTrainedTokenizerBase) -> LlavaProcessor:
    """The processor: images of 160x160 pixels, scaled as the tower learned them."""
    images = CLIPImageProcessor(
        do_center_crop=False,
        size={"height": SIDE, "width": SIDE},
        image_mean=[0.5] * 3,
        image_std=[64 / 255] * 3,
    )
    return LlavaProcessor(
        images,
        tokenizer,
        patch_size=PATCH,
        vision_feature_select_strategy="default",
        chat_template=CHAT_TEMPLATE,
        image_token=IMAGE,
        num_additional_image_tokens=1,
    )


@torch.no_grad()
def start_projector(
    model: LlavaForConditionalGeneration,
    tokenizer: PreTrainedTokenizerBase,
    classes: Sequence[str],
    weight: torch.Tensor,
    bias: torch.Tensor,
) -> None:
    """Set the projector so that a cell which shows a mug stands for the word "mug".

    Its first layer scores the classes, and its second one adds up the embeddings of their words.

    Args:
        model: whose decoder knows the words.
        tokenizer: of the model.
        classes: names of classes, fewer than the decoder is wide.
        weight: of the class head of the tower, (classes, tower width).
        bias: of the class head, (classes,).
    """
    projector, count = model.model.multi_modal_projector, len(classes)
    words = model.get_input_embeddings().weight
    projector.linear_1.weight[:count] = weight
    projector.linear_1.bias[:count] = bias
    for number, name in enumerate(classes):
        tokens = tokenizer(f" {name}", add_special_tokens=False)["input_ids"]
        projector.linear_2.weight[:, number] = _LOUDNESS * words[tokens].sum(0)
    projector.linear_2.bias.zero_()
