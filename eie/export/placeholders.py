"""Images of prompts that are files, and need not be read to write the prompt."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from inhabit.agents.models.core import Message
from inhabit.eie.export.files import ExportImage


class Placeholders:
    """Stand for the images of one prompt: each is one pixel, whose value is its number."""

    def __init__(self) -> None:
        self._files: list[ExportImage] = []

    def add(self, shown: ExportImage) -> NDArray[np.uint8]:
        """What stands for `shown`, (1, 1, 3)."""
        self._files.append(shown)
        number = (len(self._files) - 1).to_bytes(3, "big")
        return np.frombuffer(number, np.uint8).reshape(1, 1, 3)

    def parts(self, message: Message) -> tuple[str | ExportImage, ...]:
        """The parts of `message` with the files in place of what stands for them."""
        return tuple(
            part
            if isinstance(part, str)
            else self._files[int.from_bytes(part.rgb.tobytes(), "big")]
            for part in message.parts
        )

    def replaced(self, messages: Sequence[Message]) -> tuple[str, tuple[str | ExportImage, ...]]:
        """The text of the first message, of the system, and the parts of the second."""
        system, user = messages
        return "".join(map(str, system.parts)), self.parts(user)
