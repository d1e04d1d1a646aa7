"""The cache folder for prepared rooms, converted models and interpreters."""

from __future__ import annotations

import os
from pathlib import Path


def cache_home() -> Path:
    """`$XDG_CACHE_HOME/inhabit`, or `~/.cache/inhabit`. It may not exist yet."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "inhabit"
