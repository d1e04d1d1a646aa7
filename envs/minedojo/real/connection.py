"""The line to the program that runs MineDojo: a question, an answer, a deadline."""

from __future__ import annotations

import json
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

from inhabit.envs.core import SimulatorError, UnavailableError
from inhabit.envs.lines import LineReader, send_line
from inhabit.envs.minedojo.real.setup import interpreter
from inhabit.envs.process_group import ProcessGroup

_HOST = Path(__file__).parent / "host.py"
_LAST = 6
"""Number of output lines quoted in errors."""


class RefusedError(Exception):
    """MineDojo answered with an error; has its message."""


class HostConnection:
    """MineDojo in a process group that ends with us.

    Args:
        python: an interpreter that can import `minedojo`; None for the one that `inhabit setup
            minedojo --backend minedojo` makes.

    Raises:
        UnavailableError: there is no such interpreter.
    """

    def __init__(self, python: str | None) -> None:
        chosen = Path(python).expanduser() if python else interpreter()
        if not chosen.is_file():
            raise UnavailableError(
                f"Found no interpreter with MineDojo at {chosen}. Run `inhabit setup minedojo "
                "--backend minedojo`, or pass --set python=PATH."
            )
        self._group = ProcessGroup("inhabit-minedojo-")
        self._home = self._group.folder
        with (self._home / "said").open("wb") as said:
            self._program = self._group.start(
                [str(chosen.absolute()), "-u", str(_HOST)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                cwd=self._home,
            )
        assert self._program.stdout is not None
        self._answers = LineReader(self._program.stdout)

    @property
    def pid(self) -> int:
        """Process id of the program."""
        return self._program.pid

    def ask(self, call: str, seconds: float, **arguments: Any) -> Any:
        """One question.

        Raises:
            RefusedError: MineDojo raised an error.
            SimulatorError: the program ended, or did not answer in time.
        """
        assert self._program.stdin is not None
        try:
            asked = json.dumps({"call": call, **arguments}).encode()
            send_line(self._program.stdin, asked, seconds, self._program.poll)
            answer = json.loads(self._answers.read(seconds, self._program.poll))
        except (OSError, ValueError, RecursionError) as error:
            words = self.last_words()
            self.close()
            raise SimulatorError(f"MineDojo failed at {call!r}: {error}. {words}") from error
        if "error" in answer:
            raise RefusedError(str(answer["error"]))
        return answer["value"]

    def last_words(self) -> str:
        """The end of what it printed."""
        said = (self._home / "said").read_text("utf-8", "replace").strip().splitlines()
        return "Its last words:\n" + ("\n".join(said[-_LAST:]) or "(it printed nothing)")

    def close(self) -> None:
        """End it and all that it started. Safe to call twice."""
        self._group.kill()
        self._program.wait()
        for pipe in (self._program.stdin, self._program.stdout):
            assert pipe is not None
            with suppress(OSError):
                pipe.close()
        self._group.close()
