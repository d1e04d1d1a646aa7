"""Which parts of a model are trained, and what is remembered of a vision encoder that is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from hashlib import blake2b
from typing import Any

import torch
from torch import nn

from inhabit.agents.core import ModelError
from inhabit.eie.tuning.settings import TuneError, TuneSettings

_MERGER = "merger"
"""Word in the name of a projector that is part of the vision encoder, as in Qwen-VL."""


def module_names(network: Any, words: Sequence[str]) -> tuple[str, ...]:
    """Full names of the modules that `words` mean; "" is the whole network.

    Args:
        network: the transformers model.
        words: language, projector, vision, all, or the end of a module's name.

    Raises:
        TuneError: there is none for a word.
    """
    found: dict[str, None] = {}
    for word in words:
        found |= dict.fromkeys(_named(network, word))
    return tuple(found)


def vision_encoder(network: Any) -> Any:
    """The part that reads images; None if there is none."""
    encoder = network.get_encoder(modality="image")
    return encoder if isinstance(encoder, nn.Module) and encoder is not network else None


def lora_targets(network: Any, settings: TuneSettings) -> list[str]:
    """Names of the linear layers that get adapters; never the output head.

    Raises:
        ModelError: there are none.
        TuneError: the last layers are asked for, and layers are not a list.
    """
    head = network.get_output_embeddings()
    within = network if settings.targets == "all" else network.get_decoder()
    inside = {id(m) for m in within.modules() if _is_linear(m) and m is not head}
    if settings.last_layers is not None:
        inside -= _below(network.get_decoder(), settings.last_layers)
    whole = module_names(network, settings.whole)
    names = [
        name
        for name, module in network.named_modules()
        if id(module) in inside and not any(_within(name, outer) for outer in whole)
    ]
    if not names:
        raise ModelError("The model has no linear layers to put LoRA on.")
    return names


def _below(decoder: Any, last: int) -> set[int]:
    """The identities of all modules of `decoder` below its `last` layers."""
    layers = getattr(decoder, "layers", None)
    if not isinstance(layers, nn.ModuleList):
        raise TuneError("The layers of this model are not a list: leave last_layers out.")
    return {id(m) for layer in layers[: max(0, len(layers) - last)] for m in layer.modules()}


def _is_linear(module: nn.Module) -> bool:
    """Whether it is a matrix product; Llama 4's router is derived from one and returns a pair."""
    own = type(module).__module__.startswith("transformers.models.")
    return isinstance(module, nn.Linear) and not own


def _within(name: str, outer: str) -> bool:
    return name == outer or name.startswith(f"{outer}.")


def _named(network: Any, word: str) -> list[str]:
    if word == "all":
        return [""]
    names = {id(module): name for name, module in network.named_modules()}
    if word in _PARTS:
        found = [names[id(module)] for module in _PARTS[word](network)]
        if not found:
            raise TuneError(f"The model has no part {word!r} to train.")
        return found
    matches = [name for name in names.values() if name == word or name.endswith(f".{word}")]
    if not matches:
        last = {name.rpartition(".")[2] for name in names.values()} - {""}
        near = get_close_matches(word, sorted(last | {*_PARTS, "all"}), 3, cutoff=0.5)
        raise TuneError(
            f"The model has no module {word!r} to train (whole=). "
            f"Near it: {', '.join(near) or 'language, projector, vision, all'}."
        )
    return [n for n in matches if not any(n.startswith(f"{other}.") for other in matches)]


def _language(network: Any) -> Iterator[nn.Module]:
    yield network.get_decoder()
    head = network.get_output_embeddings()
    if head is not None and head.weight is not network.get_input_embeddings().weight:
        yield head


def _vision(network: Any) -> Iterator[nn.Module]:
    encoder = vision_encoder(network)
    if encoder is not None:
        yield encoder


def _projector(network: Any) -> Iterator[nn.Module]:
    encoder, decoder = vision_encoder(network), network.get_decoder()
    if encoder is None:
        return
    for module in network.base_model.children():
        if module not in (encoder, decoder) and any(True for _ in module.parameters()):
            yield module
    for name, module in encoder.named_children():
        if _MERGER in name:
            yield module


