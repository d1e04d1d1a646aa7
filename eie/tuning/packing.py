"""One forward pass for several prompts with their answers: what they have in common is read once.

The examples of an episode begin alike: the goal, and the steps so far. All are packed into one trie
(`agents/models/local/trie.py`), in which a token attends to what comes before it in its own prompt.
So the loss of an episode costs little more than that of its longest prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import torch

from inhabit.agents.models.local.encoder import EncodedPrompt
from inhabit.agents.models.local.trie import Trie

PACKED = frozenset({"llava", "llama", "mistral", "qwen2", "qwen3"})
"""Model types that can be packed: positions count tokens, and images are inserted in order."""


@dataclass(frozen=True, slots=True, eq=False)
class AnswerScores:
    """Of the answer to each prompt."""

    means: torch.Tensor
    """(prompts,): mean log-probability per token, in nats. Gradients flow."""
    likeliest: tuple[bool, ...]
    """Whether each token of the answer is the likeliest one after those before it."""


def read_packed(
    model: Any, asked: Sequence[tuple[EncodedPrompt, Sequence[int]]]
) -> AnswerScores:
    """Score answers, as tokens, after their prompts.

    The prompts must begin with the same token, and `model` must be of a type in `PACKED`.
    """
    keys = _Keys(model)
    rows = [keys.of(prompt) + list(answer) for prompt, answer in asked]
    trie = Trie.pack(rows)
    device = model.device
    tokens = np.where(trie.tokens >= keys.words, keys.image_token, trie.tokens)[1:]
    mask = torch.zeros((1, 1, len(tokens), len(tokens)), dtype=model.dtype, device=device)
    seen = torch.from_numpy(trie.ancestors[1:, 1:]).to(device)
    mask.masked_fill_(~seen, torch.finfo(model.dtype).min)
    edges = np.concatenate(
        [path[len(row) - len(answer) :] for path, row, (_, answer) in _rows(trie, rows, asked)]
    )
    nodes = trie.edge_nodes[edges] - 1
    pictures = keys.pictures(trie.tokens[1:])
    output = model(
        input_ids=torch.from_numpy(tokens[None]).to(device),
        position_ids=torch.from_numpy(trie.depths[None, 1:] - 1).to(device),
        attention_mask=mask,
        use_cache=False,
        logits_to_keep=torch.from_numpy(nodes).to(device),
        **({} if pictures is None else {"pixel_values": pictures.to(device, model.dtype)}),
    )
    logs = output.logits[0].float().log_softmax(-1)
    said = torch.from_numpy(trie.edge_tokens[edges]).to(device)
    lengths = [len(answer) for _, answer in asked]
    each = logs.gather(1, said[:, None])[:, 0].split(lengths)
    right = (logs.detach().argmax(-1) == said).split(lengths)
    return AnswerScores(
        torch.stack([one.mean() for one in each]), tuple(bool(one.all()) for one in right)
    )


def _rows(trie: Trie, rows: Sequence[Any], asked: Sequence[Any]) -> Any:
    return zip((np.array(path) for path in trie.paths), rows, asked, strict=True)


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
        numbers = [self._number(pixels) for pixels in prompt.images["pixel_values"]]
        self._each = prompt.ids.count(self.image_token) // prompt.pictures
        images = iter(
            self.words + number * self._each + i for number in numbers for i in range(self._each)
        )
        return [next(images) if token == self.image_token else token for token in prompt.ids]

    def pictures(self, keys: Any) -> torch.Tensor | None:
        """The pixels of the images whose tokens are in `keys`, in their order."""
        first = [key - self.words for key in keys.tolist() if key >= self.words]
        numbers = [key // self._each for key in first if key % self._each == 0]
        return torch.stack([self._pixels[number] for number in numbers]) if numbers else None

    def _number(self, pixels: torch.Tensor) -> int:
        digest = blake2b(pixels.contiguous().numpy().tobytes(), digest_size=16).digest()
        if digest not in self._known:
            self._known[digest] = len(self._pixels)
            self._pixels.append(pixels)
        return self._known[digest]
