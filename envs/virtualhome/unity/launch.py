"""Starting VirtualHome's Unity build without a window, and stopping it again."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from inhabit.envs.core import SimulatorError, UnavailableError
from inhabit.envs.host.peers import is_our_server
from inhabit.envs.host.process_group import ProcessGroup
from inhabit.envs.virtualhome.unity.client import VirtualHomeClient

_PAUSE = 0.2
"""Seconds between questions whether it answers yet."""
_GRACE = 1.0
"""Seconds for it to exit after a request: less than the time that a worker has to close."""
_LAST = 15
"""Number of log lines quoted in errors."""


class Unity:
    """A simulator that we started, at a free port of its own. It ends with `close`, or with us."""

    def __init__(self, executable: str, *, graphics: bool, timeout: float) -> None:
        """Start it and wait until it answers.

        Args:
            executable: path of the build, such as linux_exec.v2.3.0.x86_64.
            graphics: False if no images are needed.
            timeout: seconds until it must answer.

        Raises:
            UnavailableError: there is no such build, or it can't be run.
            SimulatorError: it ended or hung; quotes its last output.
        """
        # What is started stands in a folder of its own.
        path = Path(executable).expanduser().absolute()
        if not path.is_file() or not os.access(path, os.X_OK):
            raise UnavailableError(
                f"{path} is not an executable file. Set `executable` to VirtualHome's Unity "
                "build (linux_exec.v2.3.0.x86_64), unpacked and made executable."
            )
        self._port = FreePort()
        self._group = ProcessGroup("inhabit-unity-")
        self._log = self._group.folder / "player.log"
        self._output = self._group.folder / "output.txt"
        command = [str(path), "-batchmode", f"-http-port={self.port}", "-logFile", str(self._log)]
        if not graphics:
            command.append("-nographics")
        try:
            with self._output.open("wb") as output:
                self._process = self._group.start(
                    command, stdout=output, stderr=output, cwd=self._group.folder
                )
            self._wait(timeout)
        except OSError as error:
            self.close()
            raise UnavailableError(f"Can't run {path}: {error}.") from error
        except BaseException:
            self.close()
            raise

    @property
    def port(self) -> int:
        """Where it listens, on this machine."""
        return self._port.number

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
        if hasattr(self, "_process"):
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE)
            self._group.kill()
            self._process.wait()
        self._group.close()
        self._port.close()

    def _wait(self, timeout: float) -> None:
        client = VirtualHomeClient(port=self.port)
        end = time.monotonic() + timeout
        while True:
            if self.ended is not None:
                raise SimulatorError(
                    f"Unity ended with code {self.ended} while it started. Its last output:\n"
                    f"{self.last_words()}"
                )
            if client.alive():
                if not is_our_server(self.port):
                    raise SimulatorError(f"Another user's program listens at port {self.port}.")
                return
            # Checked last: it may have become ready while this process was stopped.
            if time.monotonic() > end:
                break
            time.sleep(_PAUSE)
        raise SimulatorError(
            f"Unity did not answer at port {self.port} within {timeout:g} s. Its last output:\n"
            f"{self.last_words()}"
        )


class FreePort:
    """A free TCP port of this machine that no other worker uses.

    It has to be free when the simulator opens it, so that it can't be held open meanwhile. What is
    held instead is a socket that is named after it, outside of the file system: the kernel lets go
    of that with the process.
    """

    def __init__(self) -> None:
        """Choose one.

        Raises:
            SimulatorError: no port is free.
        """
        self._held = socket.socket(socket.AF_UNIX)
        for _ in range(100):
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.number: int = probe.getsockname()[1]
                with suppress(OSError):
                    self._held.bind(f"\0inhabit-port-{self.number}")
                    return
        self._held.close()
        raise SimulatorError("Found no free port for Unity.")

    def close(self) -> None:
        """Let others have it."""
        self._held.close()
