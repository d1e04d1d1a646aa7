"""Which parts of a model are trained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from torch import nn

from inhabit.agents.core import ModelError
from inhabit.eie.tuning.settings import TuneError, TuneSettings

_MERGER = "merger"
"""In the name of a projector that is part of the vision encoder, as in Qwen-VL."""


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
    """The identities of all modules of `decoder` below its `last` layers.

    Raises:
        TuneError: its layers are not a list.
    """
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
