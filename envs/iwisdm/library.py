"""The `iwisdm` package in its own interpreter, and the process that generates trials.

It needs numpy 1 and pandas 2, unlike this project.
"""

from __future__ import annotations

import base64
import fcntl
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.cache import cache_home
from inhabit.envs.core import UnavailableError
from inhabit.envs.extras import pip, run
from inhabit.envs.host.credentials import without_credentials
from inhabit.envs.host.pipes import JsonProgram
from inhabit.envs.iwisdm.stimuli import dataset
from inhabit.envs.registry import Need

VERSION = "0.1.3"
_DEADLINE = 900.0
"""Seconds for one call of pip."""
_ANSWER = 120.0
"""Seconds for one trial; the first one waits for the library to start."""
_PROGRAM = Path(__file__).with_name("author.py")


@dataclass(frozen=True, slots=True, eq=False)
class IwisdmTrial:
    """A trial of the library."""

    instruction: str
    answers: tuple[str, ...]
    """One per frame; "null" if none is due."""
    frames: NDArray[np.uint8]
    """(n, 224, 224, 3)."""


def interpreter() -> Path:
    """Path of the interpreter, installed or not."""
    return _home() / "venv" / "bin" / "python"


def installed() -> bool:
    """Whether it is installed."""
    return interpreter().exists()


def needs(backend: str) -> Sequence[Need]:
    """What is missing on this machine."""
    fix = "inhabit setup iwisdm"
    return [] if installed() else [Need("iWISDM, in a separate interpreter", fix)]


def prepare(backend: str, tell: Callable[[str], None]) -> None:
    """Create the interpreter if it is missing. Safe to run twice, also at the same time.

    Raises:
        UnavailableError: pip failed; the message quotes its last output.
    """
    _home().mkdir(parents=True, exist_ok=True)
    with (_home() / "setup.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not installed():
            tell(f"iWISDM {VERSION}: creating its interpreter in {_home()} (about a minute).")
            making = Path(tempfile.mkdtemp(prefix="making-", dir=_home()))
            try:
                _run([sys.executable, "-m", "venv", str(making / "venv")])
                python = str(making / "venv" / "bin" / "python")
                _run([*pip(python), "install", "--only-binary", ":all:", f"iwisdm=={VERSION}"])
                (making / "venv").rename(_home() / "venv")
            finally:
                shutil.rmtree(making, ignore_errors=True)
    tell(f"iWISDM {VERSION}: in {_home() / 'venv'}.")


class TrialAuthor:
    """Generates trials in a child process. The same seed gives the same trial."""

    def __init__(self) -> None:
        """Start the process.

        Raises:
            UnavailableError: the interpreter is not there.
        """
        if not installed():
            raise UnavailableError(
                f"iWISDM {VERSION} is not installed. Run `inhabit setup iwisdm`."
            )
        self._program = JsonProgram(
            "iWISDM",
            [str(interpreter()), "-P", "-W", "ignore", str(_PROGRAM), str(dataset())],
            # The library's sampling depends on the order of string sets.
            env={**without_credentials(), "PYTHONHASHSEED": "0"},
        )

    def write(self, level: str, join: str, seed: int) -> IwisdmTrial:
        """The trial of a seed.

        Raises:
            SimulatorError: the library failed, or was silent for too long.
        """
        found = self._program.ask({"level": level, "join": join, "seed": seed}, _ANSWER)
        content = zlib.decompress(base64.b64decode(found["frames"]))
        frames = np.frombuffer(content, np.uint8).reshape(found["shape"])
        return IwisdmTrial(found["instruction"], tuple(found["answers"]), frames)

    def close(self) -> None:
        """Stop the process. Safe to call twice."""
        self._program.close()


def _home() -> Path:
    return cache_home() / f"iwisdm-library-{VERSION}"


def _run(command: list[str]) -> None:
    run(
        command,
        seconds=_DEADLINE,
        advice="Once the package index can be reached, run `inhabit setup iwisdm` again.",
    )
