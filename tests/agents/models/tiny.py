"""Models of a few thousand random weights, saved as a person would find them: as folders."""

from __future__ import annotations

from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    CLIPImageProcessor,
    CLIPVisionConfig,
    LlamaConfig,
    LlamaForCausalLM,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    PreTrainedTokenizerFast,
)

CHAT = (
    "{% for m in messages %}<s>{{ m['role'] }}\n{{ m['content'] }}</s>\n{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant\n{% endif %}"
)
CHAT_OF_PARTS = (
    "{% for m in messages %}<s>{{ m['role'] }}\n"
    "{% for p in m['content'] %}"
    "{% if p['type'] == 'image' %}<image>{% else %}{{ p['text'] }}{% endif %}{% endfor %}</s>\n"
    "{% endfor %}{% if add_generation_prompt %}<s>assistant\n{% endif %}"
)


def tokenizer(template: str | None) -> PreTrainedTokenizerFast:
    """Bytes, a few merges, and four special tokens."""
    specials = ["<s>", "</s>", "<pad>", "<image>"]
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    pairs = [("t", "h"), ("th", "e"), ("Ġ", "the"), ("o", "p"), ("e", "n"), ("op", "en")]
    tokens = [*specials, *letters, *("".join(pair) for pair in pairs)]
    bpe = Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, pairs))
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        additional_special_tokens=["<image>"],
        chat_template=template,
    )


def _text_config(vocabulary: int) -> LlamaConfig:
    return LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        # Large enough that a wrong mask or position moves the scores by far more than 1e-3.
        initializer_range=0.3,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=2,
    )


def save_llama(folder: Path, template: str | None = CHAT) -> Path:
    """A text model in `folder`."""
    torch.manual_seed(0)
    words = tokenizer(template)
    LlamaForCausalLM(_text_config(len(words))).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def save_llava(folder: Path) -> Path:
    """A model in `folder` that sees pictures of 16x16 as sixteen patches."""
    torch.manual_seed(0)
    words = tokenizer(CHAT_OF_PARTS)
    vision = CLIPVisionConfig(
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        image_size=16,
        patch_size=4,
        initializer_range=0.3,
    )
    config = LlavaConfig(
        vision_config=vision,
        text_config=_text_config(len(words)),
        image_token_id=3,
        image_token_index=3,
        vision_feature_layer=-1,
        vision_feature_select_strategy="default",
        image_seq_length=16,
    )
    LlavaForConditionalGeneration(config).save_pretrained(folder)
    size = {"height": 16, "width": 16}
    LlavaProcessor(
        image_processor=CLIPImageProcessor(size={"shortest_edge": 16}, crop_size=size),
        tokenizer=words,
        patch_size=4,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=CHAT_OF_PARTS,
    ).save_pretrained(folder)
    return folder
