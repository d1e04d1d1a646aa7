"""A linear model and a small network that choose among candidates, for the baselines of a set.

Both learn from pairs: what the right candidate has more than a wrong one (Herbrich et al. 2000).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.feature_extraction import FeatureHasher
from sklearn.linear_model import LogisticRegression

_SIZE = 1 << 18
"""Features are hashed to so many columns."""


class Candidates:
    """The features of each candidate of each example."""

    def __init__(self, features: Sequence[Sequence[Mapping[str, float]]]) -> None:
        """One mapping for each candidate of each example."""
        hasher = FeatureHasher(_SIZE, alternate_sign=False)
        self._rows: csr_matrix = hasher.transform(c for candidates in features for c in candidates)
        self._first = np.cumsum([0, *(len(candidates) for candidates in features)])

    def choices(
        self, train: Sequence[int], test: Sequence[int], answers: Sequence[int]
    ) -> list[int]:
        """Train on some examples, and choose in others: the best candidate, the first of equals.

        Args:
            train: numbers of examples.
            test: numbers of others.
            answers: index of the right candidate of every example.
        """
        right, wrong = self._pairs(train, answers)
        apart = self._rows[right] - self._rows[wrong]
        # Every other pair the other way round: a regression needs both classes.
        sign = np.where(np.arange(len(right)) % 2, -1.0, 1.0)
        model = LogisticRegression(fit_intercept=False, solver="liblinear", max_iter=200)
        model.fit(apart.multiply(sign[:, None]).tocsr(), sign)
        scores: NDArray[np.float64] = self._rows @ model.coef_[0]
        return [int(scores[self._first[i] : self._first[i + 1]].argmax()) for i in test]

    def _pairs(
        self, examples: Sequence[int], answers: Sequence[int]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows of right candidates, each with that of a wrong one."""
        found = [
            (self._first[i] + answers[i], row)
            for i in examples
            for row in range(self._first[i], self._first[i + 1])
            if row != self._first[i] + answers[i]
        ]
        right, wrong = np.array(found, np.int64).reshape(-1, 2).T
        return right, wrong
