"""Forward passes of one causal transformer. Each segment of a prompt is read once, and kept."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from inhabit.agents.models.local.encoder import EncodedPrompt
from inhabit.agents.models.local.picture_features import PictureFeatures
from inhabit.agents.models.local.segments import PromptCache, keys, segments
from inhabit.agents.models.transformers_names import (
    cache_input,
    cache_of,
    image_token,
    position_index,
    taken,
)

_PADDING = 1.25
"""Prompts are read together if the longest is at most this many times as long as the shortest."""

_ALONE = frozenset({"mllama"})
"""Models with cross-attention: the caches of prompts with different images can't be stacked."""


@dataclass(frozen=True, slots=True, eq=False)
class ReadPrefix:
    """The beginning of a prompt, already read."""

    read: int
    """Number of tokens that were read, fewer than the prompt has."""
    cache: Any = None
    """Key-value cache of those tokens; None where nothing has been read. Never changed."""
    shift: int = 0
    """Offset from the index of a later token to its position. Not 0 where an image takes up more
    tokens than positions, as with Qwen-VL."""
    kept: int = 0
    """How many of those tokens were not read now, since their cache was kept."""


class PromptReader:
    """Reads prompts with one model. Not thread-safe.

    A segment is always read by itself, after those before it. So no result depends on whether its
    cache was kept.
    """

    def __init__(
        self,
        model: Any,
        features: PictureFeatures | None = None,
        *,
        cuts_images: bool = False,
        limit: int = 0,
    ) -> None:
        """Read with `model`, in evaluation mode.

        Args:
            model: a transformer with keys and values for every token.
            features: of images; None to have the model encode them.
            cuts_images: whether prompts with images may be cut between them.
            limit: bytes of caches of segments that are kept.
        """
        self._model = model
        self._features = features
        self._cuts_images = cuts_images
        self._image = image_token(model)
        self.kept = PromptCache(limit)
        self.alone = model.config.model_type in _ALONE
        """Whether each prompt needs a forward pass of its own."""

    def read_prefixes(self, prompts: Sequence[EncodedPrompt]) -> list[ReadPrefix]:
        """Read the beginnings of prompts, all their images among them, or what is not kept."""
        return [self._read_prefix(prompt) for prompt in prompts]

    def passes(self, prompts: Sequence[EncodedPrompt]) -> list[list[int]]:
        """Which prompts share a forward pass that reads text after them: those of like length."""
        groups: list[list[int]] = []
        for i in sorted(range(len(prompts)), key=lambda one: len(prompts[one].ids)):
            shortest = len(prompts[groups[-1][0]].ids) if groups else 0
            if not self.alone and len(prompts[i].ids) <= _PADDING * shortest:
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
    ) -> tuple[torch.Tensor, Any]:
        """Read more tokens.

        Args:
            cache: of earlier tokens, or None; it is not changed.
            ids: tokens, (rows, n).
            positions: of the tokens, (rows, n).
            seen: attention mask, cached tokens first, (rows, n, cached + n).
            keep: number of last tokens of each row whose logits are returned.
            prompts: of each row, needed if `alone`.

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
        )
        return output.logits, cache_of(output)

    def _read_prefix(self, prompt: EncodedPrompt) -> ReadPrefix:
        parts = segments(prompt, self._image, cut=self._cuts_images)
        if not parts:
            return ReadPrefix(0)
        named = keys(parts)
        known, cache = self.kept.beginning(named)
        kept = begin = sum(len(part.ids) for part in parts[:known])
        shift, places = locate(self._model, prompt)
        if places is None and position_index(self._model) is not None:
            # Without them it goes on from where the images of its last prompt ended.
            places = torch.arange(len(prompt.ids), device=self._model.device)[None]
        for key, part in zip(named[known:], parts[known:], strict=True):
            end = begin + len(part.ids)
            cache = self._read(part, cache, None if places is None else places[..., begin:end])
            self.kept.keep(key, cache, len(part.ids))
            begin = end
        self.kept.use(named)
        return ReadPrefix(begin, cache, shift, kept)

    def _read(self, part: EncodedPrompt, cache: Any, places: torch.Tensor | None) -> Any:
        """The cache of `cache`, which may be changed, and a segment after it.

        Only the model itself knows how its images are inserted and what may attend to them.
        """
        given: dict[str, Any] = part.extra(self._model)
        if self._features is not None:
            given = self._features.replace(given, [part])
        if places is not None:
            given["position_ids"] = places
        output = self._model(
            input_ids=torch.tensor([part.ids], device=self._model.device),
            use_cache=True,
            logits_to_keep=1,
            **cache_input(self._model, cache),
            **given,
        )
        return cache_of(output)


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
    given = {name: value.to(model.device) for name, value in taken(index, prompt.images).items()}
    places, shift = index(torch.tensor([prompt.ids], device=model.device), **given)
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


def _padded(kept: torch.Tensor | None, like: torch.Tensor, longest: int) -> torch.Tensor:
    """`kept` (1, heads, tokens, width) with zeros up to `longest` tokens."""
    if kept is None:
        kept = like[:, :, :0]
    return torch.nn.functional.pad(kept, (0, 0, 0, longest - kept.shape[-2]))
