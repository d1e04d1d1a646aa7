"""Questions that wait for one model at the same time, answered together."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")
T = TypeVar("T")


class Turns(Generic[Q, A]):
    """One piece of work at a time, in a thread of its own: nothing else has to wait for it.

    Questions that are asked at one moment of the event loop, or while an earlier piece of work is
    going on, are answered together in the order in which they were asked.
    """

    def __init__(
        self, answer: Callable[[Sequence[Q]], Sequence[A | Exception]], *, most: int, name: str
    ) -> None:
        """Have `answer` say or refuse what is asked, at `most` so many questions together."""
        self._answer = answer
        self._most = most
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._waiting: deque[tuple[Q, Future[A]]] = deque()

    async def ask(self, question: Q) -> A:
        """The answer to `question`, in its turn; what `answer` refuses with is raised."""
        answered: Future[A] = Future()
        self._waiting.append((question, answered))
        # Not at once: whoever else asks at this moment is to be waiting by then.
        asyncio.get_running_loop().call_soon(self._thread.submit, self._answer_waiting)
        return await asyncio.wrap_future(answered)

    async def do(self, work: Callable[[], T]) -> T:
        """What `work` comes to, in its turn."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def close(self) -> None:
        """Let go of the thread. Safe to call twice."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _answer_waiting(self) -> None:
        taken: list[tuple[Q, Future[A]]] = []
        while self._waiting and len(taken) < self._most:
            question, answered = self._waiting.popleft()
            if answered.set_running_or_notify_cancel():
                taken.append((question, answered))
        if not taken:
            return
        try:
            answers = self._answer([question for question, _ in taken])
        except BaseException as error:
            for _, answered in taken:
                answered.set_exception(error)
            raise
        for (_, answered), answer in zip(taken, answers, strict=True):
            if isinstance(answer, Exception):
                answered.set_exception(answer)
            else:
                answered.set_result(answer)
