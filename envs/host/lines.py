"""Lines over pipes: of bounded length, and with deadlines that hold while bytes arrive."""

from __future__ import annotations

import os
import select
from collections.abc import Callable, Iterator
from typing import IO

from inhabit.envs.host.countdown import Countdown

_LONGEST = 64 << 20
"""Bytes of a line. A longer one means a broken program."""
_PATIENCE = 0.25
"""Seconds without a byte after which `alive` is called."""


class LineReader:
    """The lines that a program writes into a pipe."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._held = bytearray()

    def read(self, seconds: float, alive: Callable[[], object]) -> bytes:
        """The next line, without its end.

        Args:
            seconds: until it has to be whole; time in which this process was stopped does not
                count.
            alive: raises if the program has ended.

        Raises:
            TimeoutError: it is not whole by then.
            ConnectionError: the program has closed the pipe.
            ValueError: it is longer than 64 MiB.
        """
        ready, seen = _ready(self._pipe, select.POLLIN, seconds, alive), 0
        while (end := self._held.find(b"\n", seen)) < 0:
            seen = len(self._held)
            if seen > _LONGEST:
                raise ValueError(f"a line of more than {_LONGEST} bytes")
            next(ready)
            if not (part := os.read(self._pipe.fileno(), 1 << 16)):
                raise ConnectionError("the program has closed its pipe")
            self._held += part
        line = bytes(self._held[:end])
        del self._held[: end + 1]
        return line


def send_line(pipe: IO[bytes], line: bytes, seconds: float, alive: Callable[[], object]) -> None:
    """Write a line into a pipe that a program reads.

    Args:
        pipe: made non-blocking.
        line: without its end.
        seconds: until it has to be taken.
        alive: raises if the program has ended.

    Raises:
        TimeoutError: it was not taken by then.
        OSError: the program has closed the pipe.
    """
    os.set_blocking(pipe.fileno(), False)
    rest = memoryview(line + b"\n")
    ready = _ready(pipe, select.POLLOUT, seconds, alive)
    while rest:
        next(ready)
        rest = rest[os.write(pipe.fileno(), rest) :]


def _ready(
    pipe: IO[bytes], event: int, seconds: float, alive: Callable[[], object]
) -> Iterator[None]:
    """Yields whenever the pipe is ready; raises when the time is up, ready or not."""
    poll = select.poll()
    poll.register(pipe, event)
    countdown = Countdown(seconds)
    left = countdown.next_wait()
    while left:
        if poll.poll(min(left, _PATIENCE) * 1000):
            yield
        else:
            alive()
        left = countdown.next_wait()
    # What is here now counts: this process may have been stopped meanwhile.
    if poll.poll(0):
        yield
    raise TimeoutError(f"no answer within {seconds:g} s")
