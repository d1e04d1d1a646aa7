"""`inhabit setup minedojo --backend minedojo`: a separate interpreter with MineDojo."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from inhabit.envs.cache import cache_home
from inhabit.envs.core import UnavailableError
from inhabit.envs.installing import pip, run
from inhabit.envs.registry import Need

_MINEDOJO = "minedojo==0.1"
_STEPS = (
    ("setuptools<66", "wheel<0.40", "pip<24.1"),
    ("--no-build-isolation", "--no-deps", "gym==0.21.0"),
    ("--no-deps", _MINEDOJO),
    ("numpy<2", "pyyaml", "jinja2", "lxml", "coloredlogs", "xmltodict", "psutil",
     "opencv-python-headless", "multiprocess", "tqdm", "requests", "importlib_resources",
     "hydra-core", "Pillow", "jsonlines", "cloudpickle", "daemoniker", "Pyro4",
     "mypy-extensions"),
)  # fmt: skip
"""pip's arguments in order; MineDojo's own requirements cannot be installed (metadata of gym
0.21)."""
_DEADLINE = 1800.0
"""Seconds for one call of pip."""


def interpreter() -> Path:
    """The Python that setup creates."""
    return cache_home() / "minedojo" / "real" / "bin" / "python"


def needs() -> Sequence[Need]:
    """What MineDojo's own Minecraft lacks on this machine."""
    found = []
    if not interpreter().is_file():
        fix = "inhabit setup minedojo --backend minedojo, or --set python=PATH"
        found.append(Need("an interpreter with MineDojo", fix))
    if shutil.which("java") is None:
        found.append(Need("Java 8, for its Minecraft", "apt-get install openjdk-8-jdk"))
    return found


def prepare(tell: Callable[[str], None]) -> None:
    """Create the interpreter. Safe to run twice.

    Raises:
        UnavailableError: pip failed; names the package.
    """
    python, home = str(interpreter()), interpreter().parent.parent
    if not interpreter().is_file():
        tell(f"Creating a separate interpreter in {home}.")
        home.parent.mkdir(parents=True, exist_ok=True)
        run([sys.executable, "-m", "venv", "--clear", str(home)], seconds=_DEADLINE)
    if not _imports(python):
        tell("Installing MineDojo and its dependencies.")
        for step in _STEPS:
            run([*pip(python), "install", *step], seconds=_DEADLINE)
    if not _imports(python):
        raise UnavailableError(f"MineDojo was installed in {home} but can't be imported there.")
    tell(f"{_MINEDOJO}: {python}. Its Minecraft needs Java 8 and is built at its first start.")


def _imports(python: str) -> bool:
    return subprocess.run([python, "-c", "import minedojo"], capture_output=True).returncode == 0
