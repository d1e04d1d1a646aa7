"""What a run may spend on its model."""

from __future__ import annotations

from collections.abc import Iterable

from inhabit.agents.core import BudgetError, Call, ModelError


class Budget:
    """Counts calls and tokens from the start of a run, and says when there are no more.

    A call that has begun is carried to its end: tokens may go over by what is in flight.
    """

    def __init__(self, *, calls: int | None = None, tokens: int | None = None) -> None:
        """Allow so many; None for any number."""
        self._calls = calls
        self._tokens = tokens
        self.calls = 0
        """Sent so far, those that failed among them."""
        self.tokens = 0
        """Read and written so far."""

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
