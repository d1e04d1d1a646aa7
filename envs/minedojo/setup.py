"""`inhabit setup minedojo`: installs Luanti and its dependencies, or MineDojo's own package."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence

from inhabit.envs.core import UnavailableError
from inhabit.envs.extras import run, unpacked
from inhabit.envs.minedojo.luanti.world import PACKAGES, lacking, may_run_apart
from inhabit.envs.minedojo.real import env
from inhabit.envs.minedojo.tasks.official import default_package
from inhabit.envs.registry import Need

Tell = Callable[[str], None]
_MINEDOJO = "minedojo==0.1"
_DEADLINE = 900.0
"""Seconds for one call of apt-get."""


def needs(backend: str) -> Sequence[Need]:
    """What is missing on this machine."""
    if backend == "minedojo":
        return env.needs()
    fix = f"inhabit setup minedojo, or: apt-get install {' '.join(PACKAGES)}"
    return [Need(f"the Debian package {name}", fix) for name in lacking()]


def prepare(backend: str, tell: Tell) -> None:
    """Install what is missing, if permitted. Safe to run twice.

    Args:
        backend: luanti; or minedojo, which gets a separate interpreter with MineDojo.
        tell: called with a message for each step.

    Raises:
        UnavailableError: it may not be installed here, or apt-get failed.
    """
    if backend == "minedojo":
        env.prepare(tell)
        return
    missing = lacking()
    if not missing:
        tell("Luanti and Xvfb are installed.")
    else:
        prefix = _rights()
        tell(f"Installing {', '.join(PACKAGES)} with apt-get.")
        _run([*prefix, "apt-get", "update", "-q"])
        _run([*prefix, "apt-get", "install", "-y", "-q", "--no-install-recommends", *PACKAGES])
        if still := lacking():
            raise UnavailableError(f"apt-get did not install {', '.join(still)}.")
    if not may_run_apart():
        tell("This machine allows no namespaces: Luanti shares its network (docs: Security).")
    from inhabit.envs.minedojo.luanti.game import game

    tell(f"Game and textures: {game()}.")
    if default_package().is_dir():
        tell(f"MineDojo's tasks: {default_package()}.")
        return
    tell(f"{_MINEDOJO}: downloading its tasks (1 MB).")
    unpacked(_MINEDOJO, "minedojo/tasks/", default_package().parent)


def _rights() -> list[str]:
    by_hand = f"Ask an administrator for: apt-get install {' '.join(PACKAGES)}"
    if shutil.which("apt-get") is None:
        raise UnavailableError(f"There is no apt-get on this machine. {by_hand}")
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") and _quiet(["sudo", "-n", "true"]):
        return ["sudo", "-n"]
    raise UnavailableError(f"Installing packages needs root. {by_hand}")


def _quiet(command: Sequence[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _run(command: Sequence[str]) -> None:
    run(command, seconds=_DEADLINE, variables={"DEBIAN_FRONTEND": "noninteractive"})
