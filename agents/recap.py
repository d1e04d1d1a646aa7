"""The steps behind an agent, as a prompt tells of them: newest in full, older ones in short."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Picture

from agents.core import Step

_MOST = 12
"""Different actions that a summary names of each kind."""
_LONGEST = 200
"""Characters of an action."""


def summary(steps: Sequence[Step]) -> str:
    """What was done in `steps`, in a line: each action once, the latest of them if there are many.

    A summary is made of the record, not by the model: it costs no call, and is true.
    """
    worked = Counter(_short(s.action) for s in steps if s.reason is None)
    failed = {_short(s.action): s.feedback for s in steps if s.reason is not None}
    said = []
    if worked:
        named = [f"{text} ({n} times)" if n > 1 else text for text, n in worked.items()]
        said.append(f"done: {'; '.join(_latest(named))}")
    if failed:
        named = [f"{text} ({why})" if why else text for text, why in failed.items()]
        said.append(f"without effect: {'; '.join(_latest(named))}")
    return ". ".join(said)


def failures(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps at the end that had no effect, oldest first: the agent stands where it stood."""
    count = 0
    for step in reversed(steps):
        if step.reason is None:
            break
        count += 1
    return tuple(steps[len(steps) - count :])


def thumbnail(rgb: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """The picture uint8 (H, W, 3) made smaller, so that no side is longer than `side` pixels."""
    height, width = rgb.shape[:2]
    scale = side / max(height, width)
    if scale >= 1.0:
        return rgb
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return np.asarray(Picture.fromarray(rgb).resize(size, Picture.Resampling.BOX))


def keyframes(frames: NDArray[np.uint8], count: int) -> NDArray[np.uint8]:
    """`count` frames of uint8 (T, H, W, 3), spread evenly from the first to the last."""
    if len(frames) <= count:
        return frames
    chosen = np.linspace(0, len(frames) - 1, count).round().astype(int)
    return np.ascontiguousarray(frames[chosen])


def _short(action: str) -> str:
    """What could not be understood is on record in the model's own words, however many."""
    return action if len(action) <= _LONGEST else f"{action[:_LONGEST]}..."


def _latest(named: Sequence[str]) -> Sequence[str]:
    return named if len(named) <= _MOST else ["...", *named[-_MOST:]]
