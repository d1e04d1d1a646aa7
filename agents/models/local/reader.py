"""Forward passes of one causal transformer, with a key-value cache of the prompt's beginning."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from inhabit.agents.models.local.encoder import EncodedPrompt
from inhabit.agents.models.local.picture_features import PictureFeatures
from inhabit.agents.models.local.turns import Turns
from inhabit.agents.models.transformers_names import (
    cache_input,
    cache_of,
    position_index,
    taken,
)

_SPLITS = frozenset({"llava", "idefics3", "smolvlm", "qwen2_vl", "qwen2_5_vl"})
"""Vision models with causal attention over image tokens as well: what stands before the images can
be read first. Others may attend both ways, and read it again."""

_PADDING = 1.25
"""Prompts are read together if the longest is at most this many times as long as the shortest."""

_ALONE = frozenset({"mllama"})
"""Models with cross-attention: the caches of prompts with different images can't be stacked."""


@dataclass(frozen=True, slots=True, eq=False)
class ReadPrefix:
    """The beginning of a prompt, already read."""

    read: int
    """Its number of tokens, fewer than the prompt has."""
    cache: Any = None
    """Their key-value cache; None where nothing has been read. Never changed."""
    shift: int = 0
    """Offset from the index of a later token to its position. Not 0 where an image takes up more
    tokens than positions, as with Qwen-VL."""


