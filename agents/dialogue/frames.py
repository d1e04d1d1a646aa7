"""The images of a prompt: frames of clips, and what was and is seen."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from inhabit.agents.core import Step
from inhabit.agents.models.core import Image, Message
from inhabit.envs.core import Observation


def keyframes(frames: NDArray[np.uint8], count: int | None) -> NDArray[np.uint8]:
    """`count` frames of uint8 (T, H, W, 3), spread evenly from the first to the last.

    All frames where there are no more, or where `count` is None.
    """
    if count is None or len(frames) <= count:
        return frames
    chosen = np.linspace(0, len(frames) - 1, count).round().astype(int)
    return np.ascontiguousarray(frames[chosen])


def frames_of(
    observation: Observation | Step, count: int | None = None
) -> tuple[NDArray[np.uint8], ...]:
    """`count` frames of each clip (None for all), in order, and then the current image.

    Each is uint8 (H, W, 3).
    """
    frames = tuple(f for clip in observation.clips for f in keyframes(clip.frames, count))
    return frames if observation.rgb is None else (*frames, observation.rgb)


def pictures(messages: Iterable[Message]) -> dict[str, NDArray[np.uint8]]:
    """The images in `messages` by digest, as a record names them."""
    return {
        part.digest: part.rgb
        for message in messages
        for part in message.parts
        if isinstance(part, Image)
    }
