"""The client of the mod: requests and answers, one line of JSON each."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.core import SceneError, SimulatorError, UnavailableError
from inhabit.envs.host.credentials import without_credentials
from inhabit.envs.host.pipes import LineReader, send_line, stretch
from inhabit.envs.host.process_group import ProcessGroup
from inhabit.envs.minedojo.luanti import game
from inhabit.envs.minedojo.luanti.game import BAR, Framebuffer, instance

PACKAGES = ("minetest", "xvfb", "libgl1-mesa-dri")
"""Debian package names; newer releases call minetest luanti, and keep the old name as an alias."""
APART = (sys.executable, "-I", "-S", str(Path(__file__).with_name("namespace.py")))
"""What comes before a folder for X sockets and a command for it to run apart from all others."""
_ENGINES = ("luanti", "minetest")
_GAMES = Path("/usr/games")


def engine() -> str | None:
    """Path of Luanti; None if it is not installed."""
    for name in _ENGINES:
        if found := shutil.which(name) or shutil.which(name, path=str(_GAMES)):
            return found
    return None


def display() -> str | None:
    """Path of Xvfb; None if it is not installed."""
    return shutil.which("Xvfb")


def lacking() -> Sequence[str]:
    """Debian packages that are not installed."""
    missing = []
    if engine() is None:
        missing.append("minetest")
    if display() is None:
        missing.append("xvfb")
    return missing


@cache
def may_run_apart() -> bool:
    """Whether this machine allows namespaces. Many containers do not."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*APART, folder, "true"]
        return subprocess.run(command, capture_output=True, env={}, check=False).returncode == 0


_ATTEMPTS = 4
_TAKEN = "port already in use"
_GRACE = 1.0
"""Seconds for Xvfb to remove its lock from the folder shared by all displays."""
_LAST = 12
"""Number of log lines quoted in errors."""
_ANY_HOST = b"\xff\xff"
"""The address of a cookie that is for any host and display."""


