"""Reads a conversation turn by turn, and each turn once: the prompt of the next step begins with
the whole prompt of this one where an agent is asked with `history=whole`.

Where a turn ends depends on the prompt alone, so a score does not depend on what was read before.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from inhabit.agents.models.local.encoder import EncodedPrompt

_KEPT = 16
"""Caches of beginnings of prompts: two for each of the episodes that run side by side."""

Read = Callable[[list[list[int]], Any, Mapping[str, Any]], Any]
"""(ids, cache, inputs for images) -> the cache of both."""


class Turns:
    """The caches of what was read last. Not thread-safe."""

    def __init__(self, model: Any) -> None:
        """For `model`: one whose image inputs are "detections", one for each image token."""
        self._image: Any = getattr(model.config, "image_token_id", None)
        self._ends = model.config.get_text_config().eos_token_id
        self._model = model
        self._kept: OrderedDict[bytes, Any] = OrderedDict()

    @staticmethod
    def knows(model: Any) -> bool:
        """Whether `model` can be read by turns."""
        return str(model.config.model_type) == "inhabit_vlm"

    def read(self, prompt: EncodedPrompt, read: Read) -> Any:
        """The cache of all tokens of `prompt` but the last."""
        turns, cache, known = self._turns(prompt), None, 0
        for number, (key, _, _) in enumerate(turns, 1):
            if key in self._kept:
                known, cache = number, self._kept[key]
                self._kept.move_to_end(key)
        for key, turn, shown in turns[known:]:
            cache = read([turn], cache, {"detections": shown})
            self._kept[key] = cache
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return cache

    def _turns(self, prompt: EncodedPrompt) -> list[tuple[bytes, list[int], Any]]:
        """Digest of everything up to the end of each turn, the turn's tokens, and its images."""
        ids, found, begin, shown = prompt.ids, [], 0, 0
        so_far = hashlib.sha256()
        every = prompt.extra(self._model)["detections"]
        for end in [i + 1 for i, t in enumerate(ids[:-2]) if t == self._ends] + [len(ids) - 1]:
            turn = list(ids[begin:end])
            given = every[shown : shown + turn.count(self._image)]
            so_far.update(repr(turn).encode() + given.float().cpu().numpy().tobytes())
            found.append((so_far.digest(), turn, given))
            begin, shown = end, shown + len(given)
        return found
