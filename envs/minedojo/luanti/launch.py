"""Starts Xvfb and Luanti, and ends them with everything that they started."""

from __future__ import annotations

import os
import select
import shutil
import socket
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from inhabit.envs.core import SimulatorError, UnavailableError
from inhabit.envs.countdown import Countdown
from inhabit.envs.credentials import without_credentials
from inhabit.envs.minedojo.luanti import config
from inhabit.envs.minedojo.luanti.framebuffer import BAR
from inhabit.envs.minedojo.luanti.game import instance
from inhabit.envs.minedojo.luanti.programs import PACKAGES, display, engine, lacking
from inhabit.envs.process_group import ProcessGroup

_ATTEMPTS = 4
_TAKEN = "port already in use"
_GRACE = 1.0
"""Seconds for Xvfb to remove its lock from the folder shared by all displays."""
_LAST = 12
"""Number of log lines quoted in errors."""


class Launch:
    """One Xvfb and one Luanti, for one scene.

    Args:
        scene_json: the scene, as JSON for our mod.
        width, height: of the image, in pixels.
        timeout: seconds for Luanti to connect.

    Raises:
        UnavailableError: a program is missing, or its folder can't be written.
        SimulatorError: one of them ended or hung during startup; quotes its last output.
    """

    def __init__(self, scene_json: str, width: int, height: int, timeout: float) -> None:
        self._programs: list[subprocess.Popen[bytes]] = []
        if missing := lacking():
            raise UnavailableError(
                f"Luanti can't start without the Debian packages {', '.join(missing)}. Run "
                f"`inhabit setup minedojo`, or: apt-get install {' '.join(PACKAGES)}"
            )
        try:
            self._group = ProcessGroup("inhabit-luanti-")
            self.home = self._group.folder
            instance(scene_json, self.home)
        except OSError as error:
            self.close()
            raise UnavailableError(
                f"Can't write the world: {error}. Free disk space, or set TMPDIR to a writable "
                "folder."
            ) from error
        try:
            self.line = self._start(width, height, Countdown(timeout))
        except BaseException:
            self.close()
            raise

    @property
    def pids(self) -> Sequence[int]:
        """Process ids of Xvfb and Luanti."""
        return [program.pid for program in self._programs]

    def check(self) -> None:
        """Raise if one of them has ended.

        Raises:
            SimulatorError: names it and quotes its last output.
        """
        for program in self._programs:
            if (code := program.poll()) is not None:
                name = Path(str(program.args[0])).name  # type: ignore[index]
                raise SimulatorError(f"{name} ended with code {code}. {self.last_words()}")

    def last_words(self) -> str:
        """The end of what Luanti wrote."""
        said = []
        for name in ("luanti.log", "luanti.err", "xvfb.err"):
            path = self.home / name
            if path.exists():
                said += path.read_text("utf-8", "replace").strip().splitlines()[-_LAST:]
        wrong = [line for line in said if "ERROR" in line] or said
        return "Its last words:\n" + ("\n".join(wrong[-_LAST:]) or "(it wrote nothing)")

    def close(self) -> None:
        """End both, and remove what they wrote. Safe to call twice."""
        self._end()
        if hasattr(self, "line"):
            self.line.close()
        if hasattr(self, "_group"):
            self._group.close()

    def _end(self) -> None:
        for program in reversed(self._programs):
            program.terminate()
            with suppress(subprocess.TimeoutExpired):
                program.wait(_GRACE)
            program.kill()
            program.wait()
        self._programs.clear()

    def _start(self, width: int, height: int, countdown: Countdown) -> socket.socket:
        for attempt in range(_ATTEMPTS):
            try:
                screen = self._start_display(width, height + 2 * BAR, countdown)
                return self._start_engine(screen, width, height, countdown)
            except SimulatorError:
                # Luanti seeds the choice of its internal port with the time in seconds: of two
                # that start in the same second, the later one fails to bind and ends.
                if attempt + 1 == _ATTEMPTS or _TAKEN not in self.last_words():
                    raise
                self._end()
                for folder in ("worlds", "screen"):
                    shutil.rmtree(self.home / folder)
                (self.home / "luanti.log").unlink()
        raise AssertionError("The last attempt returns or raises.")

    def _start_engine(
        self, screen: str, width: int, height: int, countdown: Countdown
    ) -> socket.socket:
        with socket.create_server(("127.0.0.1", 0)) as door:
            port = door.getsockname()[1]
            arguments = config.write(self.home, width, height, port, fov=config.FOV, far=48)
            program = engine()
            assert program is not None
            self._run([program, *arguments], "luanti", config.surroundings(self.home, screen))
            door.settimeout(0.2)
            while True:
                try:
                    line, _ = door.accept()
                    break
                except TimeoutError:
                    self.check()
                    if countdown.next_wait() == 0:
                        raise SimulatorError(
                            f"Luanti did not connect in time. {self.last_words()}"
                        ) from None
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return line

    def _start_display(self, width: int, height: int, countdown: Countdown) -> str:
        program = display()
        assert program is not None
        (self.home / "screen").mkdir()
        read, write = os.pipe()
        try:
            # With -terminate it exits after Luanti, even if this process was killed.
            self._run(
                [program, "-displayfd", str(write), "-screen", "0", f"{width}x{height}x24",
                 "-fbdir", str(self.home / "screen"), "-nolisten", "tcp", "-terminate"],
                "xvfb", without_credentials(), (write,),
            )  # fmt: skip
            os.close(write)
            write = -1
            number = b""
            while not number.endswith(b"\n"):
                self.check()
                if countdown.next_wait() == 0:
                    raise SimulatorError(f"Xvfb did not start. {self.last_words()}")
                if select.select([read], [], [], 0.1)[0]:
                    number += os.read(read, 16) or b""
        finally:
            os.close(read)
            if write >= 0:
                os.close(write)
        return ":" + number.decode().strip()

    def _run(
        self, command: Sequence[str], name: str, env: Mapping[str, str], keep: tuple[int, ...] = ()
    ) -> None:
        with (self.home / f"{name}.err").open("wb") as said:
            self._programs.append(
                self._group.start(
                    command, stdout=said, stderr=said, pass_fds=keep, env=dict(env), cwd=self.home
                )
            )