class PromptReader:
    """Reads prompts with one model. Not thread-safe.

    The cache of a prompt's fixed part is kept for the next prompt that begins the same. The fixed
    part is always read by itself, so that no result depends on earlier requests.
    """

    def __init__(self, model: Any, features: PictureFeatures | None = None) -> None:
        """Read with `model`, in evaluation mode, and its images by `features`."""
        self._model = model
        self._features = features
        self._splits = model.config.model_type in _SPLITS
        self.alone = model.config.model_type in _ALONE
        """Whether each prompt needs a forward pass of its own."""
        self._turns = Turns(model) if Turns.knows(model) else None
        self._fixed: tuple[int, ...] = ()
        self._cached = ReadPrefix(0)

    def read_prefixes(self, prompts: Sequence[EncodedPrompt]) -> list[ReadPrefix]:
        """Read the beginnings of prompts, or take them from the cache.

        Prompts with images are read together where the model takes features of images.
        """
        found: dict[int, ReadPrefix] = {}
        for group in self._groups(prompts):
            first = prompts[group[0]]
            if first.images:
                prefix = self._read_fixed(self._shared(first))
                read = self._read_images([prompts[i] for i in group], prefix)
            else:
                read = [self._read_fixed(self._shared(first))]
            found |= zip(group, read, strict=True)
        return [found[i] for i in range(len(prompts))]

    def joins(self, prompt: EncodedPrompt) -> bool:
        """Whether its images and text after them are read in one forward pass.

        That needs features instead of images, and a mask that says all there is to say.
        """
        takes = self._features is not None and self._features.usable
        return takes and self._splits and bool(prompt.pictures)

    def passes(self, prompts: Sequence[EncodedPrompt]) -> list[list[int]]:
        """Which prompts share a forward pass that reads text after them."""
        if self.alone:
            return [[i] for i in range(len(prompts))]
        groups = self._groups(prompts)
        joined = [group for group in groups if self.joins(prompts[group[0]])]
        rest = [i for group in groups if group not in joined for i in group]
        return [*joined, *([rest] if rest else [])]

    def read_fixed(self, prompt: EncodedPrompt) -> ReadPrefix:
        """Read the fixed part of a prompt, or take it from the cache."""
        return self._read_fixed(self._shared(prompt))

    def pictures_of(
        self, prompts: Sequence[EncodedPrompt], ends: int, tokens: int, read: int
    ) -> dict[str, Any]:
        """The inputs of `forward` for the images of `prompts`, one in each row.

        Args:
            prompts: with images, which the model `joins`.
            ends: the column at which all of them end.
            tokens: number of columns.
            read: number of tokens of each that are in the cache.
        """
        assert self._features is not None
        given = self._features.of(prompts)
        for name in prompts[0].per_token:
            rows = [
                torch.nn.functional.pad(
                    prompt.images[name][:, read:],
                    (ends - len(prompt.ids) + read, tokens - ends),
                )
                for prompt in prompts
            ]
            given[name] = torch.cat(rows).to(self._model.device)
        return given

    def locate(self, prompt: EncodedPrompt) -> tuple[int, NDArray[np.int64] | None]:
        """`locate` for the model."""
        shift, places = locate(self._model, prompt)
        return shift, None if places is None else places.cpu().numpy()

    def _shared(self, prompt: EncodedPrompt) -> tuple[int, ...]:
        """The tokens of a prompt that are read by themselves."""
        return prompt.ids[: prompt.fixed] if self._splits or not prompt.images else ()

    def _groups(self, prompts: Sequence[EncodedPrompt]) -> list[list[int]]:
        """Which prompts are read together: with images, and of similar length."""
        together = self._features is not None and self._features.usable and not self.alone
        groups: list[list[int]] = []
        for i in sorted(range(len(prompts)), key=lambda one: len(prompts[one].ids)):
            first = prompts[groups[-1][0]] if groups else None
            if (
                together
                and first is not None
                and first.pictures
                and prompts[i].pictures
                and self._shared(first) == self._shared(prompts[i])
                and len(prompts[i].ids) <= _PADDING * len(first.ids)
            ):
                groups[-1].append(i)
            else:
                groups.append([i])
        return groups

    def forward(
        self,
        cache: Any,
        ids: NDArray[np.int64],
        positions: NDArray[np.int64],
        seen: NDArray[np.bool_],
        *,
        keep: int,
        prompts: Sequence[EncodedPrompt] = (),
        given: Mapping[str, Any] | None = None,
    ) -> tuple[torch.Tensor, Any]:
        """Read more tokens.

        Args:
            cache: of earlier tokens, or None; it is not changed.
            ids: tokens, (rows, n).
            positions: of the tokens, (rows, n), or (axes, rows, n).
            seen: attention mask, cached tokens first, (rows, n, cached + n).
            keep: number of last tokens of each row whose logits are returned.
            prompts: of each row, needed if `alone`.
            given: `pictures_of` the rows, if there are any among the tokens.

        Returns:
            Logits (rows, keep, vocabulary) in the model's dtype, and the cache of all tokens.
        """
        device = self._model.device
        mask = mask_of(self._model, torch.from_numpy(seen))
        output = self._model(
            input_ids=torch.from_numpy(ids).to(device),
            position_ids=torch.from_numpy(positions).to(device),
            attention_mask=mask[:, None],
            use_cache=True,
            logits_to_keep=keep,
            **cache_input(self._model, None if cache is None else batch_caches([cache])),
            **(prompts[0].onward(self._model, ids.shape[1]) if len(prompts) == 1 else {}),
            **(given or {}),
        )
        return output.logits, cache_of(output)

    def _read_fixed(self, fixed: tuple[int, ...]) -> ReadPrefix:
        if not fixed:
            return ReadPrefix(0)
        if fixed != self._fixed:
            self._cached = ReadPrefix(len(fixed), self._read([fixed], None, {}))
            self._fixed = fixed
        return self._cached

    def _read_images(
        self, prompts: Sequence[EncodedPrompt], prefix: ReadPrefix
    ) -> list[ReadPrefix]:
        """Read up to the last token but one, images included.

        Only the model itself knows how its images are inserted and what may attend to them.
        """
        if self._turns is not None:
            caches = [self._turns.read(prompt, self._read) for prompt in prompts]
            return [ReadPrefix(len(p.ids) - 1, c) for p, c in zip(prompts, caches, strict=True)]
        located = [locate(self._model, prompt) for prompt in prompts]
        extras = [prompt.extra(self._model, prefix.read, -1) for prompt in prompts]
        if len(prompts) > 1:  # what belongs to images is in their features
            extras = [
                {name: extra[name] for name in prompt.per_token}
                for prompt, extra in zip(prompts, extras, strict=True)
            ]
        for extra, (_, places) in zip(extras, located, strict=True):
            if places is not None:
                extra["position_ids"] = places[..., prefix.read : -1]
        sizes = [len(prompt.ids) - 1 for prompt in prompts]
        whole: dict[str, Any] = extras[0]
        if len(prompts) > 1:
            whole = _stacked(extras, sizes, self._model.device)
        if self._features is not None:
            whole = self._features.replace(whole, prompts)
        ids = [[*prompt.ids[prefix.read : -1]] for prompt in prompts]
        ids = [[*row, *[row[-1]] * (max(sizes) - prefix.read - len(row))] for row in ids]
        cache = self._read(ids, prefix.cache, whole)
        return [
            ReadPrefix(size, _row(cache, i, size) if len(sizes) > 1 else cache, shift)
            for i, (size, (shift, _)) in enumerate(zip(sizes, located, strict=True))
        ]

    def _read(self, ids: Sequence[Sequence[int]], cache: Any, extra: Mapping[str, Any]) -> Any:
        """The cache of `cache`, which is not changed, and `ids` (rows, n) after it."""
        rows = None if cache is None else batch_caches([cache] * len(ids))
        output = self._model(
            input_ids=torch.tensor(ids, device=self._model.device),
            use_cache=True,
            logits_to_keep=1,
            **cache_input(self._model, rows),
            **extra,
        )
        return cache_of(output)


