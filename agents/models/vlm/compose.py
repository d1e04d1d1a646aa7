"""Puts the model together: SmolLM2, the vision model, and what was trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import nn
from transformers import AutoTokenizer, LlamaForCausalLM

from inhabit.agents.models.eyes.network import EyesConfig
from inhabit.agents.models.vlm.model import InhabitVlm, InhabitVlmConfig
from inhabit.agents.models.vlm.processor import IMAGE, InhabitVlmProcessor

SCALE = 2.0
"""Of the product of an adapter's two matrices."""


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
