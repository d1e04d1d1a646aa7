"""Text generation for a batch of prompts, held to a JSON schema by llguidance if that is asked."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from pydantic import JsonValue

from inhabit.agents.core import ModelError
from inhabit.agents.models.core import GenerateOptions
from inhabit.agents.models.local.encoder import EncodedPrompt, Encoder
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.envs.core import UnavailableError


class SchemaLogits:
    """Masks tokens that can't continue an object of the schema: a logits processor.

    Each row of a batch, such as a hypothesis of a beam search, is matched from its first token.
    """

    def __init__(self, tokenizer: Any, schema: Mapping[str, JsonValue], prompt: int) -> None:
        """Hold what follows the first `prompt` tokens of each row to `schema`.

        Raises:
            ModelError: llguidance can't express the schema.
            UnavailableError: it is not installed.
        """
        try:
            import llguidance
            import llguidance.hf
            import llguidance.torch
        except ImportError as error:
            raise UnavailableError(
                "Constraining replies to a JSON schema needs the package 'llguidance': "
                "pip install llguidance, or leave out json_schema."
            ) from error
        self._guide, self._masks = llguidance, llguidance.torch
        self._tokens = llguidance.hf.from_tokenizer(tokenizer)
        # Compact JSON: a model could else fill the limit of tokens with spaces.
        compact = {**schema, "x-guidance": {"whitespace_flexible": False}}
        self._grammar = llguidance.LLMatcher.grammar_from_json_schema(json.dumps(compact))
        self._prompt, self._end = prompt, int(tokenizer.eos_token_id)
        if problem := self._guide.LLMatcher.validate_grammar(self._grammar, self._tokens):
            raise ModelError(f"The schema can't be enforced while decoding: {problem}")

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """`scores` (rows, vocabulary) with minus infinity for tokens that the schema forbids."""
        mask = self._masks.allocate_token_bitmask(len(input_ids), self._tokens.vocab_size)
        done: list[int] = []
        for row, ids in enumerate(input_ids[:, self._prompt :].tolist()):
            matcher = self._guide.LLMatcher(self._tokens, self._grammar)
            for token in ids:
                if matcher.is_stopped():
                    break
                matcher.consume_token(token)
            if not matcher.is_stopped():
                self._masks.fill_next_token_bitmask(matcher, mask, row)
            else:
                done.append(row)
        held = scores.clone()
        width = min(held.shape[-1], self._tokens.vocab_size)
        # llguidance's own way to apply a mask is compiled: that takes a compiler and ten seconds.
        bits = mask.to(held.device).unsqueeze(-1) >> torch.arange(32, device=held.device)
        held[:, :width].masked_fill_((bits.flatten(1)[:, :width] & 1) == 0, -torch.inf)
        held[:, width:] = -torch.inf
        held[done] = -torch.inf  # the object is complete
        held[done, self._end] = 0.0
        return held


@dataclass(frozen=True, slots=True, eq=False)
class TextRequest:
    """What is asked of a generator."""

    prompt: EncodedPrompt
    max_tokens: int
    n: int
    """Number of replies."""
    seed: int
    schema: Mapping[str, JsonValue] | None


@dataclass(frozen=True, slots=True)
class GeneratedText:
    """The replies to one prompt, best first."""

    texts: tuple[str, ...]
    lengths: tuple[int, ...]
    """Number of tokens of each text, the end token included."""
    scores: tuple[float, ...]
    """Log-probabilities of the texts, in nats; empty for a single reply, and for sampled ones."""
    finish: str
    """Why the first text ended: "stop", or "length" for the limit of tokens."""
    seconds: float
    """This prompt's share of the wall time of the batch, in seconds."""


