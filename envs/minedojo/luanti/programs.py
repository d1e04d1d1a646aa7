"""Locates Luanti and Xvfb."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

PACKAGES = ("minetest", "xvfb", "libgl1-mesa-dri")
"""Debian package names; newer releases call minetest luanti, and keep the old name as an alias."""
_ENGINES = ("luanti", "minetest")
_GAMES = Path("/usr/games")


def engine() -> str | None:
    """Path of Luanti; None if it is not installed."""
    for name in _ENGINES:
        if found := shutil.which(name) or shutil.which(name, path=str(_GAMES)):
            return found
    return None


def display() -> str | None:
    """Path of Xvfb; None if it is not installed."""
    return shutil.which("Xvfb")


def lacking() -> Sequence[str]:
    """Debian packages that are not installed."""
    missing = []
    if engine() is None:
        missing.append("minetest")
    if display() is None:
        missing.append("xvfb")
    return missing