class Launch:
    """One Xvfb and one Luanti, for one scene.

    Args:
        scene_json: the scene, as JSON for our mod.
        width, height: of the image, in pixels.
        timeout: seconds for each of them to start.

    Attributes:
        home: a folder for these two alone.
        questions: the pipe that our mod reads.
        answers: the lines that it writes.

    Raises:
        UnavailableError: a program is missing, or its folder can't be written.
        SimulatorError: one of them ended or hung during startup; quotes its last output.
    """

    def __init__(self, scene_json: str, width: int, height: int, timeout: float) -> None:
        self._programs: dict[str, subprocess.Popen[bytes]] = {}
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
                f"Can't write the world: {error}. Free disk space, or set TMPDIR and "
                "XDG_CACHE_HOME, which has the game, to writable folders."
            ) from error
        try:
            self._start(width, height, timeout)
        except BaseException:
            self.close()
            raise

    @property
    def pids(self) -> Sequence[int]:
        """Process ids of Xvfb and Luanti."""
        return [program.pid for program in self._programs.values()]

    def check(self) -> None:
        """Raise if one of them has ended.

        Raises:
            SimulatorError: names it and quotes its last output.
        """
        for name, program in self._programs.items():
            if (code := program.poll()) is not None:
                raise SimulatorError(f"{name} ended with code {code}. {self.last_words()}")

    def last_words(self) -> str:
        """The end of what Luanti wrote."""
        said = []
        for name in ("luanti.log", "luanti.err", "Xvfb.err"):
            path = self.home / name
            if path.exists():
                said += path.read_text("utf-8", "replace").strip().splitlines()[-_LAST:]
        wrong = [line for line in said if "ERROR" in line] or said
        return "Its last words:\n" + ("\n".join(wrong[-_LAST:]) or "(it wrote nothing)")

    def close(self) -> None:
        """End both, and remove what they wrote. Safe to call twice."""
        self._end()
        if hasattr(self, "_group"):
            self._group.close()

    def _end(self) -> None:
        if hasattr(self, "questions"):
            self.questions.close()
            self._answers.close()
        for program in reversed(self._programs.values()):
            program.terminate()
            with suppress(subprocess.TimeoutExpired):
                program.wait(_GRACE)
            program.kill()
            program.wait()
        self._programs.clear()

    def _start(self, width: int, height: int, timeout: float) -> None:
        (self.home / "x11").mkdir()
        for attempt in range(_ATTEMPTS):
            try:
                screen = self._start_display(width, height + 2 * BAR, timeout)
                return self._start_engine(screen, width, height, timeout)
            except SimulatorError:
                # Luanti seeds the choice of its internal port with the time in seconds: where two
                # that start in the same second share a network, the later one fails to bind.
                if attempt + 1 == _ATTEMPTS or _TAKEN not in self.last_words():
                    raise
                self._end()
                for folder in ("worlds", "screen"):
                    shutil.rmtree(self.home / folder)
                (self.home / "luanti.log").unlink()
        raise AssertionError("The last attempt returns or raises.")

    def _start_engine(self, screen: str, width: int, height: int, timeout: float) -> None:
        program = engine()
        assert program is not None
        reading, writing = os.pipe()
        self._answers = os.fdopen(reading, "rb", 0)
        self.answers = LineReader(self._answers)
        arguments = game.write(self.home, width, height, writing, fov=game.FOV, far=48)
        environment = game.surroundings(self.home, screen, self._cookie)
        started = self._run([program, *arguments], "luanti", environment, writing, subprocess.PIPE)
        assert started.stdin is not None
        self.questions = started.stdin
        self._first_line(self.answers, timeout, "Luanti")

    def _start_display(self, width: int, height: int, timeout: float) -> str:
        program = display()
        assert program is not None
        (self.home / "screen").mkdir()
        self._cookie = _cookie(self.home / "cookie")
        reading, writing = os.pipe()
        with os.fdopen(reading, "rb", 0) as number:
            # With -terminate it exits after Luanti, even if this process was killed. "local" is the
            # socket without a file, which has no owner and no mode.
            self._run(
                [program, "-displayfd", str(writing), "-screen", "0", f"{width}x{height}x24",
                 "-fbdir", str(self.home / "screen"), "-nolisten", "tcp", "-nolisten", "local",
                 "-auth", str(self._cookie), "-terminate"],
                "Xvfb", without_credentials(), writing,
            )  # fmt: skip
            return ":" + self._first_line(LineReader(number), timeout, "Xvfb")

    def _first_line(self, lines: LineReader, timeout: float, name: str) -> str:
        try:
            return lines.read(timeout, self.check).decode()
        except (OSError, ValueError) as error:
            self.check()
            raise SimulatorError(f"{name} did not start: {error}. {self.last_words()}") from error

    def _run(
        self,
        command: Sequence[str],
        name: str,
        env: Mapping[str, str],
        writing: int,
        stdin: int = subprocess.DEVNULL,
    ) -> subprocess.Popen[bytes]:
        """Start a program that has the end `writing` of a pipe, which is closed here."""
        apart = [*APART, str(self.home / "x11")] if may_run_apart() else []
        try:
            with (self.home / f"{name}.err").open("wb") as said:
                self._programs[name] = self._group.start(
                    [*apart, *command], stdin=stdin, stdout=said, stderr=said,
                    pass_fds=(writing,), env=dict(env), cwd=self.home,
                )  # fmt: skip
        finally:
            os.close(writing)
        return self._programs[name]


def _cookie(path: Path) -> Path:
    """Write the secret that the X server asks its clients for, in the format of `xauth`."""
    fields = (b"", b"", b"MIT-MAGIC-COOKIE-1", secrets.token_bytes(16))
    path.touch(0o600)
    entry = b"".join(struct.pack(">H", len(field)) + field for field in fields)
    path.write_bytes(_ANY_HOST + entry)
    return path


