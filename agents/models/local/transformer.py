"""A transformer of the `transformers` package as a model."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
import transformers
from safetensors import SafetensorError

from inhabit.agents.core import Call, ModelError, Ranked
from inhabit.agents.models.core import Ability, GenerateOptions, Message, Model, Ranking, Reply
from inhabit.agents.models.local.adapter import apply_adapter
from inhabit.agents.models.local.beam_search import search
from inhabit.agents.models.local.encoder import EncodedPrompt, Encoder, ImageProcessor
from inhabit.agents.models.local.generate import GeneratedText, TextGenerator
from inhabit.agents.models.local.likelihood import Likelihood
from inhabit.agents.models.local.micro_batcher import MicroBatcher
from inhabit.agents.models.local.precision import choose
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.local.trie import Trie

_READABLE = frozenset({"full_attention", "sliding_attention"})
"""Kinds of layers that support tree attention: they keep keys and values of every token."""

A = TypeVar("A")
Q = TypeVar("Q")
T = TypeVar("T")

Asked = tuple[Sequence[Message], Sequence[str], int]
"""A prompt, candidates to score after it, and the width of a beam, or 0."""
Wanted = tuple[Sequence[Message], int, int]
"""A prompt, the limit of tokens of a reply, and the number of replies."""


@dataclass(frozen=True, slots=True, eq=False)
class _Request:
    """Candidates to score after a prompt, as given and as tokens."""

    prompt: Sequence[Message]
    candidates: Sequence[str]
    tokens: EncodedPrompt
    answers: Sequence[tuple[int, ...]]
    trie: Trie
    width: int


@dataclass(frozen=True, slots=True)
class _Scored:
    """Indices of candidates, their scores, and the number of tokens that were read."""

    order: Sequence[int]
    scores: Sequence[float]
    read: int


class Transformer(Model):
    """Runs one forward pass at a time, in a thread of its own; concurrent requests are batched."""

    def __init__(
        self, model: Any, encoder: Encoder, *, name: str, images: bool, batch: int = 8
    ) -> None:
        """Use `model`, in evaluation mode, with `encoder`; at most `batch` prompts form a batch."""
        self.name = name
        self.details = {"device": str(model.device), "dtype": str(model.dtype).split(".")[-1]}
        self.network = model
        self.encoder = encoder
        self._text = model.config.get_text_config()
        self._likelihood = Likelihood(model)
        self._writer = TextGenerator(model, encoder)
        self._batcher = MicroBatcher(batch_size=batch, name=name)
        kinds = set(getattr(self._text, "layer_types", None) or ()) | {"full_attention"}
        ranks = kinds <= _READABLE and not getattr(model, "_is_stateful", False)
        abilities = {
            Ability.RANK: ranks,
            Ability.BEAM: ranks,
            Ability.WORDS: True,
            Ability.N_BEST: True,
            Ability.IMAGES: images,
        }
        self.abilities = frozenset(ability for ability, has in abilities.items() if has)

    async def rank(self, prompt: Sequence[Message], candidates: Sequence[str]) -> Ranking:
        """Exact scores, as `agents/models/local/likelihood.py` defines them."""
        return await self._ask((prompt, candidates, 0), self._rank)

    async def beam(
        self, prompt: Sequence[Message], candidates: Sequence[str], *, width: int
    ) -> Ranking:
        """The best by `agents/models/local/beam_search.py`."""
        return await self._ask((prompt, candidates, width), self._beam)

    async def _generate(self, prompt: Sequence[Message], options: GenerateOptions) -> Reply:
        """Decode greedily, whatever the seed; at most 256 tokens where no limit is given.

        Several replies are the best of a beam search of that width, by log-probability.
        """
        requests = prompt, options.max_tokens or 256, options.n
        return await self._ask(requests, self._generate_batch)

    async def close(self) -> None:
        """End the thread; the memory is freed with the last reference."""
        self._batcher.close()

    async def _ask(
        self, question: Q, answer: Callable[[Sequence[Q]], Sequence[A | Exception]]
    ) -> A:
        try:
            return await self._batcher.ask(question, answer)
        except RuntimeError as error:
            raise self._failure(error) from error

    def _failure(self, error: RuntimeError) -> ModelError:
        """The error for a RuntimeError of torch, such as lack of memory."""
        return (
            error if isinstance(error, ModelError) else ModelError(f"{self.name} failed: {error}")
        )

    def _question(
        self, prompt: Sequence[Message], candidates: Sequence[str], width: int
    ) -> _Request:
        if Ability.RANK not in self.abilities:
            raise ModelError(
                f"{self.name} can't rank texts: its layers do not keep the tokens that they have "
                "read apart, and ranking needs attention alone."
            )
        tokens = self.encoder.prompt(prompt)
        answers = [self.encoder.candidate(text) for text in candidates]
        if not all(answers):
            raise ModelError("An empty text can't be ranked.")
        self._check_length(tokens, max(map(len, answers)))
        return _Request(prompt, candidates, tokens, answers, Trie.pack(answers), width)

    def _rank(self, requests: Sequence[Asked]) -> list[Ranking | Exception]:
        return self._rankings(requests, self._score)

    def _beam(self, requests: Sequence[Asked]) -> list[Ranking | Exception]:
        return self._rankings(requests, self._search)

    def _rankings(
        self, requests: Sequence[Asked], score: Callable[[Sequence[_Request]], Sequence[_Scored]]
    ) -> list[Ranking | Exception]:
        begin = time.perf_counter()
        questions = [_or_error(self._question, *one) for one in requests]
        good = [q for q in questions if isinstance(q, _Request)]
        scored = iter(score(good) if good else ())
        seconds = (time.perf_counter() - begin) / max(1, len(good))
        return [
            q if isinstance(q, ModelError) else _or_error(self._ranking, q, next(scored), seconds)
            for q in questions
        ]

    def _score(self, questions: Sequence[_Request]) -> list[_Scored]:
        scores = self._likelihood.scores_of_many([(q.tokens, q.trie) for q in questions])
        return [
            _Scored(range(len(some)), some.tolist(), len(q.tokens.ids) + len(q.trie) - 1)
            for q, some in zip(questions, scores, strict=True)
        ]

    def _search(self, questions: Sequence[_Request]) -> list[_Scored]:
        reader = self._likelihood.reader
        return [
            _Scored([one.sequence for one in found], [one.score for one in found], read)
            for found, read in search(reader, [(q.tokens, q.trie, q.width) for q in questions])
        ]

    def _ranking(self, question: _Request, scored: _Scored, seconds: float) -> Ranking:
        if not np.isfinite(scored.scores).all():
            raise ModelError(f"{self.name} gives scores that are no numbers: try dtype=float32.")
        texts = [question.candidates[i] for i in scored.order]
        lengths = [len(question.answers[i]) for i in scored.order]
        messages = tuple(message.record() for message in question.prompt)
        call = Call(messages=messages, reply="", tokens_in=scored.read, seconds=seconds)
        return Ranking(tuple(map(Ranked, texts, scored.scores, lengths)), call)

    def _generate_batch(self, wanted: Sequence[Wanted]) -> list[Reply | Exception]:
        read = [_or_error(self._encoded, prompt, max_tokens) for prompt, max_tokens, _ in wanted]
        requests = [
            (tokens, max_tokens, n)
            for tokens, (_, max_tokens, n) in zip(read, wanted, strict=True)
            if isinstance(tokens, EncodedPrompt)
        ]
        written = iter(self._writer.write(requests))
        return [
            _reply(prompt, tokens, next(written)) if isinstance(tokens, EncodedPrompt) else tokens
            for tokens, (prompt, _, _) in zip(read, wanted, strict=True)
        ]

    def _encoded(self, prompt: Sequence[Message], max_tokens: int) -> EncodedPrompt:
        tokens = self.encoder.prompt(prompt)
        self._check_length(tokens, max_tokens)
        return tokens

    def _check_length(self, prompt: EncodedPrompt, answer: int) -> None:
        """Check the context length; a prompt must also fit into a sliding window."""
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


def _reply(prompt: Sequence[Message], tokens: EncodedPrompt, written: GeneratedText) -> Reply:
    best, *others = written.texts
    call = Call(
        messages=tuple(message.record() for message in prompt),
        reply=best,
        tokens_in=len(tokens.ids),
        tokens_out=sum(written.lengths),
        seconds=written.seconds,
        others=tuple(others),
    )
    scores = zip(written.texts, written.scores, written.lengths, strict=False)
    return Reply(written.texts, call, tuple(Ranked(*one) for one in scores))


def _processor(source: str, config: Any) -> Any:
    if ImageProcessor.knows(config) and importlib.util.find_spec("torchvision") is None:
        return ImageProcessor(source)
    return transformers.AutoProcessor.from_pretrained(source)


def _or_error(work: Callable[..., T], *given: Any) -> T | ModelError:
    """The result of `work`, or its error, so that one request of a batch spoils no other."""
    try:
        return work(*given)
    except ModelError as error:
        return error


def load(
    source: str, name: str, settings: LocalSettings, *, adapters: Sequence[Path] = ()
) -> Transformer:
    """Load the model at `source`, a folder or a name on a hub, and merge `adapters` in order.

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
        # Adapters are merged before the weights are rounded.
        model = kind.from_pretrained(source, dtype=torch.float32 if adapters else dtype)
        for adapter in adapters:
            model = apply_adapter(model, adapter)
        model = model.to(device, dtype).eval()
        if sees:
            processor = _processor(source, config)
            encoder = Encoder(processor.tokenizer, processor)
        else:
            encoder = Encoder(transformers.AutoTokenizer.from_pretrained(source))
    except (OSError, ValueError, KeyError, RuntimeError, ImportError, SafetensorError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise ModelError(
            f"{name} can't be loaded: {reason} Name a folder that transformers has saved, a model "
            "on a hub that can be reached from here, or local:smollm2."
        ) from error
    return Transformer(model, encoder, name=name, images=sees, batch=settings.batch)
