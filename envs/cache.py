"""The cache folder for prepared rooms, converted models and interpreters."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from inhabit.envs.errors import UserError


def cache_home() -> Path:
    """`$XDG_CACHE_HOME/inhabit`, or `~/.cache/inhabit`. It may not exist yet.

    Raises:
        UserError: neither is known.
    """
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "inhabit"
    except RuntimeError as error:  # The user has neither $HOME nor an entry among the users.
        raise UserError(
            "This user has no home folder to prepare files in. Set XDG_CACHE_HOME to a writable "
            "folder."
        ) from error


def made_once(target: Path, make: Callable[[Path], None]) -> Path:
    """The folder `target`, made by `make` in an empty folder beside it unless it is there already.

    Several processes may do this at once; the first one to finish wins.
    """
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix="making-", dir=target.parent))
    try:
        make(making)
        try:
            making.rename(target)
        except OSError:
            if not target.is_dir():  # otherwise another process was faster, with the same bytes
                raise
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return target
