"""A program that answers lines of JSON, one for each, within a deadline."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from inhabit.envs.core import SimulatorError
from inhabit.envs.host.lines import LineReader, send_line
from inhabit.envs.host.process_group import ProcessGroup

_LAST = 6
"""Number of output lines quoted in errors."""


class JsonProgram:
    """The program, in a process group that ends with us. Its stderr is kept for errors."""

    def __init__(self, name: str, command: Sequence[str], **options: Any) -> None:
        """Start `command`, which people know as `name`, with `options` as of `subprocess.Popen`.

        Raises:
            OSError: there is no such program.
        """
        self._name = name
        self._group = ProcessGroup(f"inhabit-{name.lower()}-")
        self._said = self._group.folder / "said"
        with self._said.open("wb") as said:
            self._program = self._group.start(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                cwd=self._group.folder,
                **options,
            )
        assert self._program.stdin is not None and self._program.stdout is not None
        self._questions, self._answers = self._program.stdin, self._program.stdout
        self._lines = LineReader(self._answers)

    @property
    def pid(self) -> int:
        """Process id of the program."""
        return self._program.pid

    def ask(self, asked: Mapping[str, Any], seconds: float) -> Any:
        """The answer to `asked`.

        Raises:
            SimulatorError: the program ended, did not answer in time, or not in JSON. It is closed.
        """
        try:
            line = json.dumps(asked).encode()
            send_line(self._questions, line, seconds, self._program.poll)
            return json.loads(self._lines.read(seconds, self._program.poll))
        except (OSError, ValueError, RecursionError) as error:
            words = self.last_words()
            self.close()
            raise SimulatorError(f"{self._name} did not answer: {error}. {words}") from error

    def last_words(self) -> str:
        """The end of what it printed."""
        said = self._said.read_text("utf-8", "replace").strip().splitlines()
        return "Its last words:\n" + ("\n".join(said[-_LAST:]) or "(it printed nothing)")

    def close(self) -> None:
        """End it and all that it started. Safe to call twice."""
        self._group.kill()
        self._program.wait()
        for pipe in (self._questions, self._answers):
            with suppress(OSError):
                pipe.close()
        self._group.close()
