"""The client of the mod: requests and answers, one line of JSON each."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.core import SimulatorError
from inhabit.envs.host.pipes import send_line
from inhabit.envs.minedojo.luanti.game import Framebuffer
from inhabit.envs.minedojo.luanti.launch import Launch

_FIRST = 90.0
"""Seconds for the world to be built."""
_ANSWER = 120.0
"""Seconds of wall-clock time that a skill may take."""
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
        SimulatorError: it did not start.
    """

    def __init__(self, scene: Mapping[str, Any], width: int, height: int) -> None:
        self._launch = Launch(json.dumps(scene), width, height, _FIRST)
        try:
            self.ask("start", timeout=_FIRST)
            self._frames = Framebuffer(self._launch.home / "screen", width, height)
            self._settle()
        except BaseException:
            self._launch.close()
            raise

    def restart(self, scene: Mapping[str, Any]) -> None:
        """Begin a scene with the same land. The last one must have had no actions.

        Raises:
            SimulatorError: it is gone.
        """
        self.ask("restart", scene=scene, timeout=_FIRST)

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
        end = time.monotonic() + _FIRST
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
        end = time.monotonic() + _FIRST
        while self.settled().std() <= _PLAIN:
            if time.monotonic() > end:
                raise SimulatorError("Luanti never rendered the world.")
