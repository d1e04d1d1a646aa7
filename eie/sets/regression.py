"""Logistic regression over candidates, for baselines: sparse hashed features, Adagrad."""

from __future__ import annotations

import random
import zlib
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

_SIZE = 1 << 18
"""Number of weights; features are hashed to them."""
_RATE = 0.1

Features = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Weights that a candidate uses, and its values for them."""


def hashed(values: Mapping[str, float]) -> Features:
    """Named features as indices and values."""
    places = np.fromiter((zlib.crc32(n.encode()) % _SIZE for n in values), np.int64, len(values))
    return places, np.fromiter(values.values(), np.float64, len(values))


class CandidateRegression:
    """A softmax over the candidates of an example, linear in their features.

    Multinomial logistic regression by Adagrad (Duchi et al. 2011).
    """

    def __init__(self) -> None:
        self._weights = np.zeros(_SIZE, np.float64)
        self._squares = np.full(_SIZE, 1e-8, np.float64)

    @classmethod
    def trained(
        cls,
        examples: Sequence[Sequence[Features]],
        answers: Sequence[int],
        seed: int,
        epochs: int = 6,
    ) -> CandidateRegression:
        """Train.

        Args:
            examples: features of each candidate of each example.
            answers: index of the right candidate of each example.
            seed: of the order of training.
            epochs: passes over the examples.
        """
        made, rng = cls(), random.Random(f"candidate regression {seed}")
        order = list(range(len(examples)))
        for _ in range(epochs):
            rng.shuffle(order)
            for number in order:
                made._learn(examples[number], answers[number])
        return made

    def choose(self, candidates: Sequence[Features]) -> int:
        """Index of the candidate with the highest score; the first of equals."""
        return int(np.argmax(self._scores(candidates)))

    def _scores(self, candidates: Sequence[Features]) -> NDArray[np.float64]:
        return np.array([self._weights[at] @ values for at, values in candidates])

    def _learn(self, candidates: Sequence[Features], answer: int) -> None:
        scores = self._scores(candidates)
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        for place, (at, values) in enumerate(candidates):
            slope = (shares[place] - (place == answer)) * values
            self._squares[at] += slope**2
            self._weights[at] -= _RATE * slope / np.sqrt(self._squares[at])
