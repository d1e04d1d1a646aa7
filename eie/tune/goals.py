"""Teaching a reader of goals what their words ask for: no simulator is needed for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional

from agents.models.ranker.goals import PARTS, GoalReader
from agents.models.ranker.reading import slotted

_EPOCHS, _RATE = 15, 3e-3
_UNKNOWN = 0.15
"""How often a word is taken for one that is not known: so that it can do without some."""


@dataclass(frozen=True, slots=True)
class Worded:
    """A goal in words, and what it asks for."""

    text: str
    kind: str
    parts: tuple[str, ...]
    """The noun of each of `PARTS`, empty where there is none."""


@dataclass(frozen=True, slots=True)
class _Lesson:
    """Nouns are slots in it, so that many goals are one."""

    words: tuple[str, ...]
    kind: int
    parts: tuple[tuple[int, int], ...]
    """Where a noun is spoken of first, and its part."""


def taught(
    goals: Iterable[Worded], nouns: Sequence[str], *, seed: int, tell: Callable[[str], None]
) -> tuple[GoalReader, tuple[str, ...], tuple[str, ...]]:
    """A reader that has learnt these goals, its words, and the types of task that it knows.

    Args:
        goals: in every way that they may be worded.
        nouns: that goals may speak of.
        seed: of the first weights, and the order.
        tell: hears how it went.
    """
    known = list(goals)
    kinds = tuple(sorted({goal.kind for goal in known}))
    lessons = sorted({_lesson(goal, kinds, nouns) for goal in known}, key=lambda one: one.words)
    words = tuple(sorted({word for lesson in lessons for word in lesson.words}))
    torch.manual_seed(seed)
    reader = GoalReader(words, len(kinds)).train()
    optimizer = torch.optim.Adam(reader.parameters(), lr=_RATE)
    for epoch in range(_EPOCHS):
        order = np.random.default_rng((seed, epoch)).permutation(len(lessons))
        for one in (lessons[i] for i in order):
            loss = _loss(reader, one, _UNKNOWN)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    reader.eval().requires_grad_(False)
    worst = max(float(_loss(reader, one, 0.0)) for one in lessons)
    tell(f"goals: {len(known)} in {len(lessons)} sentences, loss of the hardest {worst:.3f}")
    return reader, words, kinds


def _lesson(goal: Worded, kinds: Sequence[str], nouns: Sequence[str]) -> _Lesson:
    words, slots = slotted(goal.text.lower(), nouns)
    parts = [
        (words.index(f"<{i}>"), goal.parts.index(noun) if noun in goal.parts else len(PARTS))
        for i, noun in enumerate(slots)
    ]
    return _Lesson(words, kinds.index(goal.kind), tuple(parts))


def _loss(reader: GoalReader, lesson: _Lesson, unknown: float) -> torch.Tensor:
    numbers = reader.numbers(lesson.words)
    plain = torch.tensor([not word.startswith("<") for word in lesson.words])
    numbers[plain & (torch.rand(len(numbers)) < unknown)] = 0
    kinds, parts = reader(numbers)
    loss: torch.Tensor = -kinds[lesson.kind]
    if lesson.parts:
        places, wanted = torch.tensor(lesson.parts).T
        loss = loss + functional.nll_loss(parts[places], wanted)
    return loss