_PARTS = {"language": _language, "projector": _projector, "vision": _vision}


_GIGABYTE = 10**9
_KEPT = (torch.Tensor, type(None))
"""Hidden states that were not asked for are None."""
_PIXELS = 4
"""Dimensions of a batch of images: (images, channels, height, width)."""
_GRID = "grid_thw"
"""The argument of Qwen-VL's encoders, which take the patches of all images in one row: their
number along time, height and width for each image, (images, 3)."""

Image = tuple[torch.Tensor, dict[str, Any]]
"""The pixels of one image, as a batch, and the other arguments for it."""


def remember_images(model: Any, gigabytes: float) -> bool:
    """Have the vision encoder of `model` read each image once, as long as memory suffices.

    Each image is read by itself, so that the result does not depend on what is remembered.

    Returns:
        Whether it does: not if it is trained. Images that can't be told apart are read anew.
    """
    encoder = vision_encoder(model)
    if encoder is None or any(p.requires_grad for p in encoder.parameters()):
        return False
    encoder.forward = _Remembering(encoder.forward, gigabytes * _GIGABYTE)
    return True


class _Remembering:
    """The `forward` of an encoder, which keeps its results."""

    def __init__(self, forward: Callable[..., Any], room: float) -> None:
        self._forward, self._room = forward, room
        self._known: dict[bytes, Any] = {}

    def __call__(self, pixel_values: torch.Tensor, **options: Any) -> Any:
        images = _apart(pixel_values, options)
        if not images:
            return self._forward(pixel_values, **options)
        found = [self._read(*image) for image in images]
        whole = type(found[0])()
        for name in found[0]:
            whole[name] = _joined([one[name] for one in found])
        return whole

    @torch.no_grad()
    def _read(self, pixels: torch.Tensor, options: dict[str, Any]) -> Any:
        """The encoder's output for one image: its tensors, and its tuples of tensors."""
        digest = blake2b(digest_size=16)
        for name, value in (("", pixels), *sorted(options.items())):
            whole = value.contiguous() if isinstance(value, torch.Tensor) else None
            told = value if whole is None else (whole.dtype, tuple(whole.shape))
            digest.update(f"{name}={told};".encode())
            if whole is not None:
                digest.update(whole.flatten().view(torch.uint8).cpu().numpy().tobytes())
        key = digest.digest()
        found = self._known.get(key)
        if found is None:
            output = self._forward(pixels, **options)
            found = type(output)()
            for name, value in output.items():
                several = isinstance(value, tuple | list)
                if all(isinstance(part, _KEPT) for part in (value if several else (value,))):
                    found[name] = value
            size = _size(tuple(found.values()))
            if size <= self._room:
                self._room -= size
                self._known[key] = found
        return found


def _joined(parts: Sequence[Any]) -> Any:
    """Tensors of some images one after the other; tuples of them each by itself."""
    if isinstance(parts[0], torch.Tensor):
        return torch.cat(list(parts))
    return None if parts[0] is None else tuple(_joined(some) for some in zip(*parts, strict=True))


def _size(value: Any) -> int:
    """In bytes, of a tensor or of those in a tuple."""
    if isinstance(value, torch.Tensor):
        return value.numel() * value.element_size()
    return sum(map(_size, value or ()))


def _apart(pixels: torch.Tensor, options: dict[str, Any]) -> list[Image]:
    """The arguments for each image; empty where they can't be told apart."""
    tensors = {n for n, value in options.items() if isinstance(value, torch.Tensor)}
    if _GRID in tensors and pixels.dim() == 2 and tensors == {_GRID}:
        grid = options[_GRID]
        rows = torch.split(pixels, grid.prod(-1).tolist())
        return [(row, {**options, _GRID: grid[i : i + 1]}) for i, row in enumerate(rows)]
    count = len(pixels)
    if pixels.dim() != _PIXELS or any(len(options[name]) != count for name in tensors):
        return []
    return [
        (pixels[i : i + 1], {**options, **{n: options[n][i : i + 1] for n in tensors}})
        for i in range(count)
    ]
