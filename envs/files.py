"""Opens the files of folders that may come from anybody.

A folder that is handed on may hold symbolic links that lead out of it, pipes that never answer, and
files without end. Whatever reads or writes such a folder opens its files here: below the folder
that the user named no link is followed, and only regular files of a bounded size are read.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO

MOST = 1 << 30
"""Bytes of the largest file that is read."""
LONGEST = 1 << 26
"""Bytes of the longest line that is read."""
_ALWAYS = os.O_CLOEXEC | os.O_NOFOLLOW
_LINK = "it is a symbolic link, which may lead anywhere: put what it leads to in its place"


def expanded(name: str | Path) -> Path:
    """The path `name`, which may begin with ~ or ~USER; as it is where there is no such user."""
    return Path(os.path.expanduser(name))  # noqa: PTH111


def open_reading(file: Path, inside: Path) -> BinaryIO:
    """Open a regular file for reading.

    Args:
        file: which; a path below `inside`.
        inside: the folder that the user named. Below it no link is followed.

    Raises:
        OSError: it is missing, a link or no regular file, or cannot be read.
    """
    with _parent(file, inside) as folder:
        # A pipe is opened at once then, and refused, where it would wait for a writer otherwise.
        descriptor = _open(file.name, os.O_RDONLY | os.O_NONBLOCK, folder)
    return os.fdopen(_regular(descriptor), "rb")


def read_whole(file: Path, inside: Path, *, most: int = MOST) -> bytes:
    """The content of a regular file of at most `most` bytes.

    Raises:
        OSError: as `open_reading`, or it is larger.
    """
    with open_reading(file, inside) as stream:
        size = os.fstat(stream.fileno()).st_size
        content = stream.read(most + 1) if size <= most else b""
    if size > most or len(content) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most:,} bytes")
    return content


def read_lines(file: Path, inside: Path, *, longest: int = LONGEST) -> Iterator[bytes]:
    """The lines of a regular file, each with its newline: the last one may lack it.

    Raises:
        OSError: as `open_reading`, or a line is longer than `longest` bytes.
    """
    with open_reading(file, inside) as stream:
        while line := stream.readline(longest + 1):
            if len(line) > longest:
                raise OSError(errno.EFBIG, f"it has a line of more than {longest:,} bytes")
            yield line


def size_of(file: Path, inside: Path) -> int | None:
    """The size of a regular file in bytes; None if there is no regular file."""
    found = state_of(file, inside)
    return None if found is None else found.st_size


def is_regular(file: Path, inside: Path) -> bool:
    """Whether there is a regular file, to which no link leads."""
    return state_of(file, inside) is not None


def state_of(file: Path, inside: Path) -> os.stat_result | None:
    """The `stat` result of a regular file; None if there is no regular file."""
    try:
        with _parent(file, inside) as folder:
            found = os.stat(file.name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def open_appending(file: Path, inside: Path) -> int:
    """A descriptor to read a regular file and to append to it; the file is made if need be.

    Raises:
        OSError: it is a link, no regular file or has a second name, or cannot be opened.
    """
    make_folder(file.parent, inside)
    with _parent(file, inside) as folder:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK
        descriptor = _regular(_open(file.name, flags, folder))
    if os.fstat(descriptor).st_nlink > 1:
        os.close(descriptor)
        raise OSError(errno.EMLINK, "it is a hard link, so appending would change another file")
    return descriptor


@contextmanager
def replacing(
    file: Path, inside: Path, *, sync: bool = False, shared: bool = False
) -> Iterator[IO[bytes]]:
    """Write a file atomically: afterwards it has its whole new content or is unchanged.

    Args:
        file: which; a path below `inside`, whose folder is made if need be.
        inside: the folder that the user named. Below it no link is followed.
        sync: call fsync, so that the file survives a power failure.
        shared: others may write the same file at the same time. The last one counts.

    Raises:
        OSError: it cannot be written.
    """
    make_folder(file.parent, inside)
    own = f".{os.getpid()}-{os.urandom(4).hex()}" if shared else ""
    half = f"{file.name}{own}.half"
    with _parent(file, inside) as folder:
        with suppress(FileNotFoundError):
            os.unlink(half, dir_fd=folder)
        descriptor = _open(half, os.O_RDWR | os.O_CREAT | os.O_EXCL, folder)
        try:
            with os.fdopen(descriptor, "w+b") as stream:
                yield stream
                stream.flush()
                if sync:
                    os.fsync(stream.fileno())
            os.replace(half, file.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(half, dir_fd=folder)
            raise


def make_folder(folder: Path, inside: Path) -> None:
    """Make a folder below `inside`, and those on the way to it, where they are missing.

    Raises:
        OSError: one of them is a link or no folder, or cannot be made.
    """
    with _walk(inside, _parts(folder, inside), make=True):
        return


def check_folder(folder: Path, inside: Path) -> None:
    """See that no link stands on the way from `inside` to `folder`, as far as that is there.

    Raises:
        OSError: one does, or something that is no folder.
    """
    with suppress(FileNotFoundError), _walk(inside, _parts(folder, inside)):
        return


@contextmanager
def _parent(file: Path, inside: Path) -> Iterator[int]:
    with _walk(inside, _parts(file, inside)[:-1]) as descriptor:
        yield descriptor


@contextmanager
def _walk(inside: Path, parts: Sequence[str], *, make: bool = False) -> Iterator[int]:
    """A descriptor of the folder that is reached from `inside` without any link."""
    if make:
        inside.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(inside, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=descriptor)
            inner = _open(part, os.O_RDONLY | os.O_DIRECTORY, descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def _open(name: str, flags: int, folder: int) -> int:
    try:
        return os.open(name, flags | _ALWAYS, 0o644, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR) and _is_link(name, folder):
            raise OSError(errno.ELOOP, _LINK) from error
        raise


def _is_link(name: str, folder: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _regular(descriptor: int) -> int:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file")
    return descriptor


def _parts(path: Path, inside: Path) -> tuple[str, ...]:
    parts = path.relative_to(inside).parts
    if ".." in parts:
        raise OSError(errno.EINVAL, "its path leads out of its folder")
    return parts
