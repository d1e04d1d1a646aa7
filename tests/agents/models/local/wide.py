"""A text model that is wide enough to be quantized in blocks of 64 weights."""

from __future__ import annotations

import asyncio
from pathlib import Path

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from inhabit.agents.models.core import Message
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.local.transformer import Transformer
from inhabit.agents.models.registry import load
from tests.agents.models.local.tiny import CHAT, tokenizer

ASK = [Message("user", ("What now?",))]
TEXTS = ("open the fridge", "go to the sink", "open the drawer")


def save_wide(folder: Path) -> Path:
    """The model in `folder`."""
    torch.manual_seed(0)
    words = tokenizer(CHAT)
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        initializer_range=0.1,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=2,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def opened(folder: Path, **settings: object) -> Transformer:
    """The model in `folder`, on the CPU and in float32 unless the settings say otherwise."""
    given = LocalSettings.model_validate({"device": "cpu", "dtype": "float32", **settings})
    found = load(f"local:{folder}", given)
    assert isinstance(found, Transformer)
    return found


def scores(model: Transformer) -> list[float]:
    """The scores of three texts; closes the model."""
    try:
        return [one.logprob for one in asyncio.run(model.rank(ASK, TEXTS)).scores]
    finally:
        asyncio.run(model.close())
