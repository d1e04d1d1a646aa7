"""Compiled code on disk is dropped when its own file changes: no kernel rests on another file."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

import pytest
from numba.core.registry import CPUDispatcher

import inhabit.envs.simulators.render

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
