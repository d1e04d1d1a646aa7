"""Locates Luanti and Xvfb."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

PACKAGES = ("minetest", "xvfb", "libgl1-mesa-dri")
"""Debian package names; newer releases call minetest luanti, and keep the old name as an alias."""
APART = (sys.executable, "-I", "-S", str(Path(__file__).with_name("namespace.py")))
"""What comes before a folder for X sockets and a command for it to run apart from all others."""
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


@cache
def may_run_apart() -> bool:
    """Whether this machine allows namespaces. Many containers do not."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*APART, folder, "true"]
        return subprocess.run(command, capture_output=True, env={}, check=False).returncode == 0
