"""Compiled code on disk is dropped when its own file changes: no kernel rests on another file."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

import numba
import pytest
from numba.core.registry import CPUDispatcher

import inhabit.envs.simulators.render
from inhabit.envs.simulators.render.kernel import kernel

MODULES = [module.name for module in iter_modules(inhabit.envs.simulators.render.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_kernels_call_only_kernels_of_their_own_file(name: str) -> None:
    module = import_module(f"inhabit.envs.simulators.render.{name}")
    for value in vars(module).values():
        if isinstance(value, CPUDispatcher):
            assert value.py_func.__module__ == module.__name__


def test_there_are_kernels() -> None:
    raster = import_module("inhabit.envs.simulators.render.raster")
    assert isinstance(raster.fill, CPUDispatcher)


def test_a_kernel_works_where_no_folder_can_be_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for a user of a container, whose packages and home belong to another."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    # Of the places that Numba tries, the one that takes no folder but `CACHE_DIR`.
    # Older releases try all of them.
    name = "CACHE_LOCATOR_CLASSES"
    monkeypatch.setattr(numba.config, name, "UserProvidedCacheLocator", raising=False)

    @kernel
    def double(x: float) -> float:
        return 2 * x

    assert double(3.0) == 6.0
