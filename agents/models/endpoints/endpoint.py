"""One chat endpoint: its calls, what their failures mean, and what may be spent on them."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import openai
from pydantic import ValidationError

from inhabit.agents.core import BudgetError, Call, ModelError
from inhabit.agents.models.endpoints.completion import Completion, NextTokens, Text, Tokens
from inhabit.agents.models.endpoints.refusals import RefusalError
from inhabit.agents.models.endpoints.transport import (
    PassingError,
    RefusedAnswerError,
    Retries,
    connected,
    may_pass,
    retry_after,
)
from inhabit.agents.models.endpoints.wire import Body
from inhabit.envs.entries import first_problem
from inhabit.envs.host.credentials import credentials, is_long, redact


class Budget:
    """Counts calls and tokens from the start of a run, and says when there are no more.

    A call that has begun is carried to its end: tokens may go over by what is in flight.
    """

    def __init__(self, *, calls: int | None = None, tokens: int | None = None) -> None:
        """Allow so many; None for any number."""
        self._calls = calls
        self._tokens = tokens
        self.calls = 0
        """Requests sent so far, those that failed among them."""
        self.tokens = 0
        """Tokens read and written so far."""

    def count_earlier(self, calls: Iterable[Call]) -> None:
        """Count what was spent on `calls` before; they are not looked at where nothing is limited.

        Of requests that failed there is no record, and nothing is counted.
        """
        if self._calls is None and self._tokens is None:
            return
        for call in calls:
            if not call.cached:
                self.calls += call.requests
                self.tokens += call.tokens_in + call.tokens_out

    def check(self) -> None:
        """See that another call may be made.

        Raises:
            BudgetError: it may not.
        """
        if self._calls is not None and self.calls >= self._calls:
            raise BudgetError(f"The {self._calls} calls that budget_calls allows have been made.")
        if self._tokens is not None and self.tokens >= self._tokens:
            raise BudgetError(
                f"{self.tokens} tokens have been spent, and budget_tokens allows {self._tokens}."
            )

    def begin_call(self) -> None:
        """Count a call that is about to be sent.

        Raises:
            BudgetError: it may not be.
        """
        self.check()
        self.calls += 1

    def count(self, tokens: tuple[int, int] | None) -> None:
        """Count what a call read and wrote; None where its answer doesn't say.

        Raises:
            ModelError: it must be known, because tokens are limited.
        """
        if tokens is not None:
            self.tokens += sum(tokens)
        elif self._tokens is not None:
            raise ModelError(
                "The endpoint does not say how many tokens an answer took, so that budget_tokens "
                "can't be kept: use budget_calls."
            )


A = TypeVar("A", Completion, NextTokens)
F = TypeVar("F", Tokens, Text)

_RAW = "X-Stainless-Raw-Response"
"""A header by which the client returns an answer as it came."""
_FOR_GOOD = re.compile(r"not supported|unsupported|does not support|requires --", re.I)
"""Words of an error that no other try does away with, whatever its status: llama.cpp's is 500."""


