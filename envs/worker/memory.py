"""Arrays from a worker to the runner, through a file in memory.

It has no name, so there is nothing to clean up when either side is killed. It is written and read
and not mapped: whoever maps a file is ended by SIGBUS when the other side shrinks it.
"""

from __future__ import annotations

import math
import os
import tempfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ALIGNED = 64
_LARGEST = 1 << 30
"""Bytes of an array. A larger one means a broken worker."""


def nameless_file() -> int:
    """The descriptor of an anonymous file in memory."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("inhabit-frames")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


class SharedMemory:
    """Shared memory for the arrays of one message: one side writes them, the other copies them."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._used = 0

    def clear(self) -> None:
        """Start a new message, which may overwrite the arrays of the previous one."""
        self._used = 0

    def write(self, array: NDArray[Any]) -> list[Any]:
        """Write `array`; returns its location as plain values.

        Raises:
            ValueError: it can't be shared.
            OSError: there is no room.
        """
        start = -(-self._used // _ALIGNED) * _ALIGNED
        size = _bytes(array.dtype, array.shape)
        if os.pwrite(self._descriptor, _flat(np.ascontiguousarray(array)), start) != size:
            raise OSError(f"There is no room for the {size} bytes of an array.")
        self._used = start + size
        return [start, array.dtype.str, list(array.shape)]

    def read(self, place: list[Any]) -> NDArray[Any]:
        """A copy of the array at `place`.

        Raises:
            ValueError: no array lies there.
        """
        start, dtype, shape = int(place[0]), np.dtype(place[1]), tuple(place[2])
        size, there = _bytes(dtype, shape), os.fstat(self._descriptor).st_size
        if start + size <= there or not size:
            array = np.empty(shape, dtype)
            if os.preadv(self._descriptor, [_flat(array)], start) == size:
                return array
        raise ValueError(f"The array ends at byte {start + size}, beyond the {there} bytes shared.")

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _bytes(dtype: np.dtype[Any], shape: tuple[int, ...]) -> int:
    size = dtype.itemsize * math.prod(shape)
    if dtype.hasobject or not 0 <= size <= _LARGEST:
        raise ValueError(f"Only numeric arrays of at most {_LARGEST} bytes can be shared.")
    return size


def _flat(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data
