"""A worker process: its output is captured, and its child processes end with it."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from typing import IO

from inhabit.envs.host.process_group import ProcessGroup

_KEPT_LINES = 200
_SHOWN_LINES = 24
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
        """The end of its output, for an error message."""
        lines = self.lines()[-_SHOWN_LINES:]
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
