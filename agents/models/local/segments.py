"""Cuts a prompt into segments, which are read one after another, each by itself, and keeps their
key-value caches for later steps and other episodes.

A prompt of the next step begins with the segments of this one. Where it is cut depends on the
prompt alone, so that a score does not depend on what was read before.
"""

from __future__ import annotations

import copy
import hashlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from itertools import accumulate, groupby, pairwise, takewhile
from typing import Any

import torch

from inhabit.agents.models.local.encoder import EncodedPrompt
from inhabit.agents.models.local.picture_features import digest, split

Span = tuple[int, int]
"""First token, and the one after the last."""


def segments(prompt: EncodedPrompt, image: int | None, *, cut: bool) -> list[EncodedPrompt]:
    """The segments of a prompt, all its images among them, without at least its last token.

    Args:
        prompt: the tokens with the inputs for images.
        image: the token that stands for a part of an image; None where that is unknown.
        cut: whether a prompt with images may be cut. Otherwise it is one segment.
    """
    last = len(prompt.ids) - 1
    inputs = {name: prompt.images[name] for name in prompt.images.keys() - prompt.per_token}
    shown: Sequence[Span] = ()
    parts: Sequence[Mapping[str, torch.Tensor]] = ()
    of_tokens = _rows_of_tokens(prompt, inputs, image)
    if of_tokens is not None:
        rows, before = of_tokens
        shown = [(i, i + 1) for i, token in enumerate(prompt.ids) if token == image][-1:]
    elif prompt.pictures:
        parts = split(prompt, frozenset(inputs))
        shown = _spans(prompt.ids, image, parts) if cut else ()
        if not shown:
            shown, parts = [(0, last)], [inputs]
    ends = {end for end in prompt.cuts if not any(a < end < b for a, b in shown)}
    found = []
    for begin, end in pairwise([0, *sorted(ends | {min(end, last) for _, end in shown})]):
        if of_tokens is not None:
            seen = {name: value[before[begin] : before[end]] for name, value in rows.items()}
            count = before[end] - before[begin]
        else:
            here = [part for part, span in zip(parts, shown, strict=True) if begin < span[1] <= end]
            seen = dict(here[0]) if here else {}
            count = (prompt.pictures if len(parts) == 1 else 1) if here else 0
        seen |= {name: prompt.images[name][:, begin:end] for name in prompt.per_token}
        found.append(EncodedPrompt(prompt.ids[begin:end], (), seen, count))
    return found


def keys(some: Sequence[EncodedPrompt]) -> list[bytes]:
    """A digest of each segment and all before it."""
    found, before = [], b""
    for one in some:
        ids = ",".join(map(str, one.ids)).encode()
        before = hashlib.sha256(before + ids + digest(one.images)).digest()
        found.append(before)
    return found


def _rows_of_tokens(
    prompt: EncodedPrompt, inputs: Mapping[str, torch.Tensor], image: int | None
) -> tuple[Mapping[str, torch.Tensor], Sequence[int]] | None:
    """The inputs, if each has a row for each image token, and the number of rows before each token.

    So has `inhabit-vlm`, whose images are a token for each detected object.
    """
    before = list(accumulate((token == image for token in prompt.ids), initial=0))
    if set(inputs) != {"detections"}:
        return None
    return inputs, before


def _spans(
    ids: Sequence[int], image: int | None, parts: Sequence[Mapping[str, torch.Tensor]]
) -> Sequence[Span]:
    """The tokens of each of `parts`, images; none where they can't be told apart."""
    runs: list[Span] = []
    for token, run in groupby(range(len(ids)), lambda i: ids[i]):
        if token == image:
            first, *more = run
            runs.append((first, (more or [first])[-1] + 1))
    if not runs or len(parts) == 1:
        return [(runs[0][0], runs[-1][1])] if runs else ()
    each, left = divmod(len(runs), len(parts))
    shapes = {tuple(sorted((n, tuple(v.shape)) for n, v in part.items())) for part in parts}
    # Tiles of one image stand apart: then all have equally many, if they are of one size.
    if left or (each > 1 and len(shapes) > 1):
        return ()
    return [(runs[i][0], runs[i + each - 1][1]) for i in range(0, len(runs), each)]


class PromptCache:
    """The caches of the segments that were used last. Not thread-safe.

    Segments form a tree: each is kept once, however many prompts go on from it.
    """

    def __init__(self, limit: int) -> None:
        """Keep at most `limit` bytes on the model's device."""
        self._limit = limit
        self._kept: OrderedDict[bytes, Any] = OrderedDict()
        self.kept_bytes = 0
        """Size of what is kept, in bytes."""

    def beginning(self, keys: Sequence[bytes]) -> tuple[int, Any]:
        """How many of the first segments are kept, and their cache as one; None where none is."""
        some = [self._kept[key] for key in takewhile(self._kept.__contains__, keys)]
        return len(some), joined(some) if some else None

    def keep(self, key: bytes, cache: Any, tokens: int) -> None:
        """Keep the last `tokens` of what a cache holds; it is not changed by later reading."""
        part = _last(cache, tokens)
        # It may be kept already, without what comes before it: reading failed after it.
        earlier = self._kept.get(key)
        self.kept_bytes += _size(part) - (0 if earlier is None else _size(earlier))
        self._kept[key] = part

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
