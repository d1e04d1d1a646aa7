"""One causal transformer, reading: what it has read of a prompt, and what it says to more of it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from agents.models.encode import Tokens


@dataclass(frozen=True, slots=True, eq=False)
class Begun:
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
        self._fixed: tuple[int, ...] = ()
        self._kept = Begun(0)

    def begin(self, prompt: Tokens) -> Begun:
        """Read what has to be read before anything else, or remember it."""
        if prompt.images:
            # Only the model itself knows how its pictures come in and what may attend to them.
            return self._read(prompt.ids[:-1], prompt.extra(self._model, drop_last=True))
        fixed = prompt.ids[: prompt.fixed]
        if not fixed:
            return Begun(0)
        if fixed != self._fixed:
            self._kept = self._read(fixed, {})
            self._fixed = fixed
        return self._kept

    def go_on(
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
            past_key_values=None if cache is None else joined([cache]),
            use_cache=True,
            logits_to_keep=keep,
        )
        return output.logits.float(), output.past_key_values

    def _read(self, ids: Sequence[int], extra: Mapping[str, torch.Tensor]) -> Begun:
        known = torch.tensor([ids], device=self._model.device)
        output = self._model(input_ids=known, use_cache=True, logits_to_keep=1, **extra)
        return Begun(len(ids), output.past_key_values, self._shift() if extra else 0)

    def _shift(self) -> int:
        """Of the prompt with pictures just read; models whose positions run otherwise note it."""
        noted = getattr(getattr(self._model, "model", None), "rope_deltas", None)
        return 0 if noted is None else int(noted.item())


def joined(caches: Sequence[Any]) -> Any:
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
