"""What this package needs of transformers beyond its documented interface: names that are private
or differ between its releases, and signatures that are asked for.

- The key-value cache, named `cache` since 5.24 and `past_key_values` before: without it a model
  can't be loaded.
- `mm_encoder_outputs` in the signature of a model's `forward`, and `get_image_features`: without
  them images are encoded again at each step, and read before the text that follows.
- `get_rope_index`, and the names of what it takes: without it every token has the next position.
- `_model_mapping` of an Auto class: without it no model is taken for one that sees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any


def cache_input(model: Any, cache: Any) -> dict[str, Any]:
    """The keyword argument of `model.forward` that hands over a key-value cache, or None."""
    new = "cache" in signature(model.forward).parameters
    return {"cache" if new else "past_key_values": cache}


def cache_of(output: Any) -> Any:
    """The key-value cache in the output of a model; None where it keeps none."""
    return output.cache if hasattr(output, "cache") else output.past_key_values


def image_encoder(model: Any) -> Callable[..., Any] | None:
    """What encodes images for `model`; None where it takes no encoded ones."""
    if "mm_encoder_outputs" not in signature(model.forward).parameters:
        return None
    return getattr(getattr(model, "model", None), "get_image_features", None)


def encoded_images(output: Any) -> dict[str, Any]:
    """The keyword argument of `model.forward` that stands for images, already encoded."""
    return {"mm_encoder_outputs": {"image": output}}


def position_index(model: Any) -> Callable[..., Any] | None:
    """What computes positions of three axes; None for a model that counts tokens."""
    return getattr(getattr(model, "model", None), "get_rope_index", None)


def image_token(model: Any) -> int | None:
    """The token that stands for a part of an image; None where no configuration names it."""
    names = ("image_token_id", "image_token_index")
    return next((t for n in names if (t := getattr(model.config, n, None)) is not None), None)


def taken(function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Those of `given` that `function` names among its arguments."""
    known = signature(function).parameters
    return {name: value for name, value in given.items() if name in known}


def knows(kind: Any, config: Any) -> bool:
    """Whether the Auto class `kind` has an architecture for a configuration."""
    return type(config) in getattr(kind, "_model_mapping", ())
