"""Lays a run folder out, or takes one up again where it stopped, and holds it meanwhile."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import JsonValue
from pydantic_core import PydanticSerializationError

from inhabit.envs.core import Task
from inhabit.envs.files import make_folder, open_reading
from inhabit.episodes.recording.disk import write_whole
from inhabit.episodes.recording.reader import RecordError, Run
from inhabit.episodes.recording.schema import RunHeader, Sight

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
            with suppress(OSError):
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
            with suppress(FileNotFoundError):
                os.unlink(LOCK_FILE, dir_fd=folder)
            continue
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(mine)
        return
    raise HeldError


def _has_ended(file: Path) -> bool:
    """Whether a lock file names a process of this machine that has ended."""
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


_ASKED = ("env", "backend", "agent", "model", "candidates", "grants", "image", "seed", "max_steps")
"""What has to be the same for a run to go on, beside its settings."""

SIGHTS = "sights"
"""The folder in a run's own with the runs of the same tasks that were shown other pictures."""


def folder_of(out: Path, sight: Sight) -> Path:
    """Where the run with `sight` lies that belongs to the run in `out`."""
    return out if sight is Sight.SHOWN else out / SIGHTS / sight.value


@contextmanager
def held(folder: Path, inside: Path | None = None) -> Iterator[None]:
    """Hold `folder`, made if need be, so that no other runner writes into it.

    If the block fails before it wrote anything, a folder that was made for it goes again.

    Args:
        folder: which.
        inside: the folder that the user named, where `folder` lies in it.

    Raises:
        RecordError: it can't be made or written to, holds something else, or is held already.
    """
    made, done = not folder.exists(), False
    try:
        with locked(folder, inside):
            yield
            done = True
    except HeldError:
        made = False
        # No --out names a folder that lies in a run.
        instead = ", or choose another --out" if inside is None else ""
        raise RecordError(
            f"{folder} is being written to by another run. Wait for it{instead}."
        ) from None
    except LockError as error:
        if inside is not None:
            raise RecordError(f"{folder} can't be written to: {error.strerror}.") from error
        raise RecordError(
            f"{folder} can't be a run folder: {error.strerror}. Choose another --out."
        ) from error
    finally:
        if made and not done:
            with suppress(OSError):
                folder.rmdir()  # Does nothing where something lies in it.


def earlier(folder: Path) -> Run | None:
    """The run that was begun in `folder`, or None where none was.

    Raises:
        RecordError: it is broken, or `folder` holds something else.
    """
    # A link that leads nowhere is a broken run, too.
    if os.path.lexists(folder / "run.json"):
        return Run.open(folder)
    # These are left where a run was cut off before it had begun, or its other sights came first.
    ours = {"tasks.jsonl", "tasks.jsonl.half", "run.json.half", LOCK_FILE, SIGHTS}
    if others := sorted({entry.name for entry in folder.iterdir()} - ours):
        raise RecordError(
            f"{folder} holds {others[0]!r} but no run.json, so it is not a run folder. Choose "
            "another --out."
        )
    return None


def begin(folder: Path, header: RunHeader, tasks: Sequence[Task]) -> Run:
    """Write down what is asked for. Until `run.json` is in place nothing has begun.

    Raises:
        RecordError: it can't be written.
    """
    try:
        lines = "".join(task.model_dump_json() + "\n" for task in tasks)
        written = header.model_dump_json(indent=2) + "\n"
    except PydanticSerializationError as error:
        raise RecordError(
            "A setting, another option or a task is no text in UTF-8, and can't be recorded: "
            f"{error}. Give it in UTF-8."
        ) from error
    instead = ", or choose another --out" if header.fork is None else " and fork again"
    try:
        write_whole(folder / "tasks.jsonl", folder, lines.encode(), sync=True)
        write_whole(folder / "run.json", folder, written.encode(), sync=True)
    except OSError as error:
        raise RecordError(
            f"{folder} can't be written to: {error.strerror}. Fix this{instead}."
        ) from error
    return Run(folder, header, tuple(tasks))


def continued(run: Run, tasks: Sequence[Task], command: Sequence[str]) -> Run:
    """`run`, continued by `command` with more tasks, or with other settings without effect.

    If this is cut off between the two files, the run has the tasks that `run.json` counts.

    Raises:
        RecordError: it can't be written.
    """
    header = run.header.model_copy(
        update={
            "episodes": len(tasks),
            "command": tuple(command),
            "earlier_commands": (*run.header.earlier_commands, run.header.command),
        }
    )
    return begin(run.folder, header, (*run.tasks, *tasks[len(run.tasks) :]))


def check_same(run: Run, header: RunHeader, tasks: Sequence[Task], free: Collection[str]) -> None:
    """See that `run` was started with what is asked for now, or with the first tasks of it.

    `free` are settings that may differ, since they don't change results, such as "run.deadline".

    Raises:
        RecordError: it was not; names the first difference.
    """
    was, now = _asked(run.header), _asked(header)
    # A setting that only one side knows came or went between two versions of this program.
    for name in sorted((was.keys() & now.keys()) - set(free)):
        if was[name] != now[name]:
            raise RecordError(
                f"{run.folder} was started with {name} {was.get(name)!r}, not {now.get(name)!r}. "
                "Run the same command to continue it, or choose another --out."
            )
    if len(run.tasks) > len(tasks):
        raise RecordError(
            f"{run.folder} holds {len(run.tasks)} tasks, more than {len(tasks)}. Ask for as "
            "many or more to continue it, or choose another --out."
        )
    for number, (old, new) in enumerate(zip(run.tasks, tasks, strict=False)):
        # The reference weighs a result; it does not change the episode.
        if old != new.model_copy(update={"reference_cost": old.reference_cost}):
            raise RecordError(
                f"{run.folder} was started with other tasks: number {number} is {old.id!r} there "
                f"and {new.id!r} now, or differs inside. Choose another --out."
            )


def check_model(run: Run, details: Mapping[str, JsonValue], free: Collection[str]) -> None:
    """See that what else shapes a model's answers is what it was when `run` began.

    `free` is as for `check_same`.

    Raises:
        RecordError: it is not; names the first difference.
    """
    was = run.header.model_details
    # A detail that only one side knows came or went between two versions of this program.
    for name in sorted(was.keys() & details.keys()):
        if was[name] != details[name] and f"model.{name}" not in free:
            raise RecordError(
                f"{run.folder} was started by a model whose {name} was {was[name]!r}, and now it "
                f"is {details[name]!r}. Continue it where it is that, or choose another --out."
            )


def _asked(header: RunHeader) -> Mapping[str, JsonValue]:
    fields = header.model_dump(mode="json")
    asked = {name: fields[name] for name in _ASKED}
    # An agent in a file is the same one while the file is.
    file = header.agent.rpartition(":")[0]
    if file in header.software:
        asked[file] = header.software[file]
    for whose, settings in fields["settings"].items():
        asked |= {f"{whose}.{key}": value for key, value in settings.items()}
    return asked
