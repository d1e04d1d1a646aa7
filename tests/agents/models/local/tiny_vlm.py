"""The package's multimodal model with a few thousand random weights."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import LlamaForCausalLM

from inhabit.agents.models.local.inhabit_vlm import write
from inhabit.agents.models.vlm.processor import IMAGE
from tests.agents.models.local.tiny import text_config, tokenizer


def save_decoder(folder: Path) -> Path:
    torch.manual_seed(0)
    words = tokenizer(None, IMAGE)
    LlamaForCausalLM(text_config(len(words))).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def save_vlm(decoder: Path, folder: Path, trained: dict[str, torch.Tensor]) -> Path:
    file = folder.with_suffix(".safetensors")
    save_file(trained, file)
    write(decoder, file, folder)
    return folder
