"""A transformer of the `transformers` package as a model."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from warnings import warn

import numpy as np
from PIL import Image as Picture

from inhabit.agents.core import Call, ModelError, Ranked
from inhabit.agents.models.beam_search import BeamRules
from inhabit.agents.models.core import (
    Ability,
    GenerateOptions,
    Image,
    Message,
    Model,
    Ranking,
    Reply,
)
from inhabit.agents.models.local.encoder import EncodedPrompt, Encoder
from inhabit.agents.models.local.generate import GeneratedText, TextGenerator, TextRequest
from inhabit.agents.models.local.micro_batcher import MicroBatcher
from inhabit.agents.models.local.picture_features import PictureFeatures
from inhabit.agents.models.local.scoring import ScoredTokens, Scorer
from inhabit.agents.models.local.self_check import SelfCheck
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.trie import Trie

A = TypeVar("A")
Q = TypeVar("Q")
T = TypeVar("T")

Asked = tuple[Sequence[Message], Sequence[str], BeamRules | None]
"""A prompt, candidates to score after it, and how they are searched, or None to rank them."""
Wanted = tuple[Sequence[Message], GenerateOptions]


@dataclass(frozen=True, slots=True, eq=False)
class _Request:
    """Candidates to score after a prompt, as given and as tokens."""

    prompt: Sequence[Message]
    candidates: Sequence[str]
    tokens: EncodedPrompt
    answers: Sequence[tuple[int, ...]]
    trie: Trie
    rules: BeamRules


class Transformer(Model):
    """Runs one forward pass at a time, in a thread of its own; concurrent requests are batched."""

    def __init__(
        self,
        model: Any,
        encoder: Encoder,
        *,
        name: str,
        images: bool,
        settings: LocalSettings,
        check: SelfCheck,
    ) -> None:
        """Use `model`, in evaluation mode, with `encoder`, as `check` found it exact."""
        self.name = name
        self.details = {
            "device": str(model.device),
            "dtype": str(model.dtype).split(".")[-1],
            "scoring": check.way,
        }
        self.checked = (
            f"in {self.details['dtype']} at most {check.error:.1g} nat from plain forward passes"
        )
        self.network = model
        self.encoder = encoder
        self.samples = settings.temperature is not None
        self._text = model.config.get_text_config()
        self._check = check
        kept = PictureFeatures(model, settings.picture_cache << 20)
        self.features = kept if check.features else None
        """What is kept of images; None where that changes scores."""
        self._scorer = Scorer(
            model,
            check.way,
            self.features,
            cuts_images=check.cuts_images,
            limit=settings.prompt_cache << 20,
        )
        self.kept = self._scorer.reader.kept
        """What is kept of prompts that were read."""
        self._writer = TextGenerator(model, encoder, settings)
        self._batcher = MicroBatcher(batch_size=settings.batch, name=name)
        abilities = {Ability.RANK, Ability.BEAM, Ability.WORDS, Ability.N_BEST}
        abilities |= {Ability.IMAGES} if images and 1 not in check.refused else set()
        abilities |= {Ability.SCHEMA} if settings.json_schema else set()
        self.abilities = frozenset(abilities)

    async def rank(self, prompt: Sequence[Message], candidates: Sequence[str]) -> Ranking:
        """Exact scores, as `agents/models/local/node_logits.py` defines them."""
        return await self._batcher.ask((prompt, candidates, None), self._ranks)

    async def _beam(
        self, prompt: Sequence[Message], candidates: Sequence[str], rules: BeamRules
    ) -> Ranking:
        """The best by `agents/models/beam_search.py`."""
        return await self._batcher.ask((prompt, candidates, rules), self._searches)

    async def _generate(self, prompt: Sequence[Message], options: GenerateOptions) -> Reply:
        """Generate by the settings: greedily, whatever the seed, or sampled from a temperature.

        Without a temperature, several replies are the best of a beam search of that width, by
        log-probability.
        """
        return await self._batcher.ask((prompt, options), self._generate_batch)

    async def detected(self, images: Sequence[Image]) -> str:
        """What its processor detects, if it detects objects."""
        return await self._batcher.ask(images, self._detections)

    async def close(self) -> None:
        """End the thread; the memory is freed with the last reference."""
        self._batcher.close()

    def _failure(self, error: Exception) -> ModelError:
        """The error for whatever an architecture or torch raises, such as lack of memory."""
        return ModelError(f"{self.name} failed: {type(error).__name__}: {error}")

    def _or_error(self, work: Callable[..., T], *given: Any) -> T | ModelError:
        """The result of `work`, or its error, so that one request of a batch spoils no other."""
        try:
            return work(*given)
        except ModelError as error:
            return error
        except Exception as error:  # noqa: BLE001 - the code of any architecture runs here
            return self._failure(error)

    def _each(self, work: Callable[[Sequence[Q]], Sequence[A]], some: Sequence[Q]) -> list[Any]:
        """The results of `work`; if it fails for all together, then one by one, or their errors."""
        together = self._or_error(work, some) if some else ()
        if not isinstance(together, ModelError):
            return list(together)
        if len(some) == 1:
            return [together]
        warn(
            f"{self.name} can't read {len(some)} prompts at once, and reads one after another: "
            f"{together} If it lacks memory, say --set model.batch=1.",
            stacklevel=2,
        )
        return [found for one in some for found in self._each(work, [one])]

    def _question(
        self, prompt: Sequence[Message], candidates: Sequence[str], rules: BeamRules | None
    ) -> _Request:
        tokens = self._encoded(prompt)
        answers = [self.encoder.candidate(text) for text in candidates]
        if not all(answers):
            raise ModelError("An empty text can't be ranked.")
        rules = rules or BeamRules(len(answers))
        if rules.end:
            answers = [(*answer, self.encoder.end) for answer in answers]
        self._check_length(tokens, max(map(len, answers)))
        return _Request(prompt, candidates, tokens, answers, Trie.pack(answers), rules)

    def _ranks(self, requests: Sequence[Asked]) -> list[Ranking | Exception]:
        return self._rankings(
            requests, lambda some: self._scorer.rank([(q.tokens, q.trie) for q in some])
        )

    def _searches(self, requests: Sequence[Asked]) -> list[Ranking | Exception]:
        return self._rankings(
            requests, lambda some: self._scorer.beam([(q.tokens, q.trie, q.rules) for q in some])
        )

    def _rankings(
        self,
        requests: Sequence[Asked],
        score: Callable[[Sequence[_Request]], Sequence[ScoredTokens]],
    ) -> list[Ranking | Exception]:
        begin = time.perf_counter()
        questions = [self._or_error(self._question, *one) for one in requests]
        good = [q for q in questions if isinstance(q, _Request)]
        scored = iter(self._each(score, good))
        seconds = (time.perf_counter() - begin) / max(1, len(good))
        return [
            q
            if isinstance(q, ModelError)
            else self._or_error(self._ranking, q, next(scored), seconds)
            for q in questions
        ]

    def _ranking(
        self, question: _Request, scored: ScoredTokens | ModelError, seconds: float
    ) -> Ranking:
        if isinstance(scored, ModelError):
            raise scored
        if not np.isfinite(scored.scores).all():
            raise ModelError(f"{self.name} gives scores that are no numbers: try dtype=float32.")
        texts = [question.candidates[i] for i in scored.order]
        lengths = [len(question.answers[i]) for i in scored.order]
        messages = tuple(message.record() for message in question.prompt)
        call = Call(
            messages=messages,
            reply="",
            tokens_in=scored.read,
            tokens_kept=scored.kept,
            seconds=seconds,
        )
        return Ranking(tuple(map(Ranked, texts, scored.scores, lengths)), call)

    def _detections(self, shown: Sequence[Sequence[Image]]) -> list[str | Exception]:
        names = getattr(self.encoder.processor, "detected", None)
        if names is None:
            return [""] * len(shown)
        looks = [[Picture.fromarray(image.rgb) for image in images] for images in shown]
        return [", ".join(names(look)) for look in looks]

    def _generate_batch(self, wanted: Sequence[Wanted]) -> list[Reply | Exception]:
        asked = [self._or_error(self._request, *one) for one in wanted]
        good = [one for one in asked if isinstance(one, TextRequest)]
        written = iter(self._each(self._writer.write, good))
        return [
            one
            if isinstance(one, ModelError)
            else self._or_error(_reply, prompt, one, next(written))
            for one, (prompt, _) in zip(asked, wanted, strict=True)
        ]

    def _request(self, prompt: Sequence[Message], options: GenerateOptions) -> TextRequest:
        tokens = self._encoded(prompt)
        request = self._writer.request(tokens, options)
        self._check_length(tokens, request.max_tokens)
        return request

    def _encoded(self, prompt: Sequence[Message]) -> EncodedPrompt:
        tokens = self.encoder.prompt(prompt)
        if problem := self._check.problem(tokens.pictures):
            raise ModelError(
                f"{self.name} can't be asked with {tokens.pictures} images: a plain forward "
                f"pass failed when it was loaded. {problem}"
            )
        return tokens

    def _check_length(self, prompt: EncodedPrompt, answer: int) -> None:
        """Check the context length. A sliding window is none: it forgets, and does not fail."""
        limit = getattr(self._text, "max_position_embeddings", None)
        if limit and len(prompt.ids) + answer > limit:
            raise ModelError(
                f"The prompt has {len(prompt.ids)} tokens and {self.name} reads {limit} with the "
                "answer: show it less history."
            )


def _reply(
    prompt: Sequence[Message], request: TextRequest, written: GeneratedText | ModelError
) -> Reply:
    if isinstance(written, ModelError):
        raise written
    best, *others = written.texts
    call = Call(
        messages=tuple(message.record() for message in prompt),
        reply=best,
        tokens_in=len(request.prompt.ids),
        tokens_out=sum(written.lengths),
        seconds=written.seconds,
        others=tuple(others),
        finish=written.finish,
    )
    scores = zip(written.texts, written.scores, written.lengths, strict=False)
    return Reply(written.texts, call, tuple(Ranked(*one) for one in scores))
