"""What the past steps of a view say of the present one, and the images of a prompt."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from inhabit.agents.core import Step, View
from inhabit.agents.models.core import Image, Message
from inhabit.envs.core import Action, Observation, Reason


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


_NUMBER = re.compile(r"_\d+$")
"""What tells one thing of a kind from the others, at the end of an action."""
_TWICE = 2
_MOST = 12
"""Maximum number of different actions of each kind in a summary."""
_LONGEST = 200
"""Maximum number of characters of an action."""


def without_failed(view: View) -> tuple[Action, ...]:
    """The candidates, without those that failed since the last step that worked.

    Nothing has changed since then, so what failed will fail again. Where no cabinet was found,
    there is no cabinet_2 either. Where all candidates have failed, all are returned.
    """
    steps = failures(view.history)
    failed = {step.action for step in steps}
    nowhere = {step.action for step in steps if step.reason is Reason.NOT_FOUND}
    left = (a for a in view.candidates if a.text not in failed)
    return tuple(a for a in left if _NUMBER.sub("", a.text) not in nowhere) or view.candidates


def offered(view: View, *, repeats: bool) -> tuple[Action, ...]:
    """`without_failed`, and also `without_repeated` unless `repeats`."""
    return without_failed(view) if repeats else without_repeated(view)


def without_repeated(view: View) -> tuple[Action, ...]:
    """`without_failed`, without actions that were repeated twice with the same feedback as before.

    This gets a small model out of a loop. The count starts again whenever an action works with
    feedback that is new, because that may change what the other actions do.
    """
    known: set[tuple[str, str]] = set()
    repeated: Counter[str] = Counter()
    for step in view.history:
        result = step.action, step.feedback
        if result in known:
            repeated[step.action] += 1
        elif step.reason is None:
            repeated.clear()
        known.add(result)
    left = without_failed(view)
    return tuple(a for a in left if repeated[a.text] < _TWICE) or left


def dropped(steps: int, keep: int) -> int:
    """How many of the oldest of `steps` are left out, so that at least the last `keep` stay.

    They go `keep` at a time: a prompt without its oldest step would be new from its beginning.
    """
    return max(0, steps // keep - 1) * keep if keep else steps


def summary(steps: Sequence[Step]) -> str:
    """Summarize `steps` in one line: each action once, the latest ones if there are many.

    The summary is computed from the record, not generated: it needs no call, and is correct.
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
    """The failed steps at the end of `steps`, oldest first: nothing has changed since."""
    count = 0
    for step in reversed(steps):
        if step.reason is None:
            break
        count += 1
    return tuple(steps[len(steps) - count :])


def _short(action: str) -> str:
    """Shorten an action: one that could not be parsed is a text of any length."""
    return action if len(action) <= _LONGEST else f"{action[:_LONGEST]}..."


def _latest(named: Sequence[str]) -> Sequence[str]:
    return named if len(named) <= _MOST else ["...", *named[-_MOST:]]
