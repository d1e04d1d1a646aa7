"""Which examples a step takes, and which of them are read together."""

from __future__ import annotations

from collections.abc import Sequence

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


def micro_batches(questions: Sequence[Question], most: int) -> list[list[Question]]:
    """Groups of at most `most` questions of similar length, all with pictures or all without."""
    groups: list[list[Question]] = []
    for seeing in (False, True):
        some = [q for q in questions if bool(q.prompt.pictures) is seeing]
        some.sort(key=lambda q: (len(q.prompt.ids) + len(q.trie), q.id))
        groups += [some[first : first + most] for first in range(0, len(some), most)]
    return groups