class TextGenerator:
    """Generates text with one model. Not thread-safe.

    Unlike for rankings, a batch gains little: every prompt is read from its first token, and a
    beam of five is five rows already. On two cores SmolLM2 generated free beams for eight episodes
    1.13 times faster in a batch than one by one (`scripts/bench.d/batch.py`, `words`).
    """

    def __init__(self, model: Any, encoder: Encoder, settings: LocalSettings) -> None:
        self._model = model
        self._encoder = encoder
        self._settings = settings
        ends = model.generation_config.eos_token_id
        self._ends = frozenset([ends] if isinstance(ends, int) else ends or ())
        self._pad: int = model.config.get_text_config().pad_token_id or 0

    def request(self, prompt: EncodedPrompt, options: GenerateOptions) -> TextRequest:
        """What `options` ask for after `prompt`."""
        limit = options.max_tokens or self._settings.max_tokens
        return TextRequest(prompt, limit, options.n, options.seed, options.schema)

    def write(self, requests: Sequence[TextRequest]) -> list[GeneratedText]:
        """The replies to each request, in order.

        Without a temperature one reply is decoded greedily, and several are the best of a beam
        search of that width. Requests with equal limits share a batch.
        """
        alike: dict[tuple[int, ...], list[int]] = {}
        for i, one in enumerate(requests):
            # How images are batched depends on the architecture, and a seed or a schema belongs to
            # one request: these go one by one.
            apart = one.prompt.images or one.schema or self._settings.temperature is not None
            alike.setdefault((one.max_tokens, one.n, i if apart else -1), []).append(i)
        written: dict[int, GeneratedText] = {}
        for some in alike.values():
            written |= zip(some, self._generate_batch([requests[i] for i in some]), strict=True)
        return [written[i] for i in range(len(requests))]

    @torch.inference_mode()
    def _generate_batch(self, requests: Sequence[TextRequest]) -> list[GeneratedText]:
        begin = time.perf_counter()
        prompts, n = [one.prompt for one in requests], requests[0].n
        longest = max(len(p.ids) for p in prompts)
        ids = torch.tensor([[self._pad] * (longest - len(p.ids)) + list(p.ids) for p in prompts])
        mask = torch.tensor([[i >= longest - len(p.ids) for i in range(longest)] for p in prompts])
        device = self._model.device
        samples = self._settings.temperature is not None
        with torch.random.fork_rng(enabled=samples):
            if samples:
                torch.manual_seed(requests[0].seed)
            output = self._model.generate(
                input_ids=ids.to(device),
                attention_mask=mask.long().to(device),
                max_new_tokens=requests[0].max_tokens,
                pad_token_id=self._pad,
                return_dict_in_generate=True,
                **self._decoding(requests[0]),
                **prompts[0].extra(self._model),
            )
        said = [self._until_end(row) for row in output.sequences[:, longest:].tolist()]
        beams = n > 1 and self._settings.temperature is None
        scores = output.sequences_scores.tolist() if beams else []
        seconds = (time.perf_counter() - begin) / len(prompts)
        return [
            GeneratedText(
                texts=tuple(map(self._encoder.words, said[first : first + n])),
                lengths=tuple(map(len, said[first : first + n])),
                scores=tuple(scores[first : first + n]),
                finish="stop" if self._ends.intersection(said[first][-1:]) else "length",
                seconds=seconds,
            )
            for first in range(0, len(said), n)
        ]

    def _decoding(self, request: TextRequest) -> dict[str, object]:
        """How tokens are chosen, for `generate` of transformers."""
        settings, many = self._settings, {"num_return_sequences": request.n}
        chosen: dict[str, object] = {"do_sample": False, **many}
        if settings.temperature is not None:
            chosen |= {"do_sample": True, "temperature": settings.temperature}
            chosen |= {"top_p": settings.top_p, "top_k": settings.top_k}
        elif request.n > 1:
            chosen |= {"num_beams": request.n, "length_penalty": 0.0, "output_scores": True}
        if request.schema is not None:
            tokenizer = self._encoder.tokenizer
            held = SchemaLogits(tokenizer, request.schema, len(request.prompt.ids))
            chosen["logits_processor"] = [held]
        return chosen

    def _until_end(self, row: Sequence[int]) -> Sequence[int]:
        """`row` up to its end token. What follows is padding."""
        end = next((i + 1 for i, token in enumerate(row) if token in self._ends), len(row))
        return row[:end]
