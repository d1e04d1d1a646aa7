"""Models of a few thousand random weights, saved as a person would find them: as folders."""

from __future__ import annotations

from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    CLIPImageProcessor,
    CLIPVisionConfig,
    Idefics3Config,
    Idefics3ForConditionalGeneration,
    Idefics3ImageProcessor,
    Idefics3Processor,
    LlamaConfig,
    LlamaForCausalLM,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    PreTrainedTokenizerFast,
    Qwen2_5_VLConfig,
    Qwen2_5_VLForConditionalGeneration,
    Qwen2VLImageProcessor,
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


def tokenizer(template: str | None, *more: str) -> PreTrainedTokenizerFast:
    """Bytes, a few merges, and four special tokens, or some `more`."""
    specials = ["<s>", "</s>", "<pad>", "<image>", *more]
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
        additional_special_tokens=["<image>", *more],
        chat_template=template,
    )


def text_config(vocabulary: int, heads: int = 4) -> LlamaConfig:
    return LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=heads,
        num_key_value_heads=(heads + 1) // 2,
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
    LlamaForCausalLM(text_config(len(words))).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def save_llava(folder: Path, heads: int = 4) -> Path:
    """A model in `folder` that sees images of 16x16 as sixteen patches."""
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
        text_config=text_config(len(words), heads),
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


PADS = "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"


def save_qwen(folder: Path) -> Path:
    """A Qwen2.5-VL in `folder`: patches of 4x4, four of them a token, positions in three axes.

    Without its processor for videos, which needs torchvision.
    """
    torch.manual_seed(0)
    place = "<|vision_start|><|image_pad|><|vision_end|>"
    words = tokenizer(CHAT_OF_PARTS.replace("<image>", place), *PADS)
    begin, end, image, video = words.convert_tokens_to_ids(list(PADS))
    text = text_config(len(words)).to_dict()
    text = {k: v for k, v in text.items() if k not in ("model_type", "architectures", "head_dim")}
    text["rope_parameters"] = {
        "rope_type": "default",
        "type": "mrope",
        "rope_theta": 10000.0,
        "mrope_section": [2, 1, 1],
    }
    config = Qwen2_5_VLConfig(
        text_config=text,
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_heads": 4,
            "out_hidden_size": 32,
            "patch_size": 4,
            "window_size": 16,
            "fullatt_block_indexes": [1],
            "initializer_range": 0.3,
        },
        vision_start_token_id=begin,
        vision_end_token_id=end,
        image_token_id=image,
        video_token_id=video,
    )
    Qwen2_5_VLForConditionalGeneration(config).save_pretrained(folder)
    Qwen2VLImageProcessor(
        patch_size=4, merge_size=2, min_pixels=16 * 16, max_pixels=32 * 32
    ).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def save_idefics(folder: Path) -> Path:
    """An Idefics3, as SmolVLM is one, in `folder`: 16x16 pixels are four tokens and some marks."""
    torch.manual_seed(0)
    marks = "<fake_token_around_image>", "<global-img>", "<end_of_utterance>"
    words = tokenizer(CHAT_OF_PARTS, *marks)
    text = text_config(len(words)).to_dict() | {"model_type": "llama"}
    config = Idefics3Config(
        text_config=text,
        vision_config={
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "image_size": 16,
            "patch_size": 4,
            "initializer_range": 0.3,
        },
        image_token_id=3,
        pad_token_id=2,
        scale_factor=2,
    )
    Idefics3ForConditionalGeneration(config).save_pretrained(folder)
    side = {"longest_edge": 16}
    Idefics3Processor(
        image_processor=Idefics3ImageProcessor(
            size=side, max_image_size=side, do_image_splitting=False
        ),
        tokenizer=words,
        image_seq_len=4,
        chat_template=CHAT_OF_PARTS,
    ).save_pretrained(folder)
    return folder
