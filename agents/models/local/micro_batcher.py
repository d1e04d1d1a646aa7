"""Questions that wait for one model at the same time, answered together."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")


@dataclass(frozen=True, slots=True, eq=False)
class _Request:
    requests: Any
    answer: Callable[[Sequence[Any]], Sequence[Any]]
    answered: Future[Any]


class MicroBatcher:
    """One piece of work at a time, in a thread of its own: nothing else has to wait for it.

    Questions of one kind that are asked at one moment of the event loop, or while an earlier piece
    of work is going on, are answered together in the order in which they were asked.
    """

    def __init__(self, *, batch_size: int, name: str) -> None:
        """Answer at `batch_size` so many questions together."""
        self._most = batch_size
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._waiting: deque[_Request] = deque()

    async def ask(self, question: Q, answer: Callable[[Sequence[Q]], Sequence[A | Exception]]) -> A:
        """What `answer` makes of `question` in its turn; what it refuses with is raised.

        Questions are of one kind where `answer` is the same.

        Raises:
            RuntimeError: this was closed before its turn came.
        """
        answered: Future[A] = Future()
        self._waiting.append(_Request(question, answer, answered))
        # Not at once: whoever else asks at this moment is to be waiting by then.
        asyncio.get_running_loop().call_soon(self._schedule, answered)
        try:
            return await asyncio.wrap_future(answered)
        except asyncio.CancelledError:
            asking = asyncio.current_task()
            if asking is not None and asking.cancelling():
                raise
            raise RuntimeError("it was closed before it could answer") from None

    def close(self) -> None:
        """Let go of the thread; what still waits is refused. Safe to call twice."""
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
        """The one that has waited longest, and as many of its kind as go with it."""
        waiting = [self._waiting.popleft() for _ in range(len(self._waiting))]
        alike = [one for one in waiting if one.answer == waiting[0].answer][: self._most]
        self._waiting.extendleft(one for one in reversed(waiting) if one not in alike)
        return alike
