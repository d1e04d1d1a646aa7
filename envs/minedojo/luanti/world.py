"""The world over the wire: questions and answers, one line of JSON each."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.core import SimulatorError
from inhabit.envs.countdown import Countdown
from inhabit.envs.minedojo.luanti.framebuffer import Framebuffer
from inhabit.envs.minedojo.luanti.launch import Launch

_FIRST = 90.0
"""Seconds until the world must stand."""
_ANSWER = 120.0
"""Seconds that a skill may take, of the clock on the wall."""
_PATIENCE = 0.25
"""Seconds of silence after which we look whether it still lives."""
_PLAIN = 4.0
"""Standard deviation of an image in which nothing is drawn yet."""
_SETTLED = 3
"""Images in a row that must be alike: what changed is sent and meshed bit by bit, and a tool is
taken into the hand by and by."""


class LuantiWorld:
    """A running world of one scene. Nothing moves in it but by `step` and `skill`.

    Args:
        scene: plain values, as our mod reads them.
        width, height: of the image, in pixels.

    Raises:
        UnavailableError: a program is missing.
        SimulatorError: it did not start.
    """

    def __init__(self, scene: Mapping[str, Any], width: int, height: int) -> None:
        self._launch = Launch(json.dumps(scene), width, height, _FIRST)
        self._line: socket.socket = self._launch.line
        self._line.settimeout(_PATIENCE)
        self._buffer = b""
        try:
            self.ask("start", timeout=_FIRST)
            self._frames = Framebuffer(self._launch.home / "screen", width, height)
            self._settle()
        except BaseException:
            self._launch.close()
            raise

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of what runs for it: Xvfb, then Luanti."""
        return tuple(self._launch.pids)

    def ask(self, op: str, *, timeout: float = _ANSWER, **fields: Any) -> Any:
        """One question to the mod.

        Raises:
            SimulatorError: it is gone, silent for too long, or failed within.
        """
        try:
            self._line.sendall(json.dumps({"op": op, **fields}).encode() + b"\n")
            answer = json.loads(self._read(timeout))
        except (OSError, ValueError) as error:
            self._launch.check()
            raise SimulatorError(
                f"The line to Luanti broke ({error}). {self._launch.last_words()}"
            ) from error
        if not answer["ok"]:
            raise SimulatorError(f"The world failed at {op!r}: {answer['value']}")
        return answer.get("value")

    def settled(self) -> NDArray[np.uint8]:
        """The fully drawn image of the current state, uint8 (H, W, 3).

        Raises:
            SimulatorError: the image never comes to rest.
        """
        last, alike = None, 0
        end = time.monotonic() + _FIRST
        while True:
            picture = self.picture()
            same = last is not None and np.array_equal(picture, last)
            last, alike = picture, alike + 1 if same else 1
            if alike == _SETTLED:
                return picture
            if time.monotonic() > end:
                raise SimulatorError("The picture of the world never came to rest.")
            self.ask("wait", steps=6)

    def picture(self) -> NDArray[np.uint8]:
        """The image so far, uint8 (H, W, 3). Some blocks may not be drawn yet."""
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

    def _read(self, timeout: float) -> bytes:
        countdown = Countdown(timeout)
        while b"\n" not in self._buffer:
            try:
                part = self._line.recv(1 << 20)
            except TimeoutError:
                self._launch.check()
                if countdown.next_wait() == 0:
                    raise SimulatorError(
                        f"Luanti gave no answer within {timeout:g} s. {self._launch.last_words()}"
                    ) from None
                continue
            if not part:
                raise ConnectionError("it was closed at the other end")
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _settle(self) -> None:
        """Look until the land around has been drawn."""
        end = time.monotonic() + _FIRST
        while self.settled().std() <= _PLAIN:
            if time.monotonic() > end:
                raise SimulatorError("The world was never drawn.")
