"""Holds a folder, so that no second program writes into it."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from inhabit.envs.files import make_folder, open_reading

LOCK_FILE = "inhabit.lock"
"""What holds a folder where its file system knows no locks: names the machine and the process."""
_NO_LOCKS = frozenset(
    {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EBADF}
)
"""How `flock` fails on file systems that have none, or have it for files alone, such as NFS."""


class HeldError(Exception):
    """Another program writes into the folder."""


class LockError(Exception):
    """The folder can't be held."""

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.strerror = error.strerror


@contextmanager
def locked(folder: Path, inside: Path | None = None) -> Iterator[None]:
    """Hold `folder`, which is made if need be.

    Args:
        folder: which.
        inside: the folder that the user named, where `folder` lies in it: below it no link is
            followed.

    Raises:
        HeldError: another program holds it.
        LockError: it can't be made or opened.
    """
    try:
        descriptor = _opened(folder, inside)
    except OSError as error:
        raise LockError(error) from error
    by_file = False
    try:
        try:
            by_file = _lock(folder, descriptor)
        except OSError as error:
            raise LockError(error) from error
        yield
    finally:
        if by_file:
            with contextlib.suppress(OSError):
                os.unlink(LOCK_FILE, dir_fd=descriptor)
        os.close(descriptor)


def _opened(folder: Path, inside: Path | None) -> int:
    root = folder if inside is None else inside
    make_folder(folder, root)
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    return os.open(folder, flags if folder == root else flags | os.O_NOFOLLOW)


def _lock(folder: Path, descriptor: int) -> bool:
    """Hold the folder; whether that took a file."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise HeldError from None
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        _take(folder / LOCK_FILE, descriptor)
        return True
    return False


def _take(file: Path, folder: int) -> None:
    """Make the lock file, or take over the one of a process of this machine that has ended."""
    mine = json.dumps({"host": socket.gethostname(), "pid": os.getpid()}).encode()
    for _ in range(2):
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            descriptor = os.open(LOCK_FILE, flags, 0o644, dir_fd=folder)
        except FileExistsError:
            if not _has_ended(file):
                raise HeldError from None
            with contextlib.suppress(FileNotFoundError):
                os.unlink(LOCK_FILE, dir_fd=folder)
            continue
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(mine)
        return
    raise HeldError


def _has_ended(file: Path) -> bool:
    """Whether the process that a lock file names is one of this machine, and no more."""
    try:
        with open_reading(file, file.parent) as stream:
            told = json.loads(stream.read(1000))
        if told["host"] != socket.gethostname():
            return False
        os.kill(int(told["pid"]), 0)
    except ProcessLookupError:
        return True
    except (OSError, ValueError, TypeError, KeyError, OverflowError):
        return False
    return False
