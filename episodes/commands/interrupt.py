"""Ends a long command cleanly on Ctrl-C or SIGTERM."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from inhabit.episodes.commands.output import remarks

T = TypeVar("T")


async def interruptible(work: Coroutine[Any, Any, T], out: Path) -> T:
    """Await `work`. The first Ctrl-C or SIGTERM cancels it, the second exits at once.

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
        remarks().print("Stopping. Press Ctrl-C again to stop at once.")
        task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    try:
        return await task
    except asyncio.CancelledError:
        remarks().print(f"Interrupted. Run the same command again to continue {out}.")
        _exit()


def _exit() -> NoReturn:
    """Leave without waiting for threads: one may wait for a person or for a dead simulator."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(130)
