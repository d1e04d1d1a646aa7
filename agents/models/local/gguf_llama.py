"""From a Llama in one GGUF file to a folder that transformers loads.

transformers can read GGUF too, but not alike in all its versions, and not without more packages.
The layout of the file: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from gguf import GGUFReader, dequantize
from numpy.typing import NDArray
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

_CONTROL = 3
"""The token type of GGUF for tokens such as the end of a turn."""

_OUTER = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
_INNER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def convert(source: Path, target: Path) -> None:
    """Write the model in `source` to the folder `target`: tokenizer, and weights in bfloat16.

    That is half the size of float32, and finer than the four bits that they come from.

    Raises:
        KeyError: `source` is not a Llama with a byte-level BPE tokenizer.
    """
    reader = GGUFReader(source)
    model = LlamaForCausalLM(_config(reader))
    model.load_state_dict(_weights(reader, model.config), strict=False)
    model.tie_weights()
    model.to(torch.bfloat16).save_pretrained(target)
    _tokenizer(reader).save_pretrained(target)


def _field(reader: GGUFReader, name: str) -> Any:
    return reader.fields[name].contents()


def _config(reader: GGUFReader) -> LlamaConfig:
    def llama(name: str) -> Any:
        return _field(reader, f"llama.{name}")

    return LlamaConfig(
        vocab_size=llama("vocab_size"),
        hidden_size=llama("embedding_length"),
        intermediate_size=llama("feed_forward_length"),
        num_hidden_layers=llama("block_count"),
        num_attention_heads=llama("attention.head_count"),
        num_key_value_heads=llama("attention.head_count_kv"),
        max_position_embeddings=llama("context_length"),
        rms_norm_eps=llama("attention.layer_norm_rms_epsilon"),
        rope_theta=llama("rope.freq_base"),
        tie_word_embeddings=all(tensor.name != "output.weight" for tensor in reader.tensors),
        bos_token_id=_field(reader, "tokenizer.ggml.bos_token_id"),
        eos_token_id=_field(reader, "tokenizer.ggml.eos_token_id"),
        pad_token_id=_field(reader, "tokenizer.ggml.padding_token_id"),
    )


def _weights(reader: GGUFReader, config: LlamaConfig) -> dict[str, torch.Tensor]:
    weights = {}
    for tensor in reader.tensors:
        values = dequantize(tensor.data, tensor.tensor_type)
        if ".attn_q." in tensor.name:
            values = _halves(values, config.num_attention_heads)
        elif ".attn_k." in tensor.name:
            values = _halves(values, config.num_key_value_heads)
        weights[_name(tensor.name)] = torch.from_numpy(np.array(values))
    return weights


def _name(gguf: str) -> str:
    if gguf in _OUTER:
        return _OUTER[gguf]
    _, block, part, kind = gguf.split(".")
    return f"model.layers.{block}.{_INNER[part]}.{kind}"


def _halves(values: NDArray[np.float32], heads: int) -> NDArray[np.float32]:
    """Rows of a head from GGUF's order, in which the two that turn together stand side by side, to
    that of transformers, in which all first ones come before all second ones.
    """
    pairs = values.reshape(heads, values.shape[0] // heads // 2, 2, values.shape[1])
    return pairs.swapaxes(1, 2).reshape(values.shape)


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
