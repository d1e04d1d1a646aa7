"""Arrays from a worker to the runner, through shared memory.

The memory is a file without a name, so there is nothing to clean up when either side is killed. On
Linux it can't shrink: a process that maps a file which another one shrinks is ended by SIGBUS.
"""

from __future__ import annotations

import fcntl
import math
import mmap
import os
import tempfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ALIGNED = 64
_SMALLEST = 1 << 20
_LARGEST = 1 << 30
"""Bytes of an array. A larger one means a broken worker."""


def nameless_file() -> int:
    """The descriptor of an anonymous file in memory."""
    if hasattr(os, "memfd_create"):
        made = os.memfd_create("inhabit-frames", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        fcntl.fcntl(made, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
        return made
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


class SharedMemory:
    """Shared memory for the arrays of one message: one side writes them, the other copies them."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._map: mmap.mmap | None = None
        self._used = 0

    def clear(self) -> None:
        """Start a new message, which may overwrite the arrays of the previous one."""
        self._used = 0

    def write(self, array: NDArray[Any]) -> list[Any]:
        """Write `array`; returns its location as plain values."""
        start = -(-self._used // _ALIGNED) * _ALIGNED
        self._used = start + array.nbytes
        target = self._view(start, array.dtype, array.shape, grow=True)
        target[...] = array
        return [start, array.dtype.str, list(array.shape)]

    def read(self, place: list[Any]) -> NDArray[Any]:
        """A copy of the array at `place`.

        Raises:
            ValueError: no array lies there.
        """
        start, dtype, shape = place
        return self._view(int(start), np.dtype(dtype), tuple(shape), grow=False).copy()

    def close(self) -> None:
        """Unmap it and close the file."""
        if self._map is not None:
            self._map.close()
            self._map = None
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _view(
        self, start: int, dtype: np.dtype[Any], shape: tuple[int, ...], *, grow: bool
    ) -> NDArray[Any]:
        if dtype.hasobject or _bytes(dtype, shape) > _LARGEST:
            raise ValueError(f"Only numeric arrays of at most {_LARGEST} bytes can be shared.")
        return np.ndarray(shape, dtype, self._mapped(start + _bytes(dtype, shape), grow), start)

    def _mapped(self, size: int, grow: bool) -> mmap.mmap:
        size = max(size, 1)  # an empty array lies somewhere too, and an empty file can't be mapped
        if self._map is None or len(self._map) < size:
            there = os.fstat(self._descriptor).st_size
            if there < size:
                if not grow:
                    raise ValueError(
                        f"The array ends at byte {size}, beyond the {there} bytes shared."
                    )
                there = max(size * 3 // 2, _SMALLEST)
                os.ftruncate(self._descriptor, there)
            if self._map is not None:
                self._map.close()
            self._map = mmap.mmap(self._descriptor, there)
        return self._map


def _bytes(dtype: np.dtype[Any], shape: tuple[int, ...]) -> int:
    return dtype.itemsize * math.prod(shape)
