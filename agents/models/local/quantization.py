"""Quantization of weights by bitsandbytes."""

from __future__ import annotations

import logging
from typing import Any, Literal

import torch
import transformers


def bits_and_bytes(kind: Literal["bnb-8bit", "bnb-4bit"], dtype: torch.dtype) -> Any:
    """The configuration: LLM.int8(), or QLoRA's 4-bit NormalFloat with products in `dtype`."""
    # It logs a line for every matrix product whose input is not float16.
    logging.getLogger("bitsandbytes.autograd._functions").setLevel(logging.ERROR)
    if kind == "bnb-8bit":
        return transformers.BitsAndBytesConfig(load_in_8bit=True)
    return transformers.BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=dtype,
    )
