"""A transformer of the `transformers` package as a model that planners can ask."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import torch
import transformers
from pydantic import JsonValue
from safetensors import SafetensorError

from agents.core import Call, ModelError, Ranked
from agents.models.core import Ability, Message, Model, Ranking, Reply
from agents.models.encode import Encoder, Tokens
from agents.models.likelihood import Likelihood
from agents.models.local import LocalSettings
from agents.models.precision import choose
from agents.models.trie import Trie

_READABLE = frozenset({"full_attention", "sliding_attention"})
"""Kinds of layers that a tree of texts can be read with: they keep every token apart."""

T = TypeVar("T")


class Transformer(Model):
    """One forward at a time, in a thread of its own, so that nothing else has to wait for it."""

    def __init__(self, model: Any, encoder: Encoder, *, name: str, images: bool) -> None:
        """Answer with `model`, which is ready to infer, in the words of `encoder`."""
        self.name = name
        self.details = {"device": str(model.device), "dtype": str(model.dtype).split(".")[-1]}
        self.network = model
        self.encoder = encoder
        self._text = model.config.get_text_config()
        self._likelihood = Likelihood(model)
        self._turns = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        kinds = set(getattr(self._text, "layer_types", None) or ()) | {"full_attention"}
        ranks = kinds <= _READABLE and not getattr(model, "_is_stateful", False)
        abilities = {Ability.RANK: ranks, Ability.IMAGES: images}
        self.abilities = frozenset(ability for ability, has in abilities.items() if has)

    async def rank(self, prompt: Sequence[Message], candidates: Sequence[str]) -> Ranking:
        """Exact scores, as `agents/models/likelihood.py` defines them."""
        if Ability.RANK not in self.abilities:
            raise ModelError(
                f"{self.name} can't rank texts: its layers do not keep the tokens that they have "
                "read apart, and ranking needs attention alone."
            )
        return await self._in_turn(lambda: self._rank(prompt, candidates))

    async def generate(
        self,
        prompt: Sequence[Message],
        *,
        max_tokens: int | None = None,
        seed: int = 0,
        n: int = 1,
        tools: Sequence[Mapping[str, JsonValue]] = (),
        schema: Mapping[str, JsonValue] | None = None,
    ) -> Reply:
        """The likeliest word after word, whatever the seed; 256 where no limit is given."""
        self._check_able(n, tools, schema)
        return await self._in_turn(lambda: self._generate(prompt, max_tokens or 256))

    async def close(self) -> None:
        """Let go of the thread; the memory goes with the last reference."""
        self._turns.shutdown(wait=False, cancel_futures=True)

    async def _in_turn(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._turns, work)
        except RuntimeError as error:  # torch's for whatever goes wrong, memory above all
            raise ModelError(f"{self.name} failed: {error}") from error

    def _rank(self, prompt: Sequence[Message], candidates: Sequence[str]) -> Ranking:
        begin = time.perf_counter()
        tokens = self.encoder.prompt(prompt)
        answers = [self.encoder.candidate(text) for text in candidates]
        if not all(answers):
            raise ModelError("An empty text can't be ranked.")
        self._check_length(tokens, max(map(len, answers)))
        trie = Trie.pack(answers)
        scores = self._likelihood.scores(tokens, trie)
        if not np.isfinite(scores).all():
            raise ModelError(f"{self.name} gives scores that are no numbers: try dtype=float32.")
        call = Call(
            messages=tuple(message.record() for message in prompt),
            reply="",
            tokens_in=len(tokens.ids) + len(trie) - 1,
            seconds=time.perf_counter() - begin,
        )
        ranked = zip(candidates, scores.tolist(), map(len, answers), strict=True)
        return Ranking(tuple(Ranked(*one) for one in ranked), call)

    @torch.inference_mode()
    def _generate(self, prompt: Sequence[Message], max_tokens: int) -> Reply:
        begin = time.perf_counter()
        tokens = self.encoder.prompt(prompt)
        self._check_length(tokens, max_tokens)
        ids = torch.tensor([tokens.ids], device=self.network.device)
        said = self.network.generate(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=max_tokens,
            do_sample=False,
            pad_token_id=self._text.pad_token_id or 0,
            **tokens.extra(self.network),
        )[0, len(tokens.ids) :].tolist()
        text = self.encoder.words(said)
        call = Call(
            messages=tuple(message.record() for message in prompt),
            reply=text,
            tokens_in=len(tokens.ids),
            tokens_out=len(said),
            seconds=time.perf_counter() - begin,
        )
        return Reply((text,), call)

    def _check_length(self, prompt: Tokens, answer: int) -> None:
        """Up to the end of a sliding window, if there is one, it is as if there were none."""
        bounds = (
            getattr(self._text, name, None)
            for name in ("max_position_embeddings", "sliding_window")
        )
        limit = min((bound for bound in bounds if bound), default=None)
        if limit is not None and len(prompt.ids) + answer > limit:
            raise ModelError(
                f"The prompt has {len(prompt.ids)} tokens and {self.name} reads {limit} with the "
                "answer: show it less history."
            )


def load(source: str, name: str, settings: LocalSettings) -> Transformer:
    """The model that transformers finds at `source`, a folder or a name on a hub.

    Raises:
        ModelError: there is none, or it can't be read.
    """
    transformers.utils.logging.disable_progress_bar()
    if settings.threads is not None:
        torch.set_num_threads(settings.threads)
    try:
        config = transformers.AutoConfig.from_pretrained(source)
        sees = hasattr(config, "vision_config")
        device, dtype = choose(
            settings.device, settings.dtype, config.get_text_config().hidden_size
        )
        kind = (
            transformers.AutoModelForImageTextToText if sees else transformers.AutoModelForCausalLM
        )
        model = kind.from_pretrained(source, dtype=dtype).to(device).eval()
        if sees:
            processor = transformers.AutoProcessor.from_pretrained(source)
            encoder = Encoder(processor.tokenizer, processor)
        else:
            encoder = Encoder(transformers.AutoTokenizer.from_pretrained(source))
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise ModelError(
            f"{name} can't be loaded: {reason} Name a folder that transformers has saved, a model "
            "on a hub that can be reached from here, or local:smollm2."
        ) from error
    return Transformer(model, encoder, name=name, images=sees)
