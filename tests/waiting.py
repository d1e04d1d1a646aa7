"""The one way in which tests wait: for an event, and long enough for a busy machine."""

from __future__ import annotations

import time
from collections.abc import Callable

import psutil

PATIENCE = 600.0
"""Seconds until a test gives up on what should happen at once. Less than pytest's own limit."""


def alive(pid: int) -> bool:
    """Whether it runs; a zombie that waits for its reaper does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_for(holds: Callable[[], object], what: str = "It") -> None:
    """Wait until `holds`, or fail."""
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until, f"{what} never came true."
        time.sleep(0.01)
