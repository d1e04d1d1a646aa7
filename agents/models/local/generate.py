"""Text generation for a batch of prompts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from inhabit.agents.models.local.encoder import EncodedPrompt, Encoder

Asked = tuple[EncodedPrompt, int, int]
"""A prompt, the limit of tokens of a reply, and the number of replies."""


@dataclass(frozen=True, slots=True)
class GeneratedText:
    """The replies to one prompt, best first."""

    texts: tuple[str, ...]
    lengths: tuple[int, ...]
    """Number of tokens of each, the end token included."""
    scores: tuple[float, ...]
    """Their log-probabilities in nats; empty for a single reply."""
    seconds: float
    """Its share of the wall time of the batch."""


class TextGenerator:
    """Generates text with one model. Not thread-safe.

    Unlike for rankings, a batch gains little: every prompt is read from its first token, and a
    beam of five is five rows already. On two cores SmolLM2 generated free beams for eight episodes
    1.13 times faster in a batch than one by one (`scripts/bench.d/batch.py`, `words`).
    """

    def __init__(self, model: Any, encoder: Encoder) -> None:
        """Generate with `model`, in evaluation mode, and its `encoder`."""
        self._model = model
        self._encoder = encoder
        ends = model.generation_config.eos_token_id
        self._ends = frozenset([ends] if isinstance(ends, int) else ends or ())
        self._pad: int = model.config.get_text_config().pad_token_id or 0

    def write(self, requests: Sequence[Asked]) -> list[GeneratedText]:
        """The likeliest replies to each request, in order.

        One reply is decoded greedily; several are the best of a beam search of that width.
        Requests with equal limits share a batch.
        """
        alike: dict[tuple[int, ...], list[int]] = {}
        for i, (tokens, max_tokens, n) in enumerate(requests):
            # How images are batched depends on the architecture: these go one by one.
            alike.setdefault((max_tokens, n, i if tokens.images else -1), []).append(i)
        written: dict[int, GeneratedText] = {}
        for (max_tokens, n, _), some in alike.items():
            together = self._generate_batch([requests[i][0] for i in some], max_tokens, n)
            written |= zip(some, together, strict=True)
        return [written[i] for i in range(len(requests))]

    @torch.inference_mode()
    def _generate_batch(
        self, prompts: Sequence[EncodedPrompt], max_tokens: int, n: int
    ) -> list[GeneratedText]:
        begin = time.perf_counter()
        longest = max(len(p.ids) for p in prompts)
        ids = torch.tensor([[self._pad] * (longest - len(p.ids)) + list(p.ids) for p in prompts])
        mask = torch.tensor([[i >= longest - len(p.ids) for i in range(longest)] for p in prompts])
        device = self._model.device
        beam: dict[str, object] = {"num_beams": n, "num_return_sequences": n}
        if n > 1:
            beam |= {"length_penalty": 0.0, "output_scores": True}
        output = self._model.generate(
            input_ids=ids.to(device),
            attention_mask=mask.long().to(device),
            max_new_tokens=max_tokens,
            do_sample=False,
            pad_token_id=self._pad,
            return_dict_in_generate=True,
            **beam,
            **prompts[0].extra(self._model),
        )
        said = [self._until_end(row) for row in output.sequences[:, longest:].tolist()]
        scores = output.sequences_scores.tolist() if n > 1 else []
        seconds = (time.perf_counter() - begin) / len(prompts)
        return [
            GeneratedText(
                texts=tuple(map(self._encoder.words, said[first : first + n])),
                lengths=tuple(map(len, said[first : first + n])),
                scores=tuple(scores[first : first + n]),
                seconds=seconds,
            )
            for first in range(0, len(said), n)
        ]

    def _until_end(self, row: Sequence[int]) -> Sequence[int]:
        """`row` up to its end token. What follows is padding."""
        end = next((i + 1 for i, token in enumerate(row) if token in self._ends), len(row))
        return row[:end]
