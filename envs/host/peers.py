"""Whose program is at the other end of a TCP connection of this machine."""

from __future__ import annotations

import os
from pathlib import Path

_LISTENS = "0A"
_OURS = (os.getuid(), 0)


def is_ours(local: int, remote: int) -> bool:
    """Whether the socket from port `local` to port `remote` is one of a program of ours or root's.

    Where the kernel does not say, as on macOS, everybody is taken to be us.
    """
    rows = _rows()
    return not rows or any(
        _ports(row) == (local, remote) and int(row[7]) in _OURS and row[9] != "0" for row in rows
    )


def is_our_server(port: int) -> bool:
    """Whether all that listens at a port belongs to us or to root."""
    return all(
        int(row[7]) in _OURS for row in _rows() if row[3] == _LISTENS and _ports(row)[0] == port
    )


def _rows() -> list[list[str]]:
    tables = [Path("/proc/net", name) for name in ("tcp", "tcp6")]
    lines = [line for t in tables if t.exists() for line in t.read_text().splitlines()[1:]]
    return [line.split() for line in lines]


def _ports(row: list[str]) -> tuple[int, int]:
    return int(row[1][-4:], 16), int(row[2][-4:], 16)
