"""`--model openai:NAME`: a chat endpoint of OpenAI's form, wherever `--base-url` says it is."""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING
from warnings import warn

from inhabit.agents.core import Call, ModelError, Ranked
from inhabit.agents.models.beam_search import BeamRules
from inhabit.agents.models.core import Ability, GenerateOptions, Message, Model, Ranking, Reply
from inhabit.agents.models.endpoints.cache import Cached
from inhabit.agents.models.endpoints.completion import Completion, PaidAnswer
from inhabit.agents.models.endpoints.ranking import EndpointRanking, ScoringWays
from inhabit.agents.models.endpoints.refusals import AdaptingEndpoint, Change, RefusalError
from inhabit.agents.models.endpoints.scoring import EXTRA, NO_SCORES, OTHERWISE, TrieScores
from inhabit.agents.models.endpoints.settings import OpenAISettings
from inhabit.agents.models.endpoints.wire import Body, answer_format, functions, messages
from inhabit.agents.models.registry import ModelRegistration
from inhabit.envs.entries import faults_as, message
from inhabit.envs.extras import imports

if TYPE_CHECKING:
    from inhabit.agents.models.endpoints.endpoint import Budget, Endpoint

_OPENAI = "https://api.openai.com/v1"
_KEYS = ("INHABIT_API_KEY", "OPENAI_API_KEY")
"""Where a key may stand in the environment; the first that is set counts."""
_ABLE = frozenset(Ability) - {Ability.RANK, Ability.BEAM}
_NO_RANK = (
    "If its server is vLLM, say --set prompt_logprobs=true. Other endpoints score no given texts: "
    f"take {OTHERWISE}."
)
_CONNECT = 4.0
"""Seconds for a connection: an address where nothing is may never answer."""
_SPACES = " \t\r\n\u0120\u2581"
"""Spaces around a letter; the last two are BPE's and SentencePiece's, in undecoded tokens."""
_LETTERS = 20
"""How many of the likeliest tokens an endpoint tells of at the most."""


