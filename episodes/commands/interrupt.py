"""Ends a long command cleanly on Ctrl-C, SIGTERM or a closed terminal."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from inhabit.episodes.commands.output import remarks

T = TypeVar("T")

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


async def interruptible(work: Coroutine[Any, Any, T], out: Path) -> T:
    """Await `work`. The first signal of `_SIGNALS` cancels it, the second exits at once.

    An interrupted process exits with code 130 and does not return from here.

    Args:
        work: writes into `out`, and can be continued by the same command.
        out: folder that the message names.
    """
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()

    def stop() -> None:
        if task.cancelling():
            _exit()
        _say("Stopping. Press Ctrl-C again to stop at once.")
        task.cancel()

    for number in _SIGNALS:
        # `nohup` has SIGHUP ignored.
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, stop)
    try:
        return await task
    except asyncio.CancelledError:
        _say(f"Interrupted. Run the same command again to continue {out}.")
        _exit()


def _say(sentence: str) -> None:
    # The terminal may have been closed.
    with contextlib.suppress(OSError):
        remarks().print(sentence)


def _exit() -> NoReturn:
    """Leave without waiting for threads: one may wait for a person or for a dead simulator."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(130)
