"""Converts a Llama in one GGUF file to a folder that transformers loads.

transformers reads the weights: those of SmolLM2 are the same to the bit in versions 4.56 and 5.23.
The tokenizer is built here, since the one that transformers builds from a GGUF file leaves the
digits of a number and the spaces before them together.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from gguf import GGUFReader
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

_CONTROL = 3
"""The token type of GGUF for tokens such as the end of a turn."""


def convert(source: Path, target: Path) -> None:
    """Write the model in `source` to the folder `target`: tokenizer, and weights in bfloat16.

    bfloat16 takes half the space of float32, and is finer than the four bits of the source.

    Raises:
        KeyError: `source` is not a Llama with a byte-level BPE tokenizer.
    """
    model = LlamaForCausalLM.from_pretrained(
        source.parent, gguf_file=source.name, dtype=torch.float32
    )
    # transformers dequantizes the weights, yet refuses to save a model that it takes for quantized.
    # The other two come from the GGUF file and belong to no configuration of a Llama.
    for name in ("quantization_config", "_model_name_or_path", "unk_token_id"):
        if hasattr(model.config, name):
            delattr(model.config, name)
    plain = LlamaForCausalLM(model.config).to(torch.bfloat16)
    plain.load_state_dict(model.state_dict())
    plain.generation_config = model.generation_config
    plain.save_pretrained(target)
    _tokenizer(GGUFReader(source)).save_pretrained(target)


def _field(reader: GGUFReader, name: str) -> Any:
    return reader.fields[name].contents()


def _tokenizer(reader: GGUFReader) -> PreTrainedTokenizerFast:
    tokens = _field(reader, "tokenizer.ggml.tokens")
    merges = [tuple(merge.split(" ")) for merge in _field(reader, "tokenizer.ggml.merges")]
    kinds = _field(reader, "tokenizer.ggml.token_type")
    bpe = Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, merges))
    bpe.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    bpe.decoder = decoders.ByteLevel()
    controls = [t for t, kind in zip(tokens, kinds, strict=True) if kind == _CONTROL]
    bpe.add_special_tokens([AddedToken(t, normalized=False, special=True) for t in controls])

    def special(name: str) -> str:
        return str(tokens[_field(reader, f"tokenizer.ggml.{name}_token_id")])

    return PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        bos_token=special("bos"),
        eos_token=special("eos"),
        unk_token=special("unknown"),
        pad_token=special("padding"),
        additional_special_tokens=controls,
        chat_template=_field(reader, "tokenizer.chat_template"),
        clean_up_tokenization_spaces=False,
    )
