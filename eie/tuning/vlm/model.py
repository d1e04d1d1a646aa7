"""The model: LLaVA with a small Llama, its tokenizer and its processor, in a folder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers, trainers
from tokenizers.models import BPE
from transformers import (
    CLIPImageProcessor,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    PreTrainedTokenizerFast,
)

from inhabit.eie.tuning.vlm.tower import PATCH, SIDE, tower_config

PAD, BEGIN, END, IMAGE, USER, ANSWER = SPECIALS = (
    "<pad>",
    "<s>",
    "</s>",
    "<image>",
    "<user>",
    "<answer>",
)
CHAT_TEMPLATE = (
    "{{ '<s>' }}{% for message in messages %}"
    "{{ {'user': '<user>', 'assistant': '<answer>'}.get(message['role'], '') }}"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for part in message['content'] %}"
    "{{ '<image>' if part['type'] == 'image' else part['text'] }}{% endfor %}{% endif %}"
    "{{ '</s>' if message['role'] == 'assistant' else '' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<answer>' }}{% endif %}"
)
_LOUDNESS = 0.4
"""Of a word at a class score of 1. Scores of what is clearly seen are about 2."""
_PIECES = r" ?[a-z]+|_?\d| ?[^\sa-z\d]|\s"
"""Words with the space before them, single digits, punctuation marks."""


@dataclass(frozen=True, slots=True)
class DecoderSize:
    """Size of the language model."""

    width: int = 144
    layers: int = 4
    heads: int = 4
    inner: int = 384
    context: int = 4096
    """Maximum number of tokens."""


def train_tokenizer(texts: Iterable[str], size: int) -> PreTrainedTokenizerFast:
    """A byte-level BPE of at most `size` tokens over lower-case words."""
    bpe = Tokenizer(BPE())
    bpe.normalizer = normalizers.Lowercase()
    bpe.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(SPECIALS),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    bpe.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        pad_token=PAD,
        bos_token=BEGIN,
        eos_token=END,
        additional_special_tokens=[IMAGE, USER, ANSWER],
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
    )


def processor_of(tokenizer: PreTrainedTokenizerFast) -> LlavaProcessor:
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


def new_model(
    tokenizer: PreTrainedTokenizerFast, size: DecoderSize, seed: int
) -> LlavaForConditionalGeneration:
    """An untrained model, initialized from `seed`."""
    token = tokenizer.convert_tokens_to_ids
    text = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=size.width,
        intermediate_size=size.inner,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        num_key_value_heads=size.heads,
        max_position_embeddings=size.context,
        tie_word_embeddings=True,
        bos_token_id=token(BEGIN),
        eos_token_id=token(END),
        pad_token_id=token(PAD),
    )
    config = LlavaConfig(
        vision_config=tower_config(),
        text_config=text,
        image_token_id=token(IMAGE),
        image_seq_length=(SIDE // PATCH) ** 2,
        vision_feature_layer=-1,
        vision_feature_select_strategy="default",
        tie_word_embeddings=True,
    )
    torch.manual_seed(seed)
    return LlavaForConditionalGeneration(config)


def save_model(
    model: LlavaForConditionalGeneration, tokenizer: PreTrainedTokenizerFast, folder: Path
) -> None:
    """Write what transformers loads."""
    model.save_pretrained(folder)
    processor_of(tokenizer).save_pretrained(folder)


def load_tokenizer(folder: Path) -> PreTrainedTokenizerFast:
    """The tokenizer of a saved model."""
    tokenizer: PreTrainedTokenizerFast = PreTrainedTokenizerFast.from_pretrained(folder)
    return tokenizer


@torch.no_grad()
def start_projector(
    model: LlavaForConditionalGeneration,
    tokenizer: PreTrainedTokenizerFast,
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
