"""Which failed requests are repeated, after how long, and how often."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

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
    """Of the model, for what is said to people."""
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
    except (ValueError, TypeError):  # a date without a zone can't be compared
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