_FIRST = 90.0
"""Seconds for the world to be built."""
_ANSWER = 120.0
"""Seconds that a skill may take."""
_PLAIN = 4.0
"""Standard deviation of an image in which nothing is rendered yet."""
_SETTLED = 3
"""Identical consecutive images that count as stable: changed blocks are sent and meshed in parts,
and wielding a tool is animated."""


class LuantiWorld:
    """A running world of one scene. Time passes only in `step` and `skill`.

    Args:
        scene: plain values, as read by our mod.
        width, height: of the image, in pixels.

    Raises:
        UnavailableError: a program is missing.
        SceneError: one would start with the eyes inside a block.
        SimulatorError: it did not start.
    """

    def __init__(self, scene: Mapping[str, Any], width: int, height: int) -> None:
        self._launch = Launch(json.dumps(scene), width, height, _FIRST)
        try:
            _check_eyes(self.ask("start", timeout=_FIRST))
            self._frames = Framebuffer(self._launch.home / "screen", width, height)
            self._settle()
        except BaseException:
            self._launch.close()
            raise

    def restart(self, scene: Mapping[str, Any]) -> None:
        """Begin a scene with the same land. The last one must have had no actions.

        Raises:
            SceneError: one would start with the eyes inside a block.
            SimulatorError: it is gone.
        """
        _check_eyes(self.ask("restart", scene=scene, timeout=_FIRST))

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of Xvfb and Luanti."""
        return tuple(self._launch.pids)

    def ask(self, op: str, *, timeout: float = _ANSWER, **fields: Any) -> Any:
        """Send a request to the mod.

        Raises:
            SimulatorError: it is gone, silent for too long, or failed within.
        """
        try:
            asked = json.dumps({"op": op, **fields}).encode()
            send_line(self._launch.questions, asked, timeout, self._launch.check)
            answer = json.loads(self._launch.answers.read(timeout, self._launch.check))
        except (OSError, ValueError, RecursionError) as error:
            self._launch.check()
            raise SimulatorError(
                f"The connection to Luanti failed ({error}). {self._launch.last_words()}"
            ) from error
        if not answer["ok"]:
            raise SimulatorError(f"The mod failed in {op!r}: {answer['value']}")
        return answer.get("value")

    def settled(self) -> NDArray[np.uint8]:
        """The fully drawn image of the current state, uint8 (H, W, 3).

        Raises:
            SimulatorError: the image never comes to rest.
        """
        last, alike = None, 0
        end = time.monotonic() + _FIRST * stretch()
        while True:
            picture = self.picture()
            same = last is not None and np.array_equal(picture, last)
            last, alike = picture, alike + 1 if same else 1
            if alike == _SETTLED:
                return picture
            if time.monotonic() > end:
                raise SimulatorError("The image of the world never became stable.")
            self.ask("wait", steps=6)

    def picture(self) -> NDArray[np.uint8]:
        """The current image, uint8 (H, W, 3). Some blocks may not be drawn yet."""
        count = self.ask("show")["count"]
        self._frames.wait(count, self._launch.check, timeout=30.0)
        return self._frames.read()

    def close(self) -> None:
        """End the simulator. Safe to call twice."""
        if hasattr(self, "_frames"):
            self._frames.close()
        self._launch.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _settle(self) -> None:
        """Wait until the surrounding terrain has been rendered."""
        end = time.monotonic() + _FIRST * stretch()
        while self.settled().std() <= _PLAIN:
            if time.monotonic() > end:
                raise SimulatorError("Luanti never rendered the world.")


def _check_eyes(begun: Mapping[str, Any] | None) -> None:
    if inside := (begun or {}).get("inside"):
        raise SceneError(
            f"start_position or blocks: the eyes are inside {inside}. Start where they are free."
        )
