"""How loops are compiled, and the arrays that they write to."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from math import prod
from types import FunctionType
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import DTypeLike, NDArray

try:
    # Private names of Numba: `_CodeOnDisk` says what they are for. Without them it starts slower.
    from numba.core.caching import FunctionCache
    from numba.core.runtime import rtsys
except ImportError:
    FunctionCache = rtsys = None

F = TypeVar("F", bound=Callable[..., Any])

Array = NDArray[Any]
"""Within kernels: shapes and types are those that the callers' docstrings give."""
Point = tuple[float, float, float]
Real = float | np.floating[Any]

LANES = 32
"""Numbers that LLVM works on at once: some vectors of eight. It works on a rest one by one, which
for 20 numbers takes longer than for 32, so short loops are rounded up to whole multiples."""


def kernel(function: F) -> F:
    """Compile `function` to machine code at its first call, and keep that code on disk if possible.

    Arithmetic stays exactly as written (no fast-math): nothing is reordered or contracted, so a
    image has the same bytes in every process. Kernels run on one thread and let go of the GIL.

    Code on disk is dropped when the function's own file changes, and no other. So a kernel calls
    only kernels of its own file; what has to pass between files passes through arrays.
    """
    compiled = numba.njit(error_model="numpy", nogil=True)(function)
    with suppress(RuntimeError):  # no folder can be written to: `inhabit doctor` says what to set
        if hasattr(FunctionCache, "_load_overload"):
            compiled._cache = _CodeOnDisk(function)  # as `cache=True` does, with Numba's own class
        else:
            compiled.enable_caching()
    return cast(F, compiled)


class _CodeOnDisk(FunctionCache or object):  # type: ignore[misc]
    """Numba's cache, that loads code without what only compiling needs.

    Numba's own imports SciPy and registers all functions that it can compile before it loads
    anything: .4 s of each process that draws. Compiling still does so. This class stands on private
    names of Numba; a Numba without them uses its own cache.
    """

    def load_overload(self, signature: object, context: object) -> object:
        rtsys.initialize(context)  # the allocations that machine code calls
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, context)


def single(function: F) -> F:
    """Read the function's floating-point literals as float32; put it under `kernel` or a part.

    Numba takes a literal for a float64, and one float64 makes a whole expression wide: half as
    many numbers then fit into a vector register. Integers have to be converted where they meet
    floats (`np.float32(i)`): Numba, as NumPy, makes a float64 of the two.
    """
    code = function.__code__
    constants = tuple(_narrow(constant) for constant in code.co_consts)
    narrow = FunctionType(
        code.replace(co_consts=constants), function.__globals__, function.__name__
    )
    narrow.__doc__, narrow.__qualname__ = function.__doc__, function.__qualname__
    narrow.__module__, narrow.__annotations__ = function.__module__, function.__annotations__
    return cast(F, narrow)


def _narrow(constant: object) -> Any:
    if isinstance(constant, tuple):
        return tuple(_narrow(each) for each in constant)
    return np.float32(constant) if isinstance(constant, float) else constant


def part(function: F) -> F:
    """Compile a function that only kernels of its own file call: Python cannot.

    Without the code that unpacks Python's arguments it compiles in half the time.
    """
    options = {"error_model": "numpy", "nogil": True, "no_cfunc_wrapper": True}
    return cast(F, numba.njit(no_cpython_wrapper=True, **options)(function))


def inlined(function: F) -> F:
    """A part that becomes a piece of the kernel's own code.

    Where a kernel works on a block of constant size, LLVM then sees here, too, that the rows of
    the block do not overlap, which is what lets it use vector instructions.
    """
    return cast(F, numba.njit(error_model="numpy", nogil=True, inline="always")(function))


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
