"""Loads a model of the `transformers` package with its processor, and checks it."""

from __future__ import annotations

import importlib.util
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from warnings import warn

import torch
import transformers
from PIL import Image as Picture
from transformers import AutoModelForCausalLM, AutoModelForImageTextToText

from inhabit.agents.core import ModelError
from inhabit.agents.models.local.adapter import apply_adapter
from inhabit.agents.models.local.encoder import Encoder
from inhabit.agents.models.local.folder import OpenedFolder, numbers, wanted
from inhabit.agents.models.local.precision import bits_and_bytes, choose, round_weights
from inhabit.agents.models.local.scoring import possible_ways
from inhabit.agents.models.local.self_check import SelfCheck, cached, check
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.local.transformer import Transformer
from inhabit.agents.models.transformers_names import knows
from inhabit.agents.models.vlm.model import register
from inhabit.envs.core import UnavailableError
from inhabit.envs.entries import is_interrupt, message
from inhabit.envs.host.credentials import drop_credentials
from inhabit.envs.printable import printable


class ImageProcessor:
    """Processor for models of the Qwen-VL family, for text and images.

    That of transformers requires torchvision, for video, which no agent uses. This one replaces
    it where torchvision is missing, with the same result for images.
    """

    image_token = "<|image_pad|>"

    def __init__(self, source: str, **options: Any) -> None:
        """Read tokenizer, chat template and image settings from the folder `source`."""
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(source, **options)
        self.image_processor = transformers.AutoImageProcessor.from_pretrained(source, **options)
        self._pad: int = self.tokenizer.convert_tokens_to_ids(self.image_token)
        self.chat_template: str | None = self.tokenizer.chat_template

    @staticmethod
    def knows(config: Any) -> bool:
        """Whether this processor fits models of that configuration."""
        kind = str(config.model_type)
        return kind.startswith("qwen") and "_vl" in kind

    def __call__(
        self,
        text: Sequence[str],
        images: Sequence[Sequence[Picture.Image]],
        *,
        add_special_tokens: bool,
        return_tensors: str,
    ) -> dict[str, torch.Tensor]:
        """The model's inputs for one prompt, with one image token for each merged patch of an
        image. `text` and `images` have one item, as other processors take them.
        """
        pictures = self.image_processor(images=list(images[0]), return_tensors=return_tensors)
        merged = self.image_processor.merge_size**2
        counts = (pictures["image_grid_thw"].prod(-1) // merged).tolist()
        before, *parts = text[0].split(self.image_token)
        long = before + "".join(
            self.image_token * count + part for count, part in zip(counts, parts, strict=True)
        )
        ids = self.tokenizer(
            long, add_special_tokens=add_special_tokens, return_tensors=return_tensors
        )["input_ids"]
        kinds = (ids == self._pad).long()
        return {"input_ids": ids, "mm_token_type_ids": kinds, **pictures}

    def save_pretrained(self, folder: Path) -> None:
        """Write tokenizer, chat template and image settings to `folder`."""
        self.tokenizer.save_pretrained(folder)
        self.image_processor.save_pretrained(folder)


_PACKED, _SPARE = 8, 1 << 26
"""The most weights of a byte, and numbers that a model computes itself, such as positions."""
_EDGE, _PIXELS, _TILES = 1 << 13, 1 << 24, 1 << 8
"""The longest edge of an image, its pixels, and its parts, that a folder may ask for."""
_TILED = re.compile(r"min_patches|.*(tiles|crops)")


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
    for handler in logging.getLogger("transformers").handlers:
        handler.addFilter(_printable)
    if settings.threads is not None:
        torch.set_num_threads(settings.threads)
    advice = "Name a folder that transformers has saved, a model on a hub, or local:smollm2."
    register()
    opened = None
    try:
        kinds = {"code": settings.trust_remote_code, "pickles": settings.pickles}
        folder = Path(source) if Path(source).is_dir() else downloaded(source, **kinds)
        opened = OpenedFolder(folder, **kinds)
        advice = " ".join(opened.refused) or advice
        if opened.code:
            files = ", ".join(map(repr, opened.code))
            warn(f"{name} brings Python code, which runs now: {files}.", stacklevel=2)
            drop_credentials()
        options = {"trust_remote_code": bool(opened.code), "local_files_only": True}
        config = transformers.AutoConfig.from_pretrained(opened.path, **options)
        images = sees(config)
        model = _network(opened, config, images, settings, adapters, options, name)
        limits = {"min_pixels": settings.min_pixels, "max_pixels": settings.max_pixels}
        encoder = encoder_of(opened, config, images, name, **limits)
    except (ModelError, UnavailableError):
        raise
    except BaseException as error:  # a library may raise anything, a panic of its Rust too
        if is_interrupt(error):
            raise
        reason = message(error).strip() or type(error).__name__
        reason = opened.named(reason) if opened else reason
        raise ModelError(f"{name} can't be loaded: {reason} {advice}") from error
    found = _checked(model, encoder, name, images, settings, identity())
    made = Transformer(model, encoder, name=name, images=images, settings=settings, check=found)
    if opened.code:
        made.details = {**made.details, "code": dict(opened.code)}
    return made


def _printable(record: logging.LogRecord) -> bool:
    """What transformers says of a folder may quote it."""
    record.msg, record.args = printable(record.getMessage()), None
    return True


def sees(config: Any) -> bool:
    """Whether a model of this configuration takes images."""
    known = knows(AutoModelForImageTextToText, config)
    return hasattr(config, "vision_config") or (known and not knows(AutoModelForCausalLM, config))


def _network(
    opened: OpenedFolder,
    config: Any,
    sees: bool,
    settings: LocalSettings,
    adapters: Sequence[Path],
    options: Mapping[str, Any],
    name: str,
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
    options = {**options, "use_safetensors": None if settings.pickles else True}
    options["output_loading_info"] = True
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
    kind = _kind(config, sees)
    _check_size(kind, config, opened)
    model, found = kind.from_pretrained(opened.path, dtype=first, **options)
    if missing := sorted(found["missing_keys"]):
        names = ", ".join(map(printable, missing[:3]))
        raise ModelError(f"{name} lacks {len(missing)} of its weights, such as {names}.")
    for adapter in adapters:
        model = apply_adapter(model, adapter, merged=merged, pickles=settings.pickles)
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


def encoder_of(
    opened: OpenedFolder,
    config: Any,
    sees: bool,
    name: str,
    *,
    min_pixels: int | None = None,
    max_pixels: int | None = None,
) -> Encoder:
    """The encoder of a model's folder; errors tell the `name`, and limits are as in `Encoder`."""
    options = {"trust_remote_code": bool(opened.code)}
    if not sees:
        tokenizer = transformers.AutoTokenizer.from_pretrained(opened.path, **options)
        return Encoder(tokenizer, name=name, opened=opened)
    if ImageProcessor.knows(config) and importlib.util.find_spec("torchvision") is None:
        processor: Any = ImageProcessor(str(opened.path), **options)
    else:
        processor = transformers.AutoProcessor.from_pretrained(opened.path, **options)
    _check_pictures(processor)
    return Encoder(
        processor.tokenizer,
        processor,
        min_pixels=min_pixels,
        max_pixels=max_pixels,
        name=name,
        opened=opened,
    )


def _check_pictures(processor: Any) -> None:
    """See that a folder's settings make no image so large that it would fill the memory."""
    pictures: Any = getattr(processor, "image_processor", None)
    # Some families give the size of an image in pixels, others its edges. Their class says which:
    # the attributes of the object are the folder's.
    by_pixels = "image_grid_thw" in getattr(type(pictures), "model_input_names", ())
    for key, value in numbers(pictures.to_dict() if hasattr(pictures, "to_dict") else {}):
        area = by_pixels or key.endswith("_pixels")
        limit = _TILES if _TILED.fullmatch(key) else _PIXELS if area else _EDGE
        if value > limit:
            raise ModelError(
                f"Its image settings say {key} = {value}, and more than {limit} would take too "
                "much memory."
            )


def downloaded(name: str, *, code: bool = False, pickles: bool = False) -> Path:
    """The folder of a model from a hub, of whose files only those that may be read are fetched."""
    from huggingface_hub import snapshot_download

    kinds = [f"*{end}" for end in wanted(code, pickles)]
    others = ["*/*", "consolidated*"]  # the same weights in another form
    return Path(snapshot_download(name, allow_patterns=kinds, ignore_patterns=others))


def _check_size(kind: Any, config: Any, opened: OpenedFolder) -> None:
    """See that a configuration describes no more weights than its files may hold."""
    with torch.device("meta"):
        empty = kind.from_config(config, trust_remote_code=bool(opened.code))
    count = sum(tensor.numel() for tensor in (*empty.parameters(), *empty.buffers()))
    if count > _PACKED * opened.weights + _SPARE:
        raise ModelError(
            f"Its configuration describes {count:,} numbers, and its files have "
            f"{opened.weights:,} bytes of weights."
        )


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
