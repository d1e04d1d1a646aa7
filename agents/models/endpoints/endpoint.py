"""One chat endpoint: calls in flight, other tries after what may pass, and what is for good."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import openai
from pydantic import ValidationError
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)

from inhabit.agents.core import Call, ModelError
from inhabit.agents.models.endpoints.budget import Budget
from inhabit.agents.models.endpoints.transport import RefusedAnswerError, may_pass
from inhabit.agents.models.endpoints.wire import Body, Completion
from inhabit.envs.credentials import credentials, redact
from inhabit.envs.entries import first_problem


class PassingError(Exception):
    """Something that may pass. Says what, in words that go on from "it"."""

    def __init__(self, what: str, *, after: float | None = None) -> None:
        super().__init__(what)
        self.after = after
        """Seconds after which the endpoint would be asked again; None where it doesn't say."""


class Endpoint:
    """Where completions come from. An answer that has come is never asked for again."""

    def __init__(
        self,
        client: openai.AsyncOpenAI,
        budget: Budget,
        *,
        name: str,
        key: str | None,
        timeout: float,
        attempts: int,
        backoff: float,
        longest_wait: float,
        in_flight: int,
    ) -> None:
        """Ask through `client`, which must not try again by itself.

        Args:
            client: with base URL and key.
            budget: of all calls.
            name: of the model, for what is said to people.
            key: what must never be said to them; None where there is none.
            timeout: seconds for a whole answer.
            attempts: how often one thing is asked at the most.
            backoff: seconds before the second try, on average; twice that before the third.
            longest_wait: seconds between two tries. An endpoint that wants more is given up.
            in_flight: calls at once.
        """
        self._client = client
        self._budget = budget
        self._name = name
        # The key of this endpoint, and every other one: an endpoint may repeat what it was told.
        self._keys = list(dict.fromkeys(k for k in (key, *credentials()) if k))
        self._timeout = timeout
        self._attempts = attempts
        self._longest_wait = longest_wait
        self._backoff = wait_random_exponential(multiplier=2 * backoff, max=longest_wait)
        self._places = asyncio.Semaphore(in_flight)

    async def ask(self, body: Mapping[str, Any], extra: Body) -> Completion:
        """The answer to `body`, with `extra` beside what the client knows of.

        Raises:
            BudgetError: there may be no more calls.
            ModelError: the endpoint refuses, or fails as often as it may.
        """
        trying = AsyncRetrying(
            retry=retry_if_exception_type(PassingError),
            stop=self._gives_up,
            wait=self._wait,
            reraise=True,
        )
        try:
            return await trying(self._try, body, extra)
        except PassingError as error:
            tries = int(trying.statistics["attempt_number"])
            raise ModelError(
                f"{self._name} gave no answer in {tries} "
                f"{'try' if tries == 1 else 'tries'}; the last time {error}."
            ) from error

    def count_earlier(self, calls: Iterable[Call]) -> None:
        """Have the budget hold for `calls` too."""
        self._budget.count_earlier(calls)

    def check_budget(self) -> None:
        """Raises BudgetError where there may be no more calls."""
        self._budget.check()

    async def close(self) -> None:
        """Let go of connections. Safe to call twice."""
        await self._client.close()

    async def _try(self, body: Mapping[str, Any], extra: Body) -> Completion:
        async with self._places:
            self._budget.begin_call()
            content = await self._send(body, extra)
        completion = _read(content, self._keys)
        self._budget.count(completion.tokens)
        return completion

    async def _send(self, body: Mapping[str, Any], extra: Body) -> bytes:
        create = self._client.chat.completions.with_raw_response.create
        try:
            async with asyncio.timeout(self._timeout):
                answer = await create(**body, extra_body=extra)
                content: bytes = answer.content
                return content
        except (TimeoutError, openai.APITimeoutError) as error:
            raise PassingError(f"it took longer than {self._timeout:g} s") from error
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
        said = f"{error.status_code}: {self._readable(_said(error))}"
        if not may_pass(error.status_code) or error.code == "insufficient_quota":
            return ModelError(f"{self._name} refuses with {said}.{_advice(error.status_code)}")
        after = retry_after(error.response.headers, now=datetime.now(UTC))
        wish = "" if after is None else f" (and wants {after:g} s to pass)"
        return PassingError(f"it answered {said}{wish}", after=after)

    def _readable(self, text: str) -> str:
        """On one line, not too long, and without the key, which some endpoints repeat."""
        return " ".join(redact(text, self._keys).split())[:500].rstrip(".")

    def _gives_up(self, state: RetryCallState) -> bool:
        after = _after(state)
        return stop_after_attempt(self._attempts)(state) or (
            after is not None and after > self._longest_wait
        )

    def _wait(self, state: RetryCallState) -> float:
        # Some endpoints say 0 for ever, and many callers would come back at the same moment.
        return max(self._backoff(state), _after(state) or 0.0)


def retry_after(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """Seconds to wait, as the header Retry-After says in seconds or as a date (RFC 9110, 10.2.3).

    None where there is no such header, or nothing that can be understood.
    """
    said = headers.get("retry-after", "").strip()
    try:
        if said[:1].isdecimal():
            seconds = float(said)
        else:
            seconds = (parsedate_to_datetime(said) - now).total_seconds()
    except (ValueError, TypeError):  # a date without a zone can't be compared
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _after(state: RetryCallState) -> float | None:
    error = state.outcome.exception() if state.outcome else None
    return error.after if isinstance(error, PassingError) else None


def _read(content: bytes, keys: Sequence[str]) -> Completion:
    try:
        # By way of Python's own JSON, which lets half a surrogate pair through: that is paid for.
        # However a key was escaped, it stands there as it is then.
        plain = redact(json.dumps(json.loads(content), ensure_ascii=False), keys)
        return Completion.model_validate_json(plain.encode(errors="replace"))
    except ValidationError as error:
        raise PassingError(f"its answer could not be read: {first_problem(error)}") from error
    except (ValueError, RecursionError) as error:
        raise PassingError(f"its answer could not be read: {error}") from error


def _root(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return f"{type(error).__name__}: {error}"


def _said(error: openai.APIStatusError) -> str:
    """The endpoint's own words, where there are any."""
    said = error.body.get("message") if isinstance(error.body, dict) else None
    return said if isinstance(said, str) and said else error.message


def _advice(status: int) -> str:
    match status:
        case 401 | 403:
            return " Put a key that is good there in INHABIT_API_KEY or OPENAI_API_KEY."
        case 404:
            return " Look at --base-url, which mostly ends in /v1, and at the model's name."
        case 400 | 422:
            return (
                " If it is for want of an ability, say so, as in --set lacks=images,schema; a "
                "model that takes no temperature is asked with --set temperature=none."
            )
    return ""
