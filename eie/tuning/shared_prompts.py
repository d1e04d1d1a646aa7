"""One forward pass for the prompts of an episode: what they have in common is read once.

The prompts of an episode begin alike: the goal, and the steps so far. All prompts with their
candidates are packed into one trie (`agents/models/trie.py`), in which a token attends to
what comes before it in its own prompt. So an episode costs little more than its longest prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from inhabit.agents.models.local.encoder import EncodedPrompt
from inhabit.agents.models.local.reader import mask_of
from inhabit.agents.models.local.scoring import possible_ways
from inhabit.agents.models.trie import Trie
from inhabit.eie.tuning.passes import at_places
from inhabit.eie.tuning.questions import Question

_PIXELS = "pixel_values"


def can_share(model: Any, prompts: Sequence[EncodedPrompt]) -> bool:
    """Whether prompts can be read together: by tree masks, with one block of pixels per image."""
    plain = not hasattr(getattr(model, "model", None), "get_rope_index")
    images = [prompt for prompt in prompts if prompt.pictures]
    known = all(set(p.images) == {_PIXELS} and len(p.images[_PIXELS]) == p.pictures for p in images)
    return plain and known and possible_ways(model)[0] == "tree"


def read_shared(model: Any, questions: Sequence[Question]) -> list[torch.Tensor]:
    """The logits after each node of each question, from one forward pass with gradients.

    All prompts begin with the same token, and `can_share` holds for them.
    """
    keys = _Keys(model)
    prompts = [keys.of(question.prompt) for question in questions]
    answers = [
        [q.trie.edge_tokens[list(path)].tolist() for path in q.trie.paths] for q in questions
    ]
    rows = [
        prompt + answer for prompt, some in zip(prompts, answers, strict=True) for answer in some
    ]
    trie = Trie.pack(rows)
    paths = iter(trie.paths)
    places = [
        _places(question.trie, len(prompt), [next(paths) for _ in some], trie)
        for question, prompt, some in zip(questions, prompts, answers, strict=True)
    ]
    kept, inverse = np.unique(np.concatenate(places), return_inverse=True)
    logits = _forward(model, trie, keys, kept)
    ends = np.cumsum([len(some) for some in places])[:-1]
    columns: list[NDArray[np.int64]] = np.split(inverse.astype(np.int64), ends)
    return at_places(logits, [(np.zeros_like(some), some) for some in columns])


def _forward(model: Any, trie: Trie, keys: _Keys, kept: NDArray[np.int64]) -> torch.Tensor:
    """Logits (1, kept, vocabulary) after the nodes `kept`."""
    device = model.device
    tokens = np.where(trie.tokens >= keys.words, keys.image_token, trie.tokens)[1:]
    mask = mask_of(model, torch.from_numpy(trie.ancestors[1:, 1:]))
    pixels = keys.pixels_of(trie.tokens[1:])
    logits: torch.Tensor = model(
        input_ids=torch.from_numpy(tokens[None]).to(device),
        position_ids=torch.from_numpy(trie.depths[None, 1:] - 1).to(device),
        attention_mask=mask[None, None],
        use_cache=False,
        logits_to_keep=torch.from_numpy(kept - 1).to(device),
        **({} if pixels is None else {_PIXELS: pixels.to(device, model.dtype)}),
    ).logits
    return logits


def _places(
    own: Trie, begin: int, paths: Sequence[Sequence[int]], packed: Trie
) -> NDArray[np.int64]:
    """The node of `packed` for each node of `own`, whose sequences begin after `begin` tokens."""
    found = np.zeros(len(own), np.int64)
    for path, whole in zip(own.paths, paths, strict=True):
        found[own.edge_nodes[list(path)]] = packed.edge_nodes[list(whole[begin:])]
        if (end := own.ends[own.paths.index(path)]) is not None:
            after = packed.ends[packed.paths.index(tuple(whole))]
            assert after is not None, "A sequence that others continue ends at a node."
            found[end] = after
    return found


class _Keys:
    """Numbers the tokens of prompts, so that tokens of different images differ."""

    def __init__(self, model: Any) -> None:
        self.words = int(model.config.get_text_config().vocab_size)
        self.image_token = int(getattr(model.config, "image_token_id", None) or -1)
        self._known: dict[bytes, int] = {}
        self._pixels: list[torch.Tensor] = []
        self._each = 1

    def of(self, prompt: EncodedPrompt) -> list[int]:
        """The key of each token of `prompt`."""
        if not prompt.pictures:
            return list(prompt.ids)
        numbers = [self._number(pixels) for pixels in prompt.images[_PIXELS]]
        self._each = prompt.ids.count(self.image_token) // prompt.pictures
        images = iter(
            self.words + number * self._each + i for number in numbers for i in range(self._each)
        )
        return [next(images) if token == self.image_token else token for token in prompt.ids]

    def pixels_of(self, keys: NDArray[np.int64]) -> torch.Tensor | None:
        """The images whose tokens are among `keys`, in their order; None if there are none."""
        places = keys[keys >= self.words] - self.words
        numbers = places[places % self._each == 0] // self._each
        return torch.stack([self._pixels[n] for n in numbers]) if len(numbers) else None

    def _number(self, pixels: torch.Tensor) -> int:
        digest = blake2b(pixels.contiguous().numpy().tobytes(), digest_size=16).digest()
        if digest not in self._known:
            self._known[digest] = len(self._pixels)
            self._pixels.append(pixels)
        return self._known[digest]
