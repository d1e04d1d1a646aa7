"""Holds a reply to a JSON schema while it is decoded, by llguidance."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import torch
from pydantic import JsonValue

from inhabit.agents.core import ModelError
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
        self._masks.apply_token_bitmask_inplace(held[:, :width], mask.to(held.device))
        held[:, width:] = -torch.inf
        held[done] = -torch.inf  # the object is complete
        held[done, self._end] = 0.0
        return held
