"""Device, dtype and quantization of a local model."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Any, Literal

import torch
import transformers

from inhabit.agents.core import ModelError

Device = Literal["auto", "cpu", "cuda", "mps"]
Dtype = Literal["auto", "checkpoint", "float32", "bfloat16", "float16"]

_TOKENS = 256
_ROUNDS = 5


def choose(
    device: Device, dtype: Dtype, width: int, saved: torch.dtype | None
) -> tuple[torch.device, torch.dtype]:
    """Device and dtype for a model with hidden size `width` whose weights were `saved` in a dtype.

    "auto" depends on this machine; "checkpoint" is `saved`, or float32 where that is unknown.

    A CPU uses bfloat16 if it has instructions for it, and a matrix product of the model's size
    takes at most 0.8 of the time that it takes in float32.

    Raises:
        ModelError: this machine has no such device that torch can use.
    """
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if device == "auto":
        device = "cuda" if there["cuda"] else "cpu"
    if not there.get(device, True):
        raise ModelError(
            f"device={device}: torch {torch.__version__} finds no such device here. Use "
            "device=cpu, or install the torch that is built for it."
        )
    if dtype == "checkpoint":
        return torch.device(device), saved or torch.float32
    if dtype != "auto":
        return torch.device(device), getattr(torch, dtype)
    fast = (
        torch.cuda.is_bf16_supported()
        if device == "cuda"
        else cpu_has_bfloat16() and _bfloat16_speedup(device, width) > 1.25
    )
    return torch.device(device), torch.bfloat16 if fast else torch.float32


def cpu_has_bfloat16() -> bool:
    """Whether Linux names instructions for bfloat16; elsewhere it is not known, and they may be."""
    try:
        return "bf16" in Path("/proc/cpuinfo").read_text()
    except OSError:
        return True


@torch.inference_mode()
def _bfloat16_speedup(device: str, width: int) -> float:
    """How many times faster bfloat16 is than float32, each by its best of some rounds."""
    best = {torch.float32: float("inf"), torch.bfloat16: float("inf")}
    vectors = {t: torch.ones(_TOKENS, width, device=device, dtype=t) for t in best}
    weights = {t: torch.ones(width, 4 * width, device=device, dtype=t) for t in best}
    for _ in range(_ROUNDS + 1):  # the first one prepares
        for kind in best:
            begin = time.perf_counter()
            (vectors[kind] @ weights[kind]).sum().item()
            best[kind] = min(best[kind], time.perf_counter() - begin)
    return best[torch.float32] / best[torch.bfloat16]


def round_weights(model: torch.nn.Module, dtype: torch.dtype) -> None:
    """Round what a checkpoint of `model` holds to `dtype`, in place.

    Buffers that are computed stay in float32. Rounding the frequencies of rotary embeddings, as
    `model.to(dtype)` does, moves log-probabilities after long prompts by tenths of a nat.
    """
    for tensor in model.state_dict(keep_vars=True).values():
        if tensor.is_floating_point():
            tensor.data = tensor.data.to(dtype)


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
