"""Which examples a step takes, which of them are read together, and its learning rate."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from inhabit.eie.tuning.questions import Question


def example_steps(count: int, batch: int, epochs: float, seed: int) -> list[list[int]]:
    """The examples of each step, as indices: each epoch is shuffled anew, by the seed alone.

    Args:
        count: of the examples.
        batch: examples of a step, where there are as many.
        epochs: passes over the examples, rounded up to whole steps.
        seed: of the order.
    """
    size = min(batch, count)
    steps = max(1, math.ceil(epochs * count / size))
    passes = math.ceil(steps * size / count)
    order = [np.random.default_rng((seed, epoch)).permutation(count) for epoch in range(passes)]
    indices = np.concatenate(order).tolist()
    return [indices[size * step : size * (step + 1)] for step in range(steps)]


def cosine_rate(step: int, steps: int, *, peak: float, warmup: int) -> float:
    """Linear warmup, then cosine decay (Loshchilov and Hutter 2017, without restarts).

    Args:
        step: number of completed steps.
        steps: of the whole training.
        peak: the highest rate.
        warmup: steps in which the rate rises.
    """
    if step < warmup:
        return peak * (step + 1) / warmup
    share = (step - warmup) / max(1, steps - warmup)
    return peak * 0.5 * (1.0 + math.cos(math.pi * share))


def episode_steps(episodes: Sequence[str], batch: int, epochs: float, seed: int) -> list[list[int]]:
    """Indices of the examples of each step, where steps take whole episodes.

    Args:
        episodes: of each example.
        batch: examples that a step has at least.
        epochs: passes over the examples.
        seed: of the order of the episodes, which are shuffled anew in each epoch.
    """
    members: dict[str, list[int]] = {}
    for index, episode in enumerate(episodes):
        members.setdefault(episode, []).append(index)
    groups, taken = list(members.values()), 0
    steps: list[list[int]] = [[]]
    for epoch in range(math.ceil(epochs)):
        for number in np.random.default_rng((seed, epoch)).permutation(len(groups)):
            steps[-1] += groups[number]
            if len(steps[-1]) >= batch:
                taken += len(steps[-1])
                steps.append([])
            if taken >= epochs * len(episodes):
                return steps[:-1]
    return [step for step in steps if step]


def by_episode(questions: Sequence[Question]) -> list[list[Question]]:
    """The questions of each episode. Those with several images are alone.

    What several images take up would outweigh what is saved.
    """
    found: dict[str, list[Question]] = {}
    for question in questions:
        alone = question.prompt.pictures > 1
        found.setdefault(question.id if alone else question.episode, []).append(question)
    return list(found.values())


def micro_batches(questions: Sequence[Question], most: int) -> list[list[Question]]:
    """Groups of at most `most` questions of similar length, all with images or all without."""
    groups: list[list[Question]] = []
    for seeing in (False, True):
        some = [q for q in questions if bool(q.prompt.pictures) is seeing]
        some.sort(key=lambda q: (len(q.prompt.ids) + len(q.trie), q.id))
        groups += [some[first : first + most] for first in range(0, len(some), most)]
    return groups