class Endpoint:
    """Where completions come from. An answer that has come is never asked for again."""

    def __init__(
        self,
        client: openai.AsyncOpenAI,
        budget: Budget,
        retries: Retries,
        *,
        key: str | None,
        timeout: float,
        in_flight: int,
    ) -> None:
        """Ask through `client`, which must not try again by itself.

        `key` must never be said to people. `timeout` is in seconds, for a whole answer.
        """
        self._client = client
        self.budget = budget
        """Budget for all calls of the run."""
        self._name = retries.name
        # The key of this endpoint, and every other one: an endpoint may repeat what it was told.
        self._keys = list(dict.fromkeys(k for k in (key, *credentials()) if k and is_long(k)))
        self._timeout = timeout
        self._retries = retries
        self._places = asyncio.Semaphore(in_flight)

    async def ask(self, body: Mapping[str, Any], extra: Body) -> Completion:
        """The answer to `body`, with `extra` beside what the client knows of.

        Raises:
            BudgetError: there may be no more calls.
            RefusalError: the endpoint refuses.
            ModelError: it fails as often as it may.
        """

        async def content() -> object:
            # Not by `chat.completions.create`, which looks for dates and files in every field of a
            # body: 20 ms, in which no other episode goes on.
            answer: Any = await self._client.post(
                "/chat/completions",
                body={**body, **extra},
                cast_to=object,
                options={"headers": {_RAW: "true"}},
            )
            return answer.content

        return await self._retries.persist(self._paid, content, Completion)

    async def next_tokens(self, path: str, body: Body) -> NextTokens:
        """What may follow each of several prompts, from vLLM's `path`. Raises as `ask` does."""
        return await self._retries.persist(self._paid, lambda: self._posted(path, body), NextTokens)

    async def tokenize(self, body: Body) -> tuple[int, ...]:
        """The tokens of a prompt, from vLLM's /tokenize, which lies beside /v1 and costs nothing.

        Raises:
            ModelError: there is no such address, or it fails.
        """
        found: Tokens = await self._retries.persist(self._unpaid, "tokenize", body, Tokens)
        return found.tokens

    async def detokenize(self, body: Body) -> str:
        """The text of tokens, from vLLM's /detokenize. Raises as `tokenize` does."""
        found: Text = await self._retries.persist(self._unpaid, "detokenize", body, Text)
        return found.prompt

    async def close(self) -> None:
        """Let go of connections. Safe to call twice."""
        await self._client.close()

    async def _paid(self, ask: Callable[[], Awaitable[object]], kind: type[A]) -> A:
        async with self._places:
            self.budget.begin_call()
            answer = await self._sent(ask())
        self._retries.answered = True
        read = _read(answer, self._keys, kind)
        self.budget.count(read.tokens)
        return read

    async def _unpaid(self, name: str, body: Body, kind: type[F]) -> F:
        address = f"{str(self._client.base_url).rstrip('/').removesuffix('/v1')}/{name}"
        async with self._places:
            found = await self._sent(self._posted(address, body))
        try:
            return kind.model_validate(found)
        except ValidationError as error:
            raise ModelError(f"{self._name} can't {name}: its answer can't be read.") from error

    async def _posted(self, path: str, body: Body) -> object:
        try:
            return await self._client.post(path, body=body, cast_to=object)
        except (ValueError, RecursionError) as error:
            raise PassingError(f"its answer could not be read: {error}") from error

    async def _sent(self, asked: Awaitable[Any]) -> Any:
        try:
            async with asyncio.timeout(self._timeout):
                return await asked
        except (TimeoutError, openai.APITimeoutError) as error:
            late = f"it took longer than {self._timeout:g} s"
            raise PassingError(late if connected(error) else "there was no connection") from error
        except RefusedAnswerError as error:
            raise self._unusable(error) from error
        except openai.APIStatusError as error:
            raise self._refusal(error) from error
        except openai.APIConnectionError as error:
            # Some versions of the client pass on what stopped it, others wrap it.
            if isinstance(error.__cause__, RefusedAnswerError):
                raise self._unusable(error.__cause__) from error
            root = self._readable(_root(error))
            raise PassingError(f"the connection failed ({root})") from error

    def _unusable(self, error: RefusedAnswerError) -> ModelError:
        return ModelError(f"{self._name} can't be used: {self._readable(str(error))}.")

    def _refusal(self, error: openai.APIStatusError) -> Exception:
        words = self._readable(_said(error))
        said = f"{error.status_code}: {words}"
        final = error.code == "insufficient_quota" or _FOR_GOOD.search(words) is not None
        if final or not may_pass(error.status_code):
            return RefusalError(
                f"{self._name} refuses with {said}.{_advice(error.status_code)}",
                said=words,
                blamed=error.param or "",
            )
        after = retry_after(error.response.headers, now=datetime.now(UTC))
        wish = "" if after is None else f" (and asks to wait {after:g} s)"
        return PassingError(f"it answered {said}{wish}", after=after)

    def _readable(self, text: str) -> str:
        return _readable(text, self._keys)


def _readable(text: str, keys: Sequence[str]) -> str:
    """On one line, not too long, and without the keys, which some endpoints repeat."""
    return " ".join(redact(text, keys).split())[:500].rstrip(".")


def _read(content: object, keys: Sequence[str], kind: type[A]) -> A:
    """An answer: JSON, or what it was parsed into."""
    try:
        found = json.loads(content) if isinstance(content, bytes) else content
        if isinstance(found, dict) and "choices" not in found and (said := _words(found)):
            raise PassingError(f"its answer is an error: {_readable(said, keys)}")
        # By way of Python's own JSON, which lets half a surrogate pair through: that is paid for.
        # However a key was escaped, it stands there as it is then.
        plain = redact(json.dumps(found, ensure_ascii=False), keys)
        return kind.model_validate_json(plain.encode(errors="replace"))
    except ValidationError as error:
        raise PassingError(f"its answer could not be read: {first_problem(error)}") from error
    except json.JSONDecodeError as error:  # such as a web page, or a stream that none asked for
        begins = " ".join(redact(error.doc, keys).split())[:60]
        ask = "is it a stream" if begins.startswith("data:") else "does --base-url end in /v1"
        raise PassingError(f"its answer was no JSON, but began with {begins!r} ({ask}?)") from error
    except (ValueError, RecursionError) as error:
        raise PassingError(f"its answer could not be read: {error}") from error


def _root(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return f"{type(error).__name__}: {error}"


def _said(error: openai.APIStatusError) -> str:
    """The endpoint's own words, where there are any; FastAPI's stand under "detail"."""
    if isinstance(error.body, str) and error.body:
        return error.body
    fields = error.body if isinstance(error.body, dict) else {}
    for name in ("message", "detail", "error"):
        if said := _words(fields.get(name)):
            return said
    return error.message


def _words(said: object) -> str:
    """A text, or FastAPI's list of what is wrong with which field."""
    if isinstance(said, str):
        return said
    if isinstance(said, dict):
        return _words(said.get("message") or said.get("msg") or said.get("error"))
    if not isinstance(said, list):
        return ""
    found = []
    for one in said:
        place = one.get("loc") if isinstance(one, dict) else None
        where = ".".join(map(str, place)) if isinstance(place, list) else ""
        found.append(f"{where}: {_words(one)}" if where else _words(one))
    return "; ".join(text for text in found if text)


def _advice(status: int) -> str:
    match status:
        case 401 | 403:
            return " Set INHABIT_API_KEY or OPENAI_API_KEY to a key that is valid there."
        case 404:
            return " Check --base-url, which usually ends in /v1, and the model's name."
        case 400 | 422:
            return (
                " If the endpoint lacks an ability, name it, as in --set lacks=images,schema. "
                "`inhabit doctor --model` asks for each of them."
            )
    return ""
