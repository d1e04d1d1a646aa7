"""Programs behind pipes: lines of bounded length, answered within deadlines that hold."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import IO, Any

from inhabit.envs.core import SimulatorError
from inhabit.envs.host.process_group import ProcessGroup

_LONGEST_WAIT = 1.0
"""Longest wait at a time, in seconds."""
_STOPPED = 1.0
"""Seconds that a wait may take longer than asked for. One that takes longer still tells that this
process, or the whole machine, was stopped meanwhile: SIGSTOP, a debugger, a suspended laptop."""


_LONGEST_STRETCH = 10.0


def stretch() -> float:
    """How many times longer things take here now, in [1, 10].

    It is the number of processes that want a processor, for each of those that there are, over the
    last minute (`os.getloadavg`; 1 where the system does not tell it).
    """
    try:
        wanted = os.getloadavg()[0]
    except OSError:
        return 1.0
    return min(_LONGEST_STRETCH, max(1.0, wanted / (os.cpu_count() or 1)))


class Countdown:
    """Seconds that pass only while this process runs, and more slowly on a busy machine.

    Where three processes want each processor, a second takes three: what is waited for gets a third
    of its time, too.

    Wait in pieces, and look once more when all has passed:

        countdown = Countdown(60.0)
        while not ready(countdown.next_wait()):  # the last wait is one of 0.0 seconds
            ...

    A piece in which this process was stopped is waited once more, for what is waited for may have
    been stopped too. What is done between two calls must take less than a second.
    """

    def __init__(self, seconds: float | None) -> None:
        """Start counting; None counts for ever."""
        self._left = seconds
        self._asked = 0.0
        self._since = time.monotonic()

    def next_wait(self) -> float | None:
        """Seconds to wait now: at most one, 0.0 when none are left, None for any time."""
        if self._left is None:
            return None
        now = time.monotonic()
        passed = now - self._since
        if passed < self._asked + _STOPPED:
            self._left -= passed / stretch()
        self._since = now
        self._asked = min(_LONGEST_WAIT, max(0.0, self._left))
        return self._asked


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


_LAST = 6
"""Number of output lines quoted in errors."""


class JsonProgram:
    """The program, in a process group that ends with us. Its stderr is kept for errors."""

    def __init__(self, name: str, command: Sequence[str], **options: Any) -> None:
        """Start `command`, which people know as `name`, with `options` as of `subprocess.Popen`.

        Raises:
            OSError: there is no such program.
        """
        self._name = name
        self._group = ProcessGroup(f"inhabit-{name.lower()}-")
        self._said = self._group.folder / "said"
        try:
            with self._said.open("wb") as said:
                self._program = self._group.start(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=said,
                    cwd=self._group.folder,
                    **options,
                )
        except OSError:
            self._group.close()
            raise
        assert self._program.stdin is not None and self._program.stdout is not None
        self._questions, self._answers = self._program.stdin, self._program.stdout
        self._lines = LineReader(self._answers)

    @property
    def pid(self) -> int:
        """Process id of the program."""
        return self._program.pid

    def ask(self, asked: Mapping[str, Any], seconds: float) -> Any:
        """The answer to `asked`.

        Raises:
            SimulatorError: the program ended, did not answer in time, or not in JSON. It is closed.
        """
        try:
            line = json.dumps(asked).encode()
            send_line(self._questions, line, seconds, self._program.poll)
            return json.loads(self._lines.read(seconds, self._program.poll))
        except (OSError, ValueError, RecursionError) as error:
            words = self.last_words()
            self.close()
            raise SimulatorError(f"{self._name} did not answer: {error}. {words}") from error

    def last_words(self) -> str:
        """The end of what it printed."""
        if not self._said.exists():
            return "It was closed."
        said = self._said.read_text("utf-8", "replace").strip().splitlines()
        return "Its last words:\n" + ("\n".join(said[-_LAST:]) or "(it printed nothing)")

    def close(self) -> None:
        """End it and all that it started. Safe to call twice."""
        self._group.kill()
        self._program.wait()
        for pipe in (self._questions, self._answers):
            with suppress(OSError):
                pipe.close()
        self._group.close()
