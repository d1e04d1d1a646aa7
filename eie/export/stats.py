"""Least, greatest, mean and spread of numbers that come one after the other."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import JsonValue


class Stats:
    """Running statistics of vectors of one length, in the memory of a few of them."""

    def __init__(self) -> None:
        self._count = 0
        self._sums: NDArray[np.float64] | None = None
        """Sum, sum of squares, least, greatest."""

    def add(self, values: ArrayLike) -> None:
        """Take in `values`, (N, D) or (N,): N vectors of D numbers."""
        rows = np.asarray(values, np.float64)
        rows = rows.reshape(len(rows), -1)
        found = np.stack([rows.sum(0), (rows**2).sum(0), rows.min(0), rows.max(0)])
        if self._sums is not None:
            found[:2] += self._sums[:2]
            found[2] = np.minimum(found[2], self._sums[2])
            found[3] = np.maximum(found[3], self._sums[3])
        self._count += len(rows)
        self._sums = found

    def result(self, shape: tuple[int, ...] = (-1,)) -> Mapping[str, JsonValue]:
        """What came in, each figure in `shape`.

        Raises:
            ValueError: nothing came in.
        """
        if self._sums is None:
            raise ValueError("There is nothing to tell of: no number came in.")
        total, squares, least, greatest = self._sums
        mean = total / self._count
        spread = np.sqrt(np.maximum(squares / self._count - mean**2, 0))
        figures = {"min": least, "max": greatest, "mean": mean, "std": spread}
        told: dict[str, JsonValue] = {k: v.reshape(shape).tolist() for k, v in figures.items()}
        return told | {"count": [self._count]}
