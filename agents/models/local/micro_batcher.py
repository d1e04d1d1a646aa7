"""Batches concurrent requests to one model."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from inhabit.agents.core import ModelError

Q = TypeVar("Q")
A = TypeVar("A")


@dataclass(frozen=True, slots=True, eq=False)
class _Request:
    requests: Any
    answer: Callable[[Sequence[Any]], Sequence[Any]]
    answered: Future[Any]


class MicroBatcher:
    """Processes one batch at a time, in a thread of its own, so that the event loop never waits.

    Requests of one kind that arrive in the same iteration of the event loop, or while another batch
    is in progress, form one batch, in the order of their arrival.
    """

    def __init__(self, *, batch_size: int, name: str) -> None:
        """Answer at most `batch_size` questions together, for the model `name`."""
        self._most, self._name = batch_size, name
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._waiting: deque[_Request] = deque()

    async def ask(self, question: Q, answer: Callable[[Sequence[Q]], Sequence[A | Exception]]) -> A:
        """The result of `answer` for `question`; an exception among the results is raised.

        Questions are of one kind if `answer` is the same.

        Raises:
            ModelError: this was closed before the question was processed.
        """
        answered: Future[A] = Future()
        self._waiting.append(_Request(question, answer, answered))
        # Not immediately, so that other requests of this iteration join the batch.
        asyncio.get_running_loop().call_soon(self._schedule, answered)
        try:
            return await asyncio.wrap_future(answered)
        except asyncio.CancelledError:
            asking = asyncio.current_task()
            if asking is not None and asking.cancelling():
                raise
            raise ModelError(
                f"{self._name} failed: it was closed before it could answer."
            ) from None

    def close(self) -> None:
        """End the thread; waiting requests fail. Safe to call twice."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _schedule(self, answered: Future[Any]) -> None:
        def give_up(work: Future[None]) -> None:
            if work.cancelled():
                answered.cancel()

        try:
            self._thread.submit(self._answer_waiting).add_done_callback(give_up)
        except RuntimeError:  # closed
            answered.cancel()

    def _answer_waiting(self) -> None:
        taken = [one for one in self._next() if one.answered.set_running_or_notify_cancel()]
        if not taken:
            return
        try:
            answers = taken[0].answer([one.requests for one in taken])
        except BaseException as error:
            for one in taken:
                one.answered.set_exception(error)
            raise
        for one, answer in zip(taken, answers, strict=True):
            if isinstance(answer, Exception):
                one.answered.set_exception(answer)
            else:
                one.answered.set_result(answer)

    def _next(self) -> Sequence[_Request]:
        """The oldest request, and others of its kind, up to the batch size."""
        waiting = [self._waiting.popleft() for _ in range(len(self._waiting))]
        alike = [one for one in waiting if one.answer == waiting[0].answer][: self._most]
        self._waiting.extendleft(one for one in reversed(waiting) if one not in alike)
        return alike
