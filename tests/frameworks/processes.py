"""Processes that tests may leave behind."""

from __future__ import annotations

from contextlib import suppress

import psutil


def workers() -> list[int]:
    """Process ids of this process's running workers."""
    found = []
    for child in psutil.Process().children():
        with suppress(psutil.NoSuchProcess):
            if any("worker" in word for word in child.cmdline()):
                found.append(child.pid)
    return found
