"""Whether images are alive, show the state, and are needed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.core import Determinism
from inhabit.episodes.validating.check import CheckFigure, Measure
from inhabit.episodes.validating.subject import DoesNotApply, Play, Snapshot, Subject


def _images(subject: Subject) -> Sequence[NDArray[np.uint8]]:
    found = [s.seen.rgb for s in subject.shots if s.seen.rgb is not None]
    if not found:
        raise DoesNotApply("This environment shows no image.")
    return found


def _share(holds: Callable[[NDArray[np.uint8]], bool]) -> Callable[[Subject], CheckFigure]:
    def measure(subject: Subject) -> CheckFigure:
        return CheckFigure(fmean(holds(one) for one in _images(subject)))

    return measure


def _always_there(subject: Subject) -> CheckFigure:
    _images(subject)
    return CheckFigure(fmean(s.seen.rgb is not None for s in subject.shots))


def _side(subject: Subject) -> CheckFigure:
    return CheckFigure(min(min(one.shape[:2]) for one in _images(subject)))


def _pairs(subject: Subject) -> Sequence[tuple[Snapshot, Snapshot]]:
    """Successive moments between which an action worked."""
    _images(subject)
    plays: Sequence[Play] = subject.walks
    return [
        (before, after)
        for one in plays
        for before, after in zip(one.shots, one.shots[1:], strict=False)
        if before.outcome is not None and before.outcome.reason is None
    ]


def _move(subject: Subject) -> CheckFigure:
    moved = [one.picture != two.picture for one, two in _pairs(subject)]
    if not moved:
        raise DoesNotApply("No random action worked and left the episode going.")
    return CheckFigure(fmean(moved))


def _as_state(subject: Subject) -> CheckFigure:
    """States that were shown in two ways within one task."""
    subject.needs_state()
    if subject.env.determinism is not Determinism.FRAMES:
        raise DoesNotApply("It does not promise the same pixels.")
    _images(subject)
    wrong = 0
    for one in (*subject.walks,):
        seen: dict[str, str | None] = {}
        for shot in one.shots:
            if shot.digest:
                wrong += seen.setdefault(shot.digest, shot.picture) != shot.picture
    return CheckFigure(wrong)


def _tasks_differ(subject: Subject) -> CheckFigure:
    _images(subject)
    firsts = [one.shots[0].picture for one in subject.walks]
    return CheckFigure(len(set(firsts)) / len(firsts))


def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"[a-z]+", text.lower()))


def _alike(one: Counter[str], two: Counter[str]) -> float:
    both = (one | two).total()
    return (one & two).total() / both if both else 0.0


def _blind(subject: Subject) -> CheckFigure:
    """Predict each of the expert's actions from the step of another task that reads most alike."""
    _images(subject)
    steps = [
        (number, _words(f"{one.task.goal} {s.seen.text} {s.told} {before}"), s)
        for number, one in enumerate(subject.plans)
        for before, s in zip(["", *(x.action for x in one.acted)], one.acted, strict=False)
        if len(s.candidates) > 1
    ]
    hits = []
    for number, read, shot in steps:
        others = [(other, x) for n, other, x in steps if n != number]
        if others:
            _, near = max(others, key=lambda one: _alike(read, one[0]))
            said = _words(near.action)
            guess = max(shot.candidates, key=lambda text: _alike(_words(text), said))
            hits.append(guess == shot.action)
    if len(hits) < 4:
        raise DoesNotApply("The expert's episodes have fewer than four choices.")
    return CheckFigure(fmean(hits))


MEASURES: Mapping[str, Measure] = {
    "pictures.always_there": _always_there,
    "pictures.black": _share(lambda rgb: int(rgb.max()) <= 8),
    "pictures.flat": _share(lambda rgb: float(rgb.std(axis=(0, 1)).max()) < 2),
    "pictures.size": _side,
    "pictures.move": _move,
    "pictures.show_the_state": _as_state,
    "pictures.differ_between_tasks": _tasks_differ,
    "pictures.add_something": _blind,
}