class OpenAIModel(Model):
    """A model behind an endpoint. Calls of all episodes go side by side."""

    instead = MappingProxyType({Ability.RANK: _NO_RANK, Ability.BEAM: _NO_RANK})

    def __init__(
        self,
        endpoint: Endpoint,
        name: str,
        settings: OpenAISettings,
        ways: ScoringWays | None = None,
    ) -> None:
        """Ask `endpoint` for the model that it knows as `name`; for scores in these `ways`."""
        self.name = f"openai:{name}"
        ranks = {Ability.RANK, Ability.BEAM} if settings.prompt_logprobs else set()
        self._declared = (_ABLE | ranks) - settings.lacks
        self.details = {
            "base_url": settings.base_url or _OPENAI,
            "temperature": settings.temperature,
            "max_tokens": settings.max_tokens,
            "extra": dict(settings.extra),
        }
        if ways is not None:
            self.details["scoring"] = {"text": ways.text, "images": ways.images}
            self.checked = ways.checked
        self._endpoint = endpoint
        self._adapting = AdaptingEndpoint(endpoint.ask, self.name)
        self._cut_off = False
        self._settings = settings
        self._extra = dict(settings.extra)
        self._model = name
        self._ranking = EndpointRanking(
            endpoint, name, self._extra, self._whole, ways or ScoringWays()
        )
        # OpenAI's own newest models know the long name alone, and most others the short one.
        self._limit = "max_tokens" if settings.base_url else "max_completion_tokens"

    @property
    def abilities(self) -> frozenset[Ability]:  # type: ignore[override]
        """What it can do, less what the endpoint was found to lack."""
        return self._declared - self._adapting.lacks.keys()

    @property
    def samples(self) -> bool:  # type: ignore[override]
        """Whether its answers are sampled: always, where the endpoint takes no temperature."""
        refused = self._adapting.knows(Change.NO_TEMPERATURE)
        return self._settings.temperature != 0.0 or refused

    async def _generate(self, prompt: Sequence[Message], options: GenerateOptions) -> Reply:
        """What the endpoint answers, in the order that it gives."""
        begin = time.perf_counter()
        answers = await self._answers(prompt, self._request(prompt, options), options)
        best, *others = [text for answer in answers for text in answer.texts][: options.n]
        first = answers[0]
        raw = [best, *(f"{w.name}({w.arguments})" for w in first.wants)]
        call = self._call(prompt, "\n".join(t for t in raw if t), answers, begin)
        call = replace(call, others=tuple(others), thoughts=first.thoughts, finish=first.finish)
        if first.finish == "length" and options.max_tokens is None:
            self._say_cut_off(first)
        return Reply((best, *others), call, wants=first.wants, fields=first.fields)

    def _request(self, prompt: Sequence[Message], options: GenerateOptions) -> Body:
        body = self._body(prompt, options.max_tokens)
        if self.samples:
            body["seed"] = options.seed
        if options.n > 1:
            body["n"] = options.n
        if options.tools:
            body["tools"] = functions(options.tools)
            if not options.call_tools:
                body["tool_choice"] = "none"
        if options.schema is not None:
            body["response_format"] = answer_format(options.schema)
        return body

    async def _answers(
        self, prompt: Sequence[Message], body: Body, options: GenerateOptions
    ) -> Sequence[Completion]:
        """As many answers as asked for: in one request, or else in one for each."""
        begin = time.perf_counter()
        first = await self._adapting.ask(body, self._extra)
        missing = options.n - len(first.texts)
        if missing <= 0:
            return [first]
        self._adapting.learn(Change.ONE_ANSWER)
        bodies: list[Body] = [dict(body) for _ in range(missing)]
        for number, one in enumerate(bodies, start=1):
            if "seed" in one:
                one["seed"] = options.seed + number
        return [first, *await self._all(prompt, bodies, self._extra, begin, earlier=[first])]

    async def _all(
        self,
        prompt: Sequence[Message],
        bodies: Sequence[Body],
        extra: Body,
        begin: float,
        *,
        earlier: Sequence[Completion] = (),
    ) -> Sequence[Completion]:
        """The answers to all of `bodies`, which are asked side by side.

        Where one fails, the others are waited for: they may have been paid.
        """
        came = await asyncio.gather(
            *(self._adapting.ask(body, extra) for body in bodies), return_exceptions=True
        )
        answers = [one for one in came if isinstance(one, Completion)]
        for one in came:
            if isinstance(one, ModelError) and (paid := [*earlier, *answers]):
                one.after([self._call(prompt, "", paid, begin)])
            if isinstance(one, BaseException):
                raise one
        return answers

    def _say_cut_off(self, answer: Completion) -> None:
        """Warn once that a reply used up its tokens."""
        if not self._cut_off:
            self._cut_off = True
            spent = " on reasoning" if answer.thoughts and not answer.texts[0] else ""
            warn(
                f"{self.name} used up its {self._settings.max_tokens} tokens{spent} before its "
                "answer ended: such answers are recorded with finish=length. Give it more with "
                "--set max_tokens=N.",
                stacklevel=2,
            )

    async def choose(self, prompt: Sequence[Message], letters: Sequence[str]) -> Ranking:
        """The first token's log-probabilities, where it is a letter with or without a space."""
        if Ability.LOGPROBS not in self.abilities:
            return await super().choose(prompt, letters)
        begin = time.perf_counter()
        asked: Body = {"logprobs": True, "top_logprobs": _LETTERS}
        answer = await self._adapting.ask(self._body(prompt, 1) | asked, self._extra)
        call = self._call(prompt, answer.texts[0], [answer], begin)
        if (likely := answer.beginnings) is None:
            raise ModelError(
                f"{self.name} gives no log-probabilities that can be read: say "
                "--set lacks=logprobs."
            ).after([call])
        return Ranking(tuple(Ranked(one, _sum(likely, one), 1) for one in letters), call)

    async def rank(self, prompt: Sequence[Message], candidates: Sequence[str]) -> Ranking:
        """Exact scores, as `agents/models/endpoints/ranking.py` asks for them."""
        if Ability.RANK not in self.abilities:
            raise ModelError(f"{self.name} can't rank texts. {_NO_RANK}")
        return await self._scored(prompt, candidates, TrieScores.rank)

    async def _beam(
        self, prompt: Sequence[Message], candidates: Sequence[str], rules: BeamRules
    ) -> Ranking:
        """The best by `agents/models/beam_search.py`: about a request for each token."""
        return await self._scored(
            prompt, candidates, lambda found: found.beam(rules), end=rules.end
        )

    async def find_ways(self) -> ScoringWays:
        """Find out how the endpoint can be asked for scores.

        Raises:
            ModelError: it gives none.
        """
        return await self._ranking.find_ways(images=Ability.IMAGES in self.abilities)

    async def _scored(
        self,
        prompt: Sequence[Message],
        candidates: Sequence[str],
        search: Callable[[TrieScores], Awaitable[tuple[Ranked, ...]]],
        *,
        end: bool = False,
    ) -> Ranking:
        begin = time.perf_counter()
        paid: list[PaidAnswer] = []
        try:
            scores = await self._ranking.scores(prompt, candidates, paid, end=end)
            found = await search(scores)
        except ModelError as error:
            if paid:
                error.after([self._call(prompt, "", paid, begin)])
            raise
        return Ranking(found, self._call(prompt, "", paid, begin))

    async def _whole(
        self, prompt: Sequence[Message], candidates: Sequence[str]
    ) -> Sequence[Completion]:
        """The answers about whole candidates, which are asked side by side."""
        bodies = [self._body([*prompt, Message("assistant", (text,))], 1) for text in candidates]
        try:
            return await self._all(prompt, bodies, {**self._extra, **EXTRA}, time.perf_counter())
        except RefusalError as error:
            if error.mentions("prompt_logprobs|add_generation_prompt|continue_final_message"):
                raise ModelError(f"{NO_SCORES} It refuses: {error.said}.") from error
            raise

    def count_earlier(self, calls: Iterable[Call]) -> None:
        """Have `budget_calls` and `budget_tokens` hold for `calls` too."""
        self._endpoint.budget.count_earlier(calls)

    def check_budget(self) -> None:
        """Raises BudgetError where `budget_calls` or `budget_tokens` is spent."""
        self._endpoint.budget.check()

    async def close(self) -> None:
        """Let go of connections."""
        await self._endpoint.close()

    def _call(
        self, prompt: Sequence[Message], reply: str, answers: Sequence[PaidAnswer], begin: float
    ) -> Call:
        known = [a.tokens for a in answers if a.tokens is not None]
        return Call(
            messages=tuple(message.record() for message in prompt),
            reply=reply,
            tokens_in=sum(read for read, _ in known),
            tokens_out=sum(written for _, written in known),
            tokens_kept=sum(answer.tokens_kept for answer in answers),
            seconds=time.perf_counter() - begin,
            served=", ".join(sorted({a.served for a in answers if a.served})),
            requests=len(answers),
            notes=(*self._adapting.notes, *self._ranking.ways.notes),
        )

    def _body(self, prompt: Sequence[Message], max_tokens: int | None) -> Body:
        body: Body = {
            "model": self._model,
            "messages": messages(prompt),
            self._limit: max_tokens or self._settings.max_tokens,
        }
        if self._settings.temperature is not None:
            body["temperature"] = self._settings.temperature
        return body