def _stacked(
    extras: Sequence[Mapping[str, torch.Tensor]], sizes: Sequence[int], device: torch.device
) -> dict[str, torch.Tensor]:
    """The inputs of several prompts, each (..., 1, tokens), padded at the end, with a mask."""
    whole, longest = {}, max(sizes)
    for name in extras[0]:
        rows = [
            torch.nn.functional.pad(extra[name], (0, longest - size))
            for extra, size in zip(extras, sizes, strict=True)
        ]
        whole[name] = torch.cat(rows, -2)
    mask = torch.arange(longest) < torch.tensor(sizes)[:, None]
    return {**whole, "attention_mask": mask.long().to(device)}


def mask_of(model: Any, seen: torch.Tensor) -> torch.Tensor:
    """An addend to attention scores: 0 where a token is `seen`, elsewhere the lowest number."""
    # CPU kernels are much faster with a mask in float32, whatever the model's dtype.
    kind = torch.float32 if model.device.type == "cpu" else model.dtype
    mask = torch.zeros(seen.shape, dtype=kind, device=model.device)
    return mask.masked_fill_(~seen.to(model.device), torch.finfo(model.dtype).min)


def locate(model: Any, prompt: EncodedPrompt) -> tuple[int, torch.Tensor | None]:
    """Positions of all tokens of a prompt with images, and the offset of later ones, for a model
    with three position axes. Other models, and prompts without images, count tokens: 0 and None.
    """
    index = position_index(model)
    if index is None or not prompt.images:
        return 0, None
    ids = torch.tensor([prompt.ids], device=model.device)
    places, shift = index(ids, **taken(index, prompt.extra(model)))
    return int(shift.item()), places


def batch_caches(caches: Sequence[Any]) -> Any:
    """Stack the caches of single prompts, one row each, padded at the end to equal length.

    `caches` are not changed by later reading. None stands for a prompt of which nothing has been
    read; at least one must not be None.
    """
    some = next(cache for cache in caches if cache is not None)
    longest = max(cache.get_seq_length() for cache in caches if cache is not None)
    whole = copy.copy(some)
    whole.layers = [
        _rows([cache and cache.layers[i] for cache in caches], layer, longest)
        for i, layer in enumerate(some.layers)
    ]
    return whole


def _rows(layers: Sequence[Any], some: Any, longest: int) -> Any:
    whole = copy.copy(some)
    if len(layers) > 1:
        whole.keys = torch.cat([_padded(one and one.keys, some.keys, longest) for one in layers])
        whole.values = torch.cat(
            [_padded(one and one.values, some.values, longest) for one in layers]
        )
    if hasattr(whole, "cumulative_length"):  # of layers with a sliding window
        whole.cumulative_length = longest
    return whole


def _row(cache: Any, row: int, size: int) -> Any:
    """The cache of one row of a batch, without padding."""
    whole = copy.copy(cache)
    whole.layers = [copy.copy(layer) for layer in cache.layers]
    for layer in whole.layers:
        layer.keys = layer.keys[row : row + 1, :, :size]
        layer.values = layer.values[row : row + 1, :, :size]
        if hasattr(layer, "cumulative_length"):
            layer.cumulative_length = size
    return whole


def _padded(kept: torch.Tensor | None, like: torch.Tensor, longest: int) -> torch.Tensor:
    """`kept` (1, heads, tokens, width) with zeros up to `longest` tokens."""
    if kept is None:
        kept = like[:, :, :0]
    return torch.nn.functional.pad(kept, (0, 0, 0, longest - kept.shape[-2]))
