"""Starting VirtualHome's Unity build without a window, and stopping it again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from inhabit.envs.core import SimulatorError, UnavailableError
from inhabit.envs.virtualhome.unity.client import VirtualHomeClient

_PAUSE = 0.2
"""Seconds between questions whether it answers yet."""
_GRACE = 5.0
"""Seconds that it is given to end by itself."""
_LAST = 15
"""Lines of its log that are told when it fails."""


class Unity:
    """A simulator that we started. It ends with `close`."""

    def __init__(self, executable: str, port: int, *, graphics: bool, timeout: float) -> None:
        """Start it and wait until it answers.

        Args:
            executable: path of the build, such as linux_exec.v2.3.0.x86_64.
            port: where it is to listen.
            graphics: False where nobody takes pictures.
            timeout: seconds until it must answer.

        Raises:
            UnavailableError: there is no such build, or it can't be run.
            SimulatorError: the port is taken, or it ended or hung; with its last words.
        """
        path = Path(executable).expanduser()
        if not path.is_file() or not os.access(path, os.X_OK):
            raise UnavailableError(
                f"{path} is no program that can be run. Set `executable` to VirtualHome's Unity "
                "build (linux_exec.v2.3.0.x86_64), unpacked and made executable."
            )
        if _taken(port):
            raise SimulatorError(
                f"Port {port} is taken: something listens there already. Set another `port`, or "
                "leave out `executable` to connect to what runs there."
            )
        self._folder = tempfile.TemporaryDirectory(prefix="inhabit-unity-")
        self._log = Path(self._folder.name) / "player.log"
        self._output = Path(self._folder.name) / "output.txt"
        command = [str(path), "-batchmode", f"-http-port={port}", "-logFile", str(self._log)]
        if not graphics:
            command.append("-nographics")
        with self._output.open("wb") as output:
            # Its own group, so that what it starts ends with it.
            self._process = subprocess.Popen(
                command, stdout=output, stderr=output, stdin=subprocess.DEVNULL,
                start_new_session=True, cwd=self._folder.name,
            )  # fmt: skip
        try:
            self._wait(port, timeout)
        except SimulatorError:
            self.close()
            raise

    def last_words(self) -> str:
        """The end of what it wrote."""
        texts = [p.read_text("utf-8", "replace") for p in (self._output, self._log) if p.exists()]
        return "\n".join("\n".join(texts).strip().splitlines()[-_LAST:]) or "(it wrote nothing)"

    @property
    def ended(self) -> int | None:
        """Its exit code; None while it runs."""
        return self._process.poll()

    def close(self) -> None:
        """End it, and what it started. Safe to call twice."""
        if self._process.poll() is None:
            self._signal(signal.SIGTERM)
            try:
                self._process.wait(_GRACE)
            except subprocess.TimeoutExpired:
                self._signal(signal.SIGKILL)
                self._process.wait()
        self._folder.cleanup()

    def _signal(self, number: signal.Signals) -> None:
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            return

    def _wait(self, port: int, timeout: float) -> None:
        client = VirtualHomeClient(port=port)
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if self.ended is not None:
                raise SimulatorError(
                    f"Unity ended with code {self.ended} while it started. Its last words:\n"
                    f"{self.last_words()}"
                )
            if client.alive():
                return
            time.sleep(_PAUSE)
        raise SimulatorError(
            f"Unity did not answer at port {port} within {timeout:g} s. Its last words:\n"
            f"{self.last_words()}"
        )


def _taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return True
    return False
