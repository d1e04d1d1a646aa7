"""A deadline for what an agent does, whether it waits or computes."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Awaitable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from types import coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class LateError(Exception):
    """The deadline has passed."""


class _AlarmError(BaseException):
    """Interrupts code that computes. It is no `Exception`, which that code may well catch."""


async def within(seconds: float, asked: Awaitable[T]) -> T:
    """What `asked` comes to. What computes can be interrupted on the main thread alone, between
    two instructions of Python or within a regular expression.

    Raises:
        LateError: it took longer than `seconds`.
    """
    whole = asyncio.timeout(seconds)
    try:
        async with whole:
            return await _watched(asked, time.monotonic() + seconds)
    except _AlarmError:
        raise LateError from None
    except TimeoutError:
        if whole.expired():
            raise LateError from None
        raise  # Its own, of something that it waited for.


@coroutine
def _watched(asked: Awaitable[T], until: float) -> Generator[Any, Any, T]:
    steps = asked.__await__()
    go_on = partial(steps.send, None)
    while True:
        try:
            with _alarm(until - time.monotonic()):
                waits_for = go_on()
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        try:
            go_on = partial(steps.send, (yield waits_for))
        except BaseException as error:  # noqa: BLE001 - what is awaited gets it, a cancellation too
            go_on = partial(steps.throw, error)


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raise `_AlarmError` in the block after so many seconds, and each second from then on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    computes = True

    def interrupt(number: int, frame: object) -> None:
        if computes:
            raise _AlarmError

    before = signal.signal(signal.SIGALRM, interrupt)
    other, every = signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3), 1.0)
    try:
        try:
            yield
        finally:
            computes = False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, other, every)  # Somebody else's goes on.
