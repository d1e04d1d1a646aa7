"""One causal transformer, reading: what it has read of a prompt, and what it says to more of it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from inhabit.agents.models.local.encoder import EncodedPrompt

_SPLITS = frozenset({"llava", "idefics3", "smolvlm", "qwen2_vl", "qwen2_5_vl"})
"""Models that see, and read a picture as they read words: every token sees what is before it. So
what stands before the pictures can be read first. Others may look both ways, and read it again."""


@dataclass(frozen=True, slots=True, eq=False)
class ReadPrefix:
    """The part of a prompt that has been read by itself."""

    read: int
    """How many tokens it is long: fewer than the prompt has."""
    cache: Any = None
    """What the model keeps of them; None where nothing has been read. Never changed."""
    shift: int = 0
    """What is added to the place of every later token to get its position. Not 0 where a picture
    takes up more tokens than positions, as with Qwen-VL."""


class Reader:
    """Reads with one model. Not for several threads at once.

    What it read of a prompt's fixed part is kept for the next prompt that begins alike. The fixed
    part is always read by itself, so that no answer depends on what was asked before.
    """

    def __init__(self, model: Any) -> None:
        """Read with `model`, which is ready to infer."""
        self._model = model
        self._splits = model.config.model_type in _SPLITS
        self._fixed: tuple[int, ...] = ()
        self._cached = ReadPrefix(0)

    def read_prefix(self, prompt: EncodedPrompt) -> ReadPrefix:
        """Read what has to be read before anything else, or remember it."""
        if not prompt.images:
            return self._read_fixed(prompt.ids[: prompt.fixed])
        prefix = self._read_fixed(prompt.ids[: prompt.fixed] if self._splits else ())
        return self._read_images(prompt, prefix)

    def forward(
        self,
        cache: Any,
        ids: NDArray[np.int64],
        positions: NDArray[np.int64],
        seen: NDArray[np.bool_],
        *,
        keep: int,
    ) -> tuple[torch.Tensor, Any]:
        """Read more.

        Args:
            cache: of what was read before, or None; it is left as it is.
            ids: tokens, (rows, n).
            positions: theirs, (rows, n).
            seen: which tokens each one attends to, those before first, (rows, n, before + n).
            keep: at how many of the last tokens of each row to say what follows.

        Returns:
            Logits (rows, keep, vocabulary) in float32, and the cache of all that is read now.
        """
        device = self._model.device
        # Kernels for processors are much faster with a mask in float32, whatever the model's type.
        kind = torch.float32 if device.type == "cpu" else self._model.dtype
        mask = torch.zeros(seen.shape, dtype=kind, device=device)
        lowest = torch.finfo(self._model.dtype).min
        mask.masked_fill_(torch.from_numpy(~seen).to(device), lowest)
        output = self._model(
            input_ids=torch.from_numpy(ids).to(device),
            position_ids=torch.from_numpy(positions).to(device),
            attention_mask=mask[:, None],
            past_key_values=None if cache is None else batch_caches([cache]),
            use_cache=True,
            logits_to_keep=keep,
        )
        return output.logits.float(), output.past_key_values

    def _read_fixed(self, fixed: tuple[int, ...]) -> ReadPrefix:
        if not fixed:
            return ReadPrefix(0)
        if fixed != self._fixed:
            self._cached = ReadPrefix(len(fixed), self._read(fixed, None, {}))
            self._fixed = fixed
        return self._cached

    def _read_images(self, prompt: EncodedPrompt, prefix: ReadPrefix) -> ReadPrefix:
        """Read on to the last token but one, pictures and all.

        Only the model itself knows how its pictures come in and what may attend to them.
        """
        extra = prompt.extra(self._model, prefix.read, -1)
        shift, places = self._positions(prompt)
        if places is not None:
            extra["position_ids"] = places[..., prefix.read : -1]
        ids = prompt.ids[prefix.read : -1]
        cache = self._read(ids, prefix.cache, extra)
        return ReadPrefix(len(prompt.ids) - 1, cache, shift)

    def _read(self, ids: Sequence[int], cache: Any, extra: Mapping[str, torch.Tensor]) -> Any:
        """The cache of `ids` behind what `cache` holds, which is left as it is."""
        output = self._model(
            input_ids=torch.tensor([ids], device=self._model.device),
            past_key_values=None if cache is None else batch_caches([cache]),
            use_cache=True,
            logits_to_keep=1,
            **extra,
        )
        return output.past_key_values

    def _positions(self, prompt: EncodedPrompt) -> tuple[int, torch.Tensor | None]:
        """The positions of all tokens, and what later ones are shifted by, for a model that has
        positions in three axes; other models count tokens.
        """
        locate = getattr(getattr(self._model, "model", None), "get_rope_index", None)
        if locate is None:
            return 0, None
        known = signature(locate).parameters
        whole = {k: v for k, v in prompt.extra(self._model).items() if k in known}
        places, shift = locate(torch.tensor([prompt.ids], device=self._model.device), **whole)
        return int(shift.item()), places


def batch_caches(caches: Sequence[Any]) -> Any:
    """The caches of single prompts as one, a row for each, padded at the end to equal length.

    What is read into it later leaves `caches` as they are. None stands for a prompt of which
    nothing has been read; not all can be that.
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
