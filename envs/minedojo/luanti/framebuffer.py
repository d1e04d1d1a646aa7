"""Reads images from the framebuffer file of Xvfb (XWD format)."""

from __future__ import annotations

import mmap
import struct
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.core import SimulatorError
from inhabit.envs.host.countdown import Countdown

BAR = 8
"""Rows above and below the image that encode the frame number."""
_SLOTS = 8
_HEADER = struct.Struct(">25I")
_SIZE_OF_COLOUR = 12


class Framebuffer:
    """Reads the screen from Xvfb's framebuffer in `folder`.

    Args:
        folder: Xvfb's `-fbdir`.
        width, height: of the image, in pixels; the screen has a bar more above and below.
    """

    def __init__(self, folder: Path, width: int, height: int) -> None:
        self._file = (folder / "Xvfb_screen0").open("rb")
        self._memory = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        header = _HEADER.unpack(self._memory[: _HEADER.size])
        offset, line = header[0] + header[19] * _SIZE_OF_COLOUR, header[12]
        rows = height + 2 * BAR
        pixels = np.frombuffer(self._memory, np.uint8, line * rows, offset)
        self._screen = pixels.reshape(rows, line // 4, 4)[:, :width, 2::-1]
        self._width = width

    def wait(self, count: int, alive: Callable[[], None], timeout: float) -> None:
        """Wait until the screen shows image `count`, modulo 8.

        Args:
            count: the mod's number of the image.
            alive: raises if the simulator has ended.
            timeout: seconds.

        Raises:
            SimulatorError: it never came.
        """
        countdown = Countdown(timeout)
        turns = 0
        while self._mark() != count:
            time.sleep(0.001)
            turns += 1
            if turns % 100 == 0:
                alive()
            if countdown.next_wait() == 0 and self._mark() != count:
                raise SimulatorError(f"Luanti rendered no image within {timeout:g} s.")

    def read(self) -> NDArray[np.uint8]:
        """A copy of the image: uint8 (H, W, 3)."""
        return np.ascontiguousarray(self._screen[BAR:-BAR])

    def close(self) -> None:
        """Release the memory."""
        self._file.close()

    def _mark(self) -> int | None:
        row = self._screen[-BAR // 2, :, 0]
        places = (np.arange(_SLOTS) + 0.5) / _SLOTS * self._width
        white = np.flatnonzero(row[places.astype(int)] > 200)
        return int(white[0]) if white.size == 1 else None
