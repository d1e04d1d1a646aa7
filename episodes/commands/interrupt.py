"""Ends every command on Ctrl-C, SIGTERM or a closed terminal, whatever it is doing.

The first signal ends it cleanly, the second at once. Handlers in Python run between two
instructions of Python alone, so code that is stuck in C would never come to them: the guard, a
process of its own, kills what has not ended in time. Child processes end with this one, as
`inhabit.envs.host.process_group` has it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from inhabit.envs.host.process_group import beside
from inhabit.episodes.commands import guard

T = TypeVar("T")

INTERRUPTED = 130
"""Exit code of a command that a signal ended."""


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """Guard the command in the block. After a signal, no thread keeps the process from ending.

    Raises:
        OSError: the guard can't be started.
    """
    _, writing = beside([sys.executable, "-I", "-S", str(guard.__file__), str(os.getpid())])
    os.set_blocking(writing, False)
    # Written to by the handler in C, which runs whatever Python does.
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    os.register_at_fork(after_in_child=_forget)
    on_signals(_raise)
    try:
        yield
    except SystemExit as left:
        if left.code == INTERRUPTED:
            leave()
        raise


async def interruptible(work: Coroutine[Any, Any, T], out: Path) -> T:
    """Await `work`, which the first signal cancels.

    An interrupted process exits with code 130 and does not return from here.

    Args:
        work: writes into `out`, and can be continued by the same command.
        out: folder that the message names.
    """
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    said = f"Interrupted. Run the same command again to continue {out}."

    def cancel(number: int, frame: object) -> None:
        _stop(said)
        loop.call_soon_threadsafe(task.cancel)

    before = [*map(signal.getsignal, guard.SIGNALS)]
    on_signals(cancel)
    try:
        return await task
    except asyncio.CancelledError:
        leave(said)
    finally:
        for number, handler in zip(guard.SIGNALS, before, strict=True):
            signal.signal(number, handler)


def on_signals(handler: Any) -> None:
    """Have `handler` called for each signal that ends a command."""
    for number in guard.SIGNALS:
        # `nohup` has SIGHUP ignored.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def leave(said: str = "", *, flush: bool = True) -> NoReturn:
    """Exit without waiting for threads: one may wait for a person or for a dead simulator."""
    _say(said)
    for stream in (sys.stdout, sys.stderr) if flush else ():
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(INTERRUPTED)


def _raise(number: int, frame: object) -> None:
    _stop()
    raise KeyboardInterrupt


def _stop(said: str = "") -> None:
    """The first signal came: the next one ends it at once."""
    on_signals(lambda number, frame: leave(said, flush=False))
    _say("Stopping. Press Ctrl-C again to stop at once.")


def _say(sentence: str) -> None:
    # Not by `sys.stderr`, in the midst of which a signal may have come. It may be closed, too.
    with contextlib.suppress(OSError):
        os.write(2, f"{sentence}\n".encode() if sentence else b"")


def _forget() -> None:
    """A forked child is nobody's command."""
    signal.set_wakeup_fd(-1)
    on_signals(signal.SIG_DFL)
