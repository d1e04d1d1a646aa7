"""Processes that tests may leave behind."""

from __future__ import annotations

from pathlib import Path


def workers() -> list[str]:
    """Process ids of this process's running workers."""
    tasks = Path("/proc/self/task").iterdir()
    children = [pid for task in tasks for pid in (task / "children").read_text().split()]
    return [pid for pid in children if b"worker" in Path(f"/proc/{pid}/cmdline").read_bytes()]
