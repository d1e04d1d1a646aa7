"""Which examples a step takes, which of them are read together, and its learning rate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from inhabit.eie.tuning.questions import Question


class Order:
    """The order of the examples: each epoch is shuffled anew, by the seed alone."""

    def __init__(self, size: int, batch: int, seed: int) -> None:
        """Order `size` examples in steps of `batch`."""
        self._size, self._batch, self._seed = size, batch, seed
        self._epochs: dict[int, NDArray[np.int64]] = {}

    def of(self, step: int) -> list[int]:
        """Indices of a step's examples."""
        first = step * self._batch
        places = range(first, first + min(self._batch, self._size))
        return [int(self._epoch(place // self._size)[place % self._size]) for place in places]

    def _epoch(self, epoch: int) -> NDArray[np.int64]:
        if epoch not in self._epochs:
            shuffled = np.random.default_rng((self._seed, epoch)).permutation(self._size)
            self._epochs = {**dict(list(self._epochs.items())[-1:]), epoch: shuffled}
        return self._epochs[epoch]


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


@lru_cache(maxsize=4)
def episode_steps(
    episodes: tuple[str, ...], batch: int, epochs: float, seed: int
) -> tuple[tuple[int, ...], ...]:
    """The examples of each step, as indices, where steps take whole episodes.

    Args:
        episodes: of each example.
        batch: examples that a step has at least.
        epochs: passes over the examples.
        seed: of the order of the episodes, which are shuffled anew in each epoch.
    """
    members: dict[str, list[int]] = {}
    for index, episode in enumerate(episodes):
        members.setdefault(episode, []).append(index)
    groups, steps, taken = list(members.values()), list[tuple[int, ...]](), 0
    waiting: list[int] = []
    for epoch in range(math.ceil(epochs)):
        for number in np.random.default_rng((seed, epoch)).permutation(len(groups)):
            waiting += groups[number]
            if len(waiting) >= batch:
                steps.append(tuple(waiting))
                taken += len(waiting)
                waiting = []
            if taken >= epochs * len(episodes):
                return tuple(steps)
    return (*steps, tuple(waiting)) if waiting else tuple(steps)


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
