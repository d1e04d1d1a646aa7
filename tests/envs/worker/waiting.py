"""For tests that kill: who still runs, and waiting until nobody does."""

from __future__ import annotations

import time
from collections.abc import Callable

import psutil


def alive(pid: int) -> bool:
    """Whether it runs; a zombie that waits for its reaper does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def soon(holds: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Whether it holds before the time is up."""
    until = time.monotonic() + seconds
    while not holds() and time.monotonic() < until:
        time.sleep(0.01)
    return holds()
