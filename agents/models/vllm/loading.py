"""Starts vLLM with a model, and compares its scores with those of whole candidates."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import transformers
import vllm

from inhabit.agents.core import ModelError
from inhabit.agents.models.core import Message
from inhabit.agents.models.local.folder import OpenedFolder
from inhabit.agents.models.local.loading import downloaded, encoder_of, sees
from inhabit.agents.models.vllm.model import VLLMModel
from inhabit.agents.models.vllm.settings import VLLMSettings
from inhabit.envs.entries import is_interrupt, message

_TEXTS = ("open the door_2", "stop")
_TOLERANCE = 0.75
"""In nats: the rounding of bfloat16 differs from one batch to another."""


def load(
    source: str, name: str, settings: VLLMSettings, *, weights: Callable[[], str | None]
) -> VLLMModel:
    """Start vLLM with the model at `source`, a folder or a name on a hub.

    Args:
        source: where the model is.
        name: as the command line has it.
        settings: how it is run.
        weights: tells what identifies the weights, once they are there.

    Raises:
        ModelError: there is none, vLLM can't run it, or its scores can't be trusted.
    """
    try:
        folder = Path(source) if Path(source).is_dir() else downloaded(source)
        opened = OpenedFolder(folder)
        config = transformers.AutoConfig.from_pretrained(opened.path, local_files_only=True)
        images = sees(config)
        limits = {"min_pixels": settings.min_pixels, "max_pixels": settings.max_pixels}
        encoder = encoder_of(opened, config, images, name, **limits)
        engine = vllm.LLM(str(opened.path), **_arguments(settings, images))
    except ModelError:
        raise
    except BaseException as error:  # a library may raise anything
        if is_interrupt(error):
            raise
        reason = message(error).strip() or type(error).__name__
        raise ModelError(f"{name} can't be loaded: {reason}") from error
    model = VLLMModel(engine, encoder, name=name, images=images, settings=settings)
    # In a thread, because a loop may be running here.
    with ThreadPoolExecutor(1) as thread:
        apart = thread.submit(asyncio.run, _difference(model)).result()
    if not apart <= _TOLERANCE:
        raise ModelError(f"{name} scores nodes and whole candidates {apart:.2f} nat apart.")
    model.checked = f"in {model.details['dtype']} at most {apart:.1g} nat from whole candidates"
    model.details = {**model.details, "hash": weights(), "vllm": vllm.__version__}
    return model


def _arguments(settings: VLLMSettings, images: bool) -> dict[str, Any]:
    chosen: dict[str, Any] = {"max_model_len": settings.max_length, "block_size": settings.block}
    if images:
        chosen["limit_mm_per_prompt"] = {"image": settings.images}
    return {
        "dtype": settings.dtype,
        "tensor_parallel_size": settings.tensor_parallel,
        "gpu_memory_utilization": settings.memory,
        "enforce_eager": settings.eager,
        "enable_prefix_caching": True,
        "load_format": "safetensors",
        "trust_remote_code": False,
        "seed": 0,
        **{key: value for key, value in chosen.items() if value is not None},
    }


async def _difference(model: VLLMModel) -> float:
    """How far the scores of nodes are from those of whole candidates, in nats, at most."""
    asked = [Message("user", ("What now?",))]
    ranking = await model.rank(asked, _TEXTS)
    whole = [await model.whole(asked, text) for text in _TEXTS]
    pairs = zip(ranking.scores, whole, strict=True)
    return max(abs(one.logprob - exact) for one, exact in pairs)
