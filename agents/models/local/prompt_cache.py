"""Key-value caches of segments of prompts, kept for later steps and other episodes."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

import torch


class PromptCache:
    """The caches of the segments that were used last. Not thread-safe.

    Segments form a tree: each is kept once, however many prompts go on from it.
    """

    def __init__(self, limit: int) -> None:
        """Keep at most `limit` bytes on the model's device."""
        self._limit = limit
        self._kept: OrderedDict[bytes, Any] = OrderedDict()
        self.kept_bytes = 0
        """The size of what is kept."""

    def beginning(self, keys: Sequence[bytes]) -> tuple[int, Any]:
        """How many of the first segments are kept, and their cache as one; None where none is."""
        some = [self._kept[key] for key in takewhile(self._kept.__contains__, keys)]
        return len(some), joined(some) if some else None

    def keep(self, key: bytes, cache: Any, tokens: int) -> None:
        """Keep the last `tokens` of what a cache holds; it is not changed by later reading."""
        self._kept[key] = part = _last(cache, tokens)
        self.kept_bytes += _size(part)

    def use(self, keys: Sequence[bytes]) -> None:
        """Note that the segments of one prompt were used, and drop those not used for longest."""
        # The beginning of a prompt is used last: without it the rest is of no use.
        for key in reversed(keys):
            self._kept.move_to_end(key)
        while self.kept_bytes > self._limit:
            self.kept_bytes -= _size(self._kept.popitem(last=False)[1])


def joined(some: Sequence[Any]) -> Any:
    """One cache of the tokens of several, which are not changed."""
    whole = _copied(some[0])
    for i, layer in enumerate(whole.layers):
        if len(some) > 1 and layer.keys is not None:
            layer.keys = torch.cat([one.layers[i].keys for one in some], -2)
            layer.values = torch.cat([one.layers[i].values for one in some], -2)
        if hasattr(layer, "cumulative_length"):  # of layers with a sliding window
            layer.cumulative_length = sum(one.layers[i].cumulative_length for one in some)
    return whole


def _last(cache: Any, tokens: int) -> Any:
    part = _copied(cache)
    if tokens == cache.get_seq_length():
        return part
    for layer in part.layers:
        if layer.keys is not None:
            layer.keys = layer.keys[..., -tokens:, :].clone()
            layer.values = layer.values[..., -tokens:, :].clone()
        if hasattr(layer, "cumulative_length"):
            layer.cumulative_length = tokens
    return part


def _copied(cache: Any) -> Any:
    whole = copy.copy(cache)
    whole.layers = [copy.copy(layer) for layer in cache.layers]
    return whole


def _size(cache: Any) -> int:
    """In bytes."""
    tensors = [t for layer in cache.layers for t in (layer.keys, layer.values) if t is not None]
    return sum(tensor.nbytes for tensor in tensors)
