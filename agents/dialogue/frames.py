"""The images of a prompt: frames of clips, past steps scaled down, and the present image."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Picture

from inhabit.agents.core import Step, View
from inhabit.agents.models.core import Image, Message
from inhabit.envs.core import Observation

_LONGEST = 160
"""Side of the image of a past step, in pixels."""


def thumbnail(rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Scale the image uint8 (H, W, 3) down, so that no side is longer than 160 pixels."""
    height, width = rgb.shape[:2]
    scale = _LONGEST / max(height, width)
    if scale >= 1.0:
        return rgb
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return np.asarray(Picture.fromarray(rgb).resize(size, Picture.Resampling.BOX))


def keyframes(frames: NDArray[np.uint8], count: int | None) -> NDArray[np.uint8]:
    """`count` frames of uint8 (T, H, W, 3), spread evenly from the first to the last.

    All frames where there are no more, or where `count` is None.
    """
    if count is None or len(frames) <= count:
        return frames
    chosen = np.linspace(0, len(frames) - 1, count).round().astype(int)
    return np.ascontiguousarray(frames[chosen])


def past_frames(view: View, count: int) -> Iterator[tuple[int, Step, Image]]:
    """Number from 1, step and thumbnail of each of the last `count` steps that have an image."""
    first = max(0, len(view.history) - count)
    for number, step in enumerate(view.history[first:], start=first + 1):
        if step.rgb is not None:
            yield number, step, Image(thumbnail(step.rgb))


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
