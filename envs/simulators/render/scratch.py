"""Memory that images are made in, kept from one image to the next."""

from __future__ import annotations

import threading
from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


class Scratch(threading.local):
    """Arrays by name, for one image at a time in each thread.

    Fresh memory costs a page fault for every 4 KiB, which for an image of 300x300 adds up to a
    millisecond. Stages may share a scratch: each thread has arrays of its own.
    """

    def __init__(self) -> None:
        self._kept: dict[str, NDArray[Any]] = {}

    def array(self, name: str, *shape: int, dtype: DTypeLike = np.float32) -> NDArray[Any]:
        """An array whose contents are those of its last use, or arbitrary.

        Args:
            name: of what it holds; a name has one dtype.
            shape: of the array. The memory grows to the largest.
            dtype: of the array.
        """
        size = prod(shape)
        kept = self._kept.get(name)
        if kept is None or kept.size < size:
            kept = self._kept[name] = np.empty(size, dtype)
        return kept[:size].reshape(shape)
