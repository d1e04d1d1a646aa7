"""Child processes and a temporary folder that end with this process, however it ends.

Everything that this project starts and that outlives one call is started here: workers, AI2-THOR's
and VirtualHome's Unity, the embedded household, Luanti, Xvfb, MineDojo, iWISDM. Only the folder is
used of the groups of model folders.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from inhabit.envs.host.credentials import without_credentials

_WATCH = """
trap '' HUP INT TERM
read -r _
kill -s TERM 0
sleep "$1"
tries=0
while [ -e "$0" ] && [ $tries -lt 40 ]; do
  rm -rf -- "$0" || sleep 0.1
  tries=$((tries + 1))
done
kill -s KILL 0
"""
"""Waits for the end of a pipe that we alone hold. SIGTERM comes first for programs that tidy up
after themselves, such as Xvfb, which has a lock file outside of the folder."""
_JOIN = """
import os, sys
group, parent = map(int, sys.argv[1:3])
os.setpgid(0, group)
if os.getppid() != parent:
    sys.exit("its parent has ended")
os.execvp(sys.argv[3], sys.argv[3:])
"""
_REMOVAL = 4.0
"""Seconds that what is being killed may still write into the folder."""


def beside(command: Sequence[str]) -> tuple[subprocess.Popen[bytes], int]:
    """Start a program in a process group of its own, without keys, and silent.

    Returns:
        It, and the writing end of a pipe that it reads and that ends with this process.

    Raises:
        OSError: there is no such program, or no process can be started.
    """
    reading, writing = os.pipe()
    try:
        started = subprocess.Popen(
            command,
            stdin=reading,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=without_credentials(),
            process_group=0,
            cwd="/",
        )
    except OSError:
        os.close(writing)
        raise
    finally:
        os.close(reading)
    return started, writing


class ProcessGroup:
    """A process group with a folder. When this process is gone, both are.

    The group's leader is a shell of about a megabyte, the watch. It waits for the end of a pipe
    whose other end only this process holds, so that SIGKILL of this process is noticed too. (A
    signal at the parent's death, PR_SET_PDEATHSIG, would not do: it comes when the thread ends
    that started a program, and never reaches what that program has started.) A program is a member
    of the group before it runs, and the number of the group cannot be given to another one as long
    as the watch has not been waited for.

    Attributes:
        id: the group's number, for `os.killpg`.
        folder: an empty temporary folder.
    """

    def __init__(self, prefix: str, within: str | None = None, keep: float = 0.2) -> None:
        """Start the watch.

        Args:
            prefix: the beginning of the folder's name.
            within: where it is made; None for the system's place for temporary files.
            keep: seconds that the group and the folder outlive this process.

        Raises:
            OSError: the folder cannot be made, or no process can be started.
        """
        self.folder = Path(tempfile.mkdtemp(prefix=prefix, dir=within))
        self._lock = threading.Lock()
        try:
            self._watch, self._pipe = beside(["/bin/sh", "-c", _WATCH, str(self.folder), str(keep)])
        except OSError:
            self.folder.rmdir()
            raise
        self.id = self._watch.pid

    def start(self, command: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
        """Start a program in the group.

        Args:
            command: the program and its arguments.
            options: any others of `subprocess.Popen`. By default it gets our environment without
                keys, and no input.

        Raises:
            OSError: there is no such program, or the group was killed.
        """
        chosen = {"env": without_credentials(), "stdin": subprocess.DEVNULL, **options}
        with self._lock:
            if self._pipe < 0:
                raise ProcessLookupError(f"The process group of {command[0]} has ended")
            return subprocess.Popen(command, process_group=self.id, **chosen)

    def joining(self, command: Sequence[str]) -> list[str]:
        """`command` with a prefix that makes it join the group, for callers that start it.

        Its process id is that of the process they start.
        """
        join = [sys.executable, "-I", "-S", "-c", _JOIN]
        return [*join, str(self.id), str(os.getpid()), *command]

    def kill(self) -> None:
        """Kill all of the group at once. Safe to call at any time, by any thread, and often."""
        with self._lock:
            if self._pipe < 0:
                return
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.id, signal.SIGKILL)
            self._watch.wait()
            os.close(self._pipe)
            self._pipe = -1
            # The watch is gone, so nobody else removes the folder of a group that is never closed.
            weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def close(self) -> None:
        """Kill all of the group and remove the folder. Safe to call often."""
        self.kill()
        until = time.monotonic() + _REMOVAL
        while self.folder.exists() and time.monotonic() < until:
            shutil.rmtree(self.folder, ignore_errors=True)


# A worker process: its output is captured, and its child processes end with it.

_KEPT_LINES = 200
_SHOWN_LINES = 24
_SHOWN_BEFORE = 8
_LONGEST_LINE = 2000
_LAST_WORDS = 0.3
"""Seconds for a hung process to print its traceback."""


class Child:
    """A process in a process group. When it ends, the rest of the group is killed."""

    def __init__(
        self,
        group: ProcessGroup,
        command: Sequence[str],
        *,
        share: Sequence[int],
        environment: Mapping[str, str],
    ) -> None:
        """Start `command`, which inherits the descriptors in `share`, in that environment.

        Raises:
            OSError: there is no such program.
        """
        self._group = group
        self._process = group.start(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=share,
            env=environment,
        )
        self.pid = self._process.pid
        self._lines: deque[str] = deque(maxlen=_KEPT_LINES)
        self._ended = threading.Event()
        assert self._process.stdout is not None
        listening = threading.Thread(target=self._listen, args=(self._process.stdout,), daemon=True)
        listening.start()
        threading.Thread(target=self._clean_up, args=(listening,), daemon=True).start()

    def kill(self) -> None:
        """Kill the whole group. Safe to call at any time and repeatedly."""
        self._group.kill()

    def ask_where(self) -> None:
        """Make a hung process print its traceback (it registers `faulthandler` on SIGUSR1)."""
        self._process.send_signal(signal.SIGUSR1)
        self._ended.wait(_LAST_WORDS)

    def ended(self, seconds: float) -> bool:
        """Wait up to `seconds` for it to end."""
        return self._ended.wait(seconds)

    def cause(self) -> str:
        """Its exit code, or the name of the signal that ended it."""
        code = self._process.returncode
        if code is None:
            return "still running"
        if code >= 0:
            return f"exit code {code}"
        with contextlib.suppress(ValueError):
            return f"signal {-code}, {signal.Signals(-code).name}"
        return f"signal {-code}"

    def lines(self) -> list[str]:
        """The last lines that it and its child processes printed, oldest first."""
        return list(self._lines)

    def last_words(self) -> str:
        """The end of its output, or the start of a traceback in it, for an error message."""
        lines = self.lines()
        # Of a traceback of `faulthandler`, the first lines say where the process hangs or crashed.
        heads = [n for n, line in enumerate(lines) if "(most recent call first)" in line]
        current = next((n for n in heads if lines[n].startswith("Current thread")), None)
        if current is None:
            lines = lines[-_SHOWN_LINES:]
        else:
            lines = [*lines[: heads[0]][-_SHOWN_BEFORE:], *lines[current:]][:_SHOWN_LINES]
        if not lines:
            return "It printed nothing."
        return "The last lines it printed:\n" + "\n".join(f"    {line}" for line in lines)

    def _listen(self, output: IO[bytes]) -> None:
        with output:
            while line := output.readline(_LONGEST_LINE):
                self._lines.append(line.decode(errors="replace").rstrip())

    def _clean_up(self, listening: threading.Thread) -> None:
        """Wait for the process, kill what it left behind, and keep its last lines."""
        self._process.wait()
        self._group.kill()
        listening.join(timeout=_LAST_WORDS)
        self._ended.set()