def _sum(likely: Iterable[tuple[str, float]], letter: str) -> float:
    """The logarithm of how likely one of the tokens is that read as `letter`."""
    named = (p for token, p in likely if token.strip(_SPACES) == letter)
    total = math.fsum(map(math.exp, named))
    return math.log(total) if total > 0.0 else -math.inf


def _key(base_url: str | None) -> str | None:
    """The key that the environment names; an endpoint of one's own may want none."""
    for name in _KEYS:
        if key := os.environ.get(name, "").strip():
            # Whatever can't be sent would be quoted in the error of whoever tries to.
            if not all("!" <= letter <= "~" for letter in key):
                raise ModelError(
                    f"{name} holds a space or a letter that no key has: set it to the key alone."
                )
            return key
    if base_url is None:
        raise ModelError(
            "OpenAI asks for a key: put it in OPENAI_API_KEY; or name another endpoint with "
            "--base-url."
        )
    return None


def _load(name: str, settings: OpenAISettings) -> Model:
    with imports("Chat endpoints", "openai"):
        from inhabit.agents.models.endpoints.endpoint import Budget
    budget = Budget(calls=settings.budget_calls, tokens=settings.budget_tokens)
    ways = None
    if settings.prompt_logprobs:
        probe = _found_ways(OpenAIModel(_endpoint(name, settings, budget), name, settings))
        # In a thread, because a loop may be running here, and connections belong to their loop.
        with ThreadPoolExecutor(1) as thread:
            ways = thread.submit(asyncio.run, probe).result()
    model = OpenAIModel(_endpoint(name, settings, budget), name, settings, ways)
    if settings.cache is None:
        return model
    return Cached(model, settings.cache, samples=settings.cache_samples)


def _endpoint(name: str, settings: OpenAISettings, budget: Budget) -> Endpoint:
    with imports("Chat endpoints", "openai"):
        import openai

        from inhabit.agents.models.endpoints.endpoint import Endpoint
        from inhabit.agents.models.endpoints.transport import BoundedClient, Retries, certificates
    key = _key(settings.base_url)
    timeout = openai.Timeout(settings.timeout, connect=min(_CONNECT, settings.timeout))

    def unusable(error: BaseException) -> ModelError:
        why = message(error).rstrip(".")
        return ModelError(
            f"openai:{name} can't be asked: {why}. Check the proxies and certificates that the "
            "environment names, such as ALL_PROXY and SSL_CERT_FILE."
        )

    with faults_as(unusable):
        client = openai.AsyncOpenAI(
            base_url=settings.base_url or _OPENAI,
            api_key=key or "unset",  # the client insists on something
            max_retries=0,
            timeout=timeout,
            http_client=BoundedClient(timeout=timeout, verify=certificates()),
        )
    return Endpoint(
        client,
        budget,
        Retries(f"openai:{name}", settings.attempts, settings.backoff, settings.longest_wait),
        key=key,
        timeout=settings.timeout,
        in_flight=settings.in_flight,
    )


async def _found_ways(model: OpenAIModel) -> ScoringWays:
    try:
        ways = await model.find_ways()
    finally:
        await model.close()
    for note in ways.notes:
        warn(f"{model.name}: {note}.", stacklevel=2)
    return ways


REGISTRATION = ModelRegistration(
    kind="openai",
    summary="a model behind an OpenAI-compatible endpoint: OpenAI's, or that of --base-url",
    settings=OpenAISettings,
    load=_load,
)
