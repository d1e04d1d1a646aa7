"""Trains the goal reader on worded goals; needs no simulator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional

from inhabit.agents.models.ranker.goals import PARTS, GoalReader
from inhabit.agents.models.ranker.parsing import with_slots
from inhabit.envs.template import WordedGoal

_EPOCHS, _RATE = 60, 2e-3
_UNKNOWN, _LOST, _MORE = 0.12, 0.12, 0.2
"""Augmentation: probability that a word shared by several task types is replaced by the unknown
word, that it is dropped, and that an unknown word is inserted before any word."""


@dataclass(frozen=True, slots=True, order=True)
class _GoalExample:
    """A goal with slots for nouns, so that many goals share an example."""

    words: tuple[str, ...]
    task: int
    parts: tuple[tuple[int, int], ...]
    """Position of the first mention of a noun, and the noun's part."""


def train_goal_reader(
    goals: Iterable[WordedGoal], nouns: Sequence[str], *, seed: int, tell: Callable[[str], None]
) -> tuple[GoalReader, tuple[str, ...], tuple[str, ...]]:
    """Train a reader on these goals; returns it, its words and its types of task.

    Args:
        goals: in all their wordings.
        nouns: that goals may mention.
        seed: of the initial weights and the order.
        tell: called with a line about the result.
    """
    known = list(goals)
    tasks = tuple(sorted({goal.kind for goal in known}))
    examples = sorted({_goal_example(goal, tasks, nouns) for goal in known})
    words = tuple(sorted({word for settings in examples for word in settings.words}))
    common = _common(examples)
    torch.manual_seed(seed)
    reader = GoalReader(words, len(tasks)).train()
    optimizer = torch.optim.Adam(reader.parameters(), lr=_RATE)
    for epoch in range(_EPOCHS):
        rng = np.random.default_rng((seed, epoch))
        for one in (examples[i] for i in rng.permutation(len(examples))):
            loss = _loss(reader, _augmented(one, common, rng))
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    reader.eval().requires_grad_(False)
    worst = max(float(_loss(reader, one)) for one in examples)
    tell(f"goals: {len(known)} in {len(examples)} sentences, loss of the hardest {worst:.3f}")
    return reader, words, tasks


def _goal_example(goal: WordedGoal, tasks: Sequence[str], nouns: Sequence[str]) -> _GoalExample:
    words, slots = with_slots(goal.text.lower(), nouns)
    parts = [
        (words.index(f"<{i}>"), goal.parts.index(noun) if noun in goal.parts else len(PARTS))
        for i, noun in enumerate(slots)
    ]
    return _GoalExample(words, tasks.index(goal.kind), tuple(parts))


def _common(examples: Sequence[_GoalExample]) -> Set[str]:
    """The words that several types of task share; the others decide the type."""
    spoken = Counter(
        word for word, _ in {(word, one.task) for one in examples for word in one.words}
    )
    return {word for word, tasks in spoken.items() if tasks > 1}


def _augmented(settings: _GoalExample, common: Set[str], rng: np.random.Generator) -> _GoalExample:
    """Augment an example with unknown words; an unknown noun is replaced at all its positions.

    Nouns are numbered in order of appearance; an unknown noun has no number.
    """
    slots = dict.fromkeys(word for word in settings.words if word.startswith("<"))
    known = [slot for slot in slots if rng.random() >= _UNKNOWN]
    named = {slot: f"<{known.index(slot)}>" if slot in known else "" for slot in slots}
    part_at = dict(settings.parts)
    words: list[str] = []
    parts: list[tuple[int, int]] = []
    for place, word in enumerate(settings.words):
        words += [""] * int(rng.random() < _MORE)
        if word in named:
            if place in part_at and word in known:
                parts.append((len(words), part_at[place]))
            words.append(named[word])
        elif word not in common or rng.random() >= _LOST:
            words.append("" if word in common and rng.random() < _UNKNOWN else word)
    return _GoalExample(tuple(words or [""]), settings.task, tuple(parts))


def _loss(reader: GoalReader, settings: _GoalExample) -> torch.Tensor:
    tasks, parts = reader(reader.numbers(settings.words))
    loss: torch.Tensor = -tasks[settings.task]
    if settings.parts:
        places, wanted = torch.tensor(settings.parts).T
        loss = loss + functional.nll_loss(parts[places], wanted)
    return loss
