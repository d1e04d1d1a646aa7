"""Interpreters of their own for servers, kept in the cache folder."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from inhabit.envs.cache import cache_home
from inhabit.envs.extras import alone


def interpreter(
    name: str, packages: Sequence[str], *, ours: bool = False, without: Sequence[str] = ()
) -> Path:
    """A Python with `packages` installed by pip; skips the test where they can't be had.

    Args:
        name: of its folder.
        packages: requirements.
        ours: whether it sees the packages of this interpreter too.
        without: packages that are taken out again, because they do not fit the others.
    """
    seen = [path for path in sys.path if ours and path.endswith("site-packages")]
    asked = (sys.version, packages, seen, without)
    key = hashlib.sha256(repr(asked).encode()).hexdigest()[:12]
    folder = cache_home() / "test-interpreters" / f"{name}-{key}"
    with alone(folder.parent):  # Tests of other files may ask for the same one meanwhile.
        if not (folder / "installed").exists():
            _make(name, folder, packages, seen, without)
    return folder / "bin" / "python"


def _make(
    name: str, folder: Path, packages: Sequence[str], seen: Sequence[str], without: Sequence[str]
) -> None:
    python = folder / "bin" / "python"
    base = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
    subprocess.run([base, "-m", "venv", "--clear", folder], check=True)
    if seen:
        (site,) = folder.glob("lib/python*/site-packages")
        (site / "ours.pth").write_text("\n".join(seen) + "\n")
    pip = [python, "-m", "pip", "-q", "--disable-pip-version-check"]
    installed = subprocess.run([*pip, "install", *packages], capture_output=True, text=True)
    if installed.returncode:
        pytest.skip(f"{name} can't be installed here: {installed.stderr.strip()[-300:]}")
    if without:
        subprocess.run([*pip, "uninstall", "-y", *without], check=True, env=dict(os.environ))
    (folder / "installed").touch()
