"""What goes over the wire to an endpoint, how much may come back, and what is sent again.

An endpoint may be anybody's. Its answers are unpacked here, up to a size: 3 MB of gzip can be made
to unpack to gigabytes. A redirect that leads to another host is refused, since what is sent, with
the images of a home and a key, was meant for the host that the user named.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import cache
from importlib import import_module
from typing import Any, TypeVar
from urllib.request import getproxies

import openai
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)

from inhabit.agents.core import NoAnswerError

T = TypeVar("T")

_LOST = 2
"""Tries at an address where nothing has ever answered: it is probably wrong."""
_PASSING = frozenset({408, 409, 425, 429})
"""HTTP statuses below 500 that another try may do away with."""


def may_pass(status: int) -> bool:
    """Whether another try may bring another answer than one with this HTTP status."""
    return status in _PASSING or status >= 500


class PassingError(Exception):
    """A failure that may pass. Says what, in words that go on from "it"."""

    def __init__(self, what: str, *, after: float | None = None) -> None:
        super().__init__(what)
        self.after = after
        """Seconds after which the endpoint would be asked again; None where it doesn't say."""


@dataclass(slots=True)
class Retries:
    """Repeats requests to one endpoint."""

    name: str
    """Name of the model, for what is said to people."""
    attempts: int
    """How often one thing is asked at the most."""
    backoff: float
    """Seconds before the second try, on average; twice that before the third."""
    longest_wait: float
    """Seconds between two tries. An endpoint that wants more is given up."""
    answered: bool = False
    """Whether the endpoint has ever answered."""

    async def persist(self, attempt: Callable[..., Awaitable[T]], *given: Any) -> T:
        """What `attempt` returns, tried again after each `PassingError`.

        Raises:
            NoAnswerError: it fails as often as it may.
        """
        trying = AsyncRetrying(
            retry=retry_if_exception_type(PassingError),
            stop=self._gives_up,
            wait=self._wait,
            reraise=True,
        )
        try:
            return await trying(attempt, *given)
        except PassingError as error:
            tries = int(trying.statistics["attempt_number"])
            advice = "" if connected(error) else " Check --base-url, and that the server runs."
            if advice and getproxies():
                advice += " A proxy is set in the environment; NO_PROXY=HOST goes around it."
            raise NoAnswerError(
                f"{self.name} gave no answer in {tries} "
                f"{'try' if tries == 1 else 'tries'}; the last time {error}.{advice}"
            ) from error

    def _gives_up(self, state: RetryCallState) -> bool:
        after = _after(state)
        failed = state.outcome.exception() if state.outcome else None
        lost = not self.answered and not connected(failed)
        return stop_after_attempt(min(self.attempts, _LOST) if lost else self.attempts)(state) or (
            after is not None and after > self.longest_wait
        )

    def _wait(self, state: RetryCallState) -> float:
        # Some endpoints say 0 for ever, and many callers would come back at the same moment.
        random = wait_random_exponential(multiplier=2 * self.backoff, max=self.longest_wait)
        return max(random(state), _after(state) or 0.0)


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
    # A date without a zone can't be compared, nor one with a number that no date has.
    except (ValueError, TypeError, OverflowError):
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def connected(error: BaseException | None) -> bool:
    """Whether `error` came after there was a connection. The classes are the HTTP library's."""
    while error is not None:
        if type(error).__name__ in ("ConnectError", "ConnectTimeout"):
            return False
        error = error.__cause__
    return True


def _after(state: RetryCallState) -> float | None:
    error = state.outcome.exception() if state.outcome else None
    return error.after if isinstance(error, PassingError) else None


MOST = 1 << 24
"""Bytes of an answer, unpacked: 16 MiB."""
_PACKED = {"gzip": 31, "x-gzip": 31}
"""Content-Encoding -> the `wbits` of zlib."""
_REDIRECTS = 5


@cache
def certificates() -> Any:
    """The TLS context of the HTTP library of `openai`, made once: it takes a tenth of a second."""
    library = openai.DefaultAsyncHttpxClient.__mro__[1].__module__.partition(".")[0]
    return import_module(library).create_ssl_context()


class RefusedAnswerError(Exception):
    """An answer that is not taken, and would not be another time either."""


class BoundedClient(openai.DefaultAsyncHttpxClient):
    """An HTTP client that takes answers of a bounded size alone, and from nobody else."""

    # Which HTTP library it is depends on the version of `openai`: hence `Any`.
    async def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        """The answer to a request, unpacked and whole; redirects on the same host are followed.

        Raises:
            RefusedAnswerError: it is too large, packed in an unknown way, or leads elsewhere.
        """
        options["follow_redirects"] = False
        for _ in range(_REDIRECTS):
            request.headers["Accept-Encoding"] = "gzip"
            answer = await super().send(request, stream=True, **options)
            try:
                if answer.next_request is None:
                    return await _bounded(answer)
                _check_redirect(request, answer.next_request)
                request = answer.next_request
            finally:
                await answer.aclose()
        raise RefusedAnswerError("it redirects too many times")


async def _bounded(answer: Any) -> Any:
    try:
        content = await _unpacked(answer)
    except RefusedAnswerError:
        if not may_pass(answer.status_code):
            raise
        content = b""  # Another try is made, whatever the body is.
    headers = [
        (name, value)
        for name, value in answer.headers.raw
        if name.lower() not in (b"content-encoding", b"content-length", b"transfer-encoding")
    ]
    return type(answer)(
        answer.status_code, headers=headers, content=content, request=answer.request
    )


def _check_redirect(request: Any, to: Any) -> None:
    here, there = ((one.url.scheme, one.url.host, one.url.port) for one in (request, to))
    if here != there:
        raise RefusedAnswerError(
            f"it leads to another address, {to.url.scheme}://{to.url.netloc.decode()}: name that "
            "with --base-url if you trust it"
        )
    if request.method != to.method:
        raise RefusedAnswerError(
            f"it redirects to {to.url.path} in a way that turns {request.method} into {to.method} "
            "and drops the request body: give the final path with --base-url"
        )


async def _unpacked(answer: Any) -> bytes:
    encoding = answer.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "", *_PACKED):
        raise RefusedAnswerError(
            f"its answer is compressed as {encoding!r}, which was not requested"
        )
    unpack = zlib.decompressobj(_PACKED[encoding]) if encoding in _PACKED else None
    content = bytearray()
    async for packed in answer.aiter_raw():
        try:
            more = packed if unpack is None else unpack.decompress(packed, MOST + 1 - len(content))
        except zlib.error as error:
            raise RefusedAnswerError(f"its answer can't be decompressed ({error})") from error
        content += more
        if len(content) > MOST:
            raise RefusedAnswerError(f"its answer is larger than {MOST:,} bytes")
    return bytes(content)
