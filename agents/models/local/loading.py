"""Loads a model of the `transformers` package with its processor, and checks it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors import SafetensorError
from transformers import AutoModelForCausalLM, AutoModelForImageTextToText

from inhabit.agents.core import ModelError
from inhabit.agents.models.local.adapter import apply_adapter
from inhabit.agents.models.local.encoder import Encoder
from inhabit.agents.models.local.image_processor import ImageProcessor
from inhabit.agents.models.local.precision import choose, round_weights
from inhabit.agents.models.local.quantization import bits_and_bytes
from inhabit.agents.models.local.scoring import possible_ways
from inhabit.agents.models.local.self_check import SelfCheck, cached, check
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.local.transformer import Transformer
from inhabit.agents.models.local.transformers_names import knows


def load(
    source: str,
    name: str,
    settings: LocalSettings,
    *,
    adapters: Sequence[Path] = (),
    identity: Callable[[], str | None] = lambda: None,
) -> Transformer:
    """Load the model at `source`, a folder or a name on a hub, and merge `adapters` in order.

    Args:
        source: what transformers loads.
        name: as the command line has it.
        settings: how it is run.
        adapters: folders with LoRA adapters.
        identity: digests of the weights, asked for once they are there; the result of the check is
            kept for them. None if they are unknown: then every load checks.

    Raises:
        ModelError: there is none, it can't be read, or its scores can't be trusted.
    """
    transformers.utils.logging.disable_progress_bar()
    if settings.threads is not None:
        torch.set_num_threads(settings.threads)
    try:
        trust = {"trust_remote_code": settings.trust_remote_code}
        config = transformers.AutoConfig.from_pretrained(source, **trust)
        sees = _sees(config)
        model = _network(source, config, sees, settings, adapters)
        encoder = _encoder(source, config, sees, settings)
    except ModelError:
        raise
    except (
        OSError, ValueError, KeyError, RuntimeError, ImportError, AttributeError, TypeError,
        SafetensorError,
    ) as error:  # fmt: skip
        reason = str(error).strip() or type(error).__name__
        raise ModelError(
            f"{name} can't be loaded: {reason} Name a folder that transformers has saved, a model "
            "on a hub that can be reached from here, or local:smollm2."
        ) from error
    found = _checked(model, encoder, name, sees, settings, identity())
    return Transformer(model, encoder, name=name, images=sees, settings=settings, check=found)


def _sees(config: Any) -> bool:
    """Whether a model takes images."""
    known = knows(AutoModelForImageTextToText, config)
    return hasattr(config, "vision_config") or (known and not knows(AutoModelForCausalLM, config))


def _network(
    source: str, config: Any, sees: bool, settings: LocalSettings, adapters: Sequence[Path]
) -> Any:
    quantized = bool(settings.quantization) or hasattr(config, "quantization_config")
    if quantized and len(adapters) > 1:
        raise ModelError(
            "Quantized weights take the adapters of one tuning, and these come from several: merge "
            "the earlier ones with `inhabit merge`."
        )
    text = config.get_text_config()
    saved = config.dtype or text.dtype
    device, dtype = choose(settings.device, settings.dtype, text.hidden_size, saved)
    options: dict[str, Any] = {"trust_remote_code": settings.trust_remote_code}
    if settings.attention:
        options["attn_implementation"] = settings.attention
    if settings.quantization:
        options["quantization_config"] = bits_and_bytes(settings.quantization, dtype)
    if settings.device_map or quantized:
        options["device_map"] = settings.device_map or {"": device}
    # The weights are loaded in their dtype, and only moved to the device: a cast of the whole
    # model would round what it computes in float32 as well. Adapters are merged before weights are
    # rounded: into those of the checkpoint, unless they are wanted in float32.
    merged = bool(adapters) and not quantized
    first = "auto" if merged and dtype != torch.float32 else dtype
    model = _kind(config, sees).from_pretrained(source, dtype=first, **options)
    for adapter in adapters:
        model = apply_adapter(model, adapter, merged=merged)
    if merged:
        round_weights(model, dtype)
    return (model if "device_map" in options else model.to(device)).eval()


def _kind(config: Any, sees: bool) -> Any:
    """The class that loads the model: for images and text where it is known, else for text."""
    own = getattr(config, "auto_map", None) or {}
    kinds = (AutoModelForImageTextToText,) if sees else ()
    for kind in kinds:
        if knows(kind, config) or kind.__name__ in own:
            return kind
    return AutoModelForCausalLM


def _encoder(source: str, config: Any, sees: bool, settings: LocalSettings) -> Encoder:
    trust = {"trust_remote_code": settings.trust_remote_code}
    if not sees:
        return Encoder(transformers.AutoTokenizer.from_pretrained(source, **trust))
    if ImageProcessor.knows(config) and importlib.util.find_spec("torchvision") is None:
        processor: Any = ImageProcessor(source)
    else:
        processor = transformers.AutoProcessor.from_pretrained(source, **trust)
    limits = {"min_pixels": settings.min_pixels, "max_pixels": settings.max_pixels}
    return Encoder(processor.tokenizer, processor, **limits)


def _checked(
    model: Any,
    encoder: Encoder,
    name: str,
    sees: bool,
    settings: LocalSettings,
    identity: str | None,
) -> SelfCheck:
    ways = possible_ways(model) if settings.scoring == "auto" else (settings.scoring,)

    def run() -> SelfCheck:
        return check(model, encoder, name=name, images=sees, ways=ways)

    if identity is None:
        return run()
    key = {
        "model": identity,
        "device": model.device.type,
        "dtype": str(model.dtype),
        "ways": ways,
        "attention": settings.attention,
        "quantization": settings.quantization,
        "pixels": (settings.min_pixels, settings.max_pixels),
        "torchvision": importlib.util.find_spec("torchvision") is not None,
    }
    return cached(key, run)
